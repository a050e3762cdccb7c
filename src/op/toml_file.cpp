#include "dcuop/op/toml_file.hpp"

#include <algorithm>
#include <cctype>
#include <optional>
#include <system_error>
#include <tuple>

// toml++ 3.3 takes what it has not looked at for granted: "[?" with a control character or a third bracket for the "?"
// ends a debug build, and is undefined in another (https://github.com/marzer/tomlplusplus/pull/301). So that this is an
// error of the file, each of its assumptions is checked, in every build.
namespace {
struct NoToml {};
[[noreturn]] void refuse() {
  throw NoToml{};
}
} // namespace
#define TOML_ASSERT(assumption) ((assumption) ? static_cast<void>(0) : refuse())
#pragma push_macro("NDEBUG")
#undef NDEBUG
#include <toml++/toml.h>
#pragma pop_macro("NDEBUG")

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "toml_depth.hpp"

namespace dcuop::op {

namespace {

constexpr std::size_t deepest_nesting = 64;
constexpr std::size_t largest_file = std::size_t{4} << 20U;

Place place_of(const toml::source_region& source) {
  return {std::max(source.begin.line, 1U), std::max(source.begin.column, 1U)};
}

TomlNode converted(const toml::node& node);

std::vector<TomlMember> members_of(const toml::table& table) {
  std::vector<TomlMember> members;
  for (const auto& [key, value] : table) {
    members.push_back({std::string(key.str()), place_of(key.source()), converted(value)});
  }
  // toml++ keeps tables sorted by key; the first fault of the file should be the first that is reported.
  std::stable_sort(members.begin(), members.end(), [](const TomlMember& a, const TomlMember& b) {
    return std::tie(a.place.line, a.place.column) < std::tie(b.place.line, b.place.column);
  });
  return members;
}

TomlNode converted(const toml::node& node) {
  TomlNode result;
  result.place = place_of(node.source());
  if (const toml::table* table = node.as_table()) {
    result.type = TomlNode::Type::table;
    result.members = members_of(*table);
  } else if (const toml::array* array = node.as_array()) {
    result.type = TomlNode::Type::array;
    for (const toml::node& item : *array) {
      result.items.push_back(converted(item));
    }
  } else if (const auto* text = node.as_string()) {
    result.type = TomlNode::Type::text;
    result.text = text->get();
  } else if (const auto* integer = node.as_integer()) {
    result.type = TomlNode::Type::integer;
    result.integer = integer->get();
  } else if (const auto* boolean = node.as_boolean()) {
    result.type = TomlNode::Type::boolean;
    result.boolean = boolean->get();
  } else {
    result.type = node.is_floating_point() ? TomlNode::Type::floating : TomlNode::Type::date;
  }
  return result;
}

[[noreturn]] void fail_at(const fs::path& path, Place place, const std::string& what,
                          const std::string& hint) {
  throw Error(ExitCode::usage,
              shown_path(path).string() + ":" + std::to_string(place.line) + ":" +
                  std::to_string(place.column) + ": error: " + what,
              hint);
}

/// What toml++ must not be given: it would take all the memory, or all the stack.
void check_bounds(const fs::path& path, const std::string& content) {
  if (content.size() > largest_file) {
    throw Error(ExitCode::usage, shown_path(path).string() + " is larger than " + human_size(largest_file),
                "that is no file of settings");
  }
  if (const std::optional<Place> place = deeper_than(deepest_nesting, content)) {
    fail_at(path, *place,
            "more than " + std::to_string(deepest_nesting) + " tables and arrays in one another",
            "no key of this file is below more than a few");
  }
}

bool is_refused(std::string_view text) {
  try {
    static_cast<void>(toml::parse(text));
  } catch (const toml::parse_error&) {
    // With a place: not what is looked for.
  } catch (const NoToml&) {
    return true;
  }
  return false;
}

/// The line that toml++ does not get over.
Place place_of_no_toml(const std::string& content) {
  std::vector<std::size_t> ends; // of the first line, of the first two, ...
  for (std::size_t at = content.find('\n'); at != std::string::npos; at = content.find('\n', at + 1)) {
    ends.push_back(at + 1);
  }
  const auto line = std::partition_point(ends.begin(), ends.end(), [&](std::size_t end) {
    return !is_refused(std::string_view(content).substr(0, end));
  });
  return {static_cast<std::uint32_t>(line - ends.begin()) + 1, 1};
}

bool has_control_character(const std::string& text) {
  return std::any_of(text.begin(), text.end(), [](unsigned char c) { return std::iscntrl(c) != 0; });
}

} // namespace

const TomlNode* TomlNode::find(std::string_view key) const {
  const auto found = std::find_if(members.begin(), members.end(),
                                  [&](const TomlMember& member) { return member.key == key; });
  return found == members.end() ? nullptr : &found->value;
}

TomlFile TomlFile::read(const fs::path& path) {
  const std::optional<std::string> content = read_file_prefix(path, largest_file + 1);
  if (!content) {
    throw Error(ExitCode::usage, "cannot read " + shown_path(path).string(),
                "check that it is a file and that you may read it");
  }
  check_bounds(path, *content);
  try {
    const toml::table table = toml::parse(*content);
    return {path, converted(table)};
  } catch (const toml::parse_error& error) {
    std::string_view what = error.description();
    // toml++ begins most with "Error while parsing"; the message has said "error" by then.
    if (constexpr std::string_view again = "Error "; what.starts_with(again)) {
      what.remove_prefix(again.size());
    }
    fail_at(path, place_of(error.source()), std::string(what), "it must be TOML: https://toml.io");
  } catch (const NoToml&) {
    fail_at(path, place_of_no_toml(*content), "this line is not TOML", "it must be TOML: https://toml.io");
  }
}

void TomlFile::fail(Place place, const std::string& what, const std::string& hint) const {
  fail_at(path_, place, what, hint);
}

void TomlFile::fail_type(const TomlNode& node, const std::string& name, const std::string& wanted) const {
  fail(node.place, name + " must be " + wanted + ", not " + to_string(node.type));
}

std::string TomlFile::text_of(const TomlNode& node, const std::string& name) const {
  if (node.type != TomlNode::Type::text) {
    fail_type(node, name, "a string");
  }
  if (node.text.empty()) {
    fail(node.place, name + " must not be empty");
  }
  if (has_control_character(node.text)) {
    fail(node.place, name + " holds a control character");
  }
  return node.text;
}

std::int64_t TomlFile::integer_of(const TomlNode& node, const std::string& name) const {
  if (node.type != TomlNode::Type::integer) {
    fail_type(node, name, "an integer");
  }
  return node.integer;
}

bool TomlFile::boolean_of(const TomlNode& node, const std::string& name) const {
  if (node.type != TomlNode::Type::boolean) {
    fail_type(node, name, "true or false");
  }
  return node.boolean;
}

const std::vector<TomlNode>& TomlFile::texts_of(const TomlNode& node, const std::string& name) const {
  if (node.type != TomlNode::Type::array) {
    fail_type(node, name, "an array of strings");
  }
  for (const TomlNode& item : node.items) {
    static_cast<void>(text_of(item, "an element of " + name));
  }
  return node.items;
}

std::string to_string(TomlNode::Type type) {
  switch (type) {
  case TomlNode::Type::text:
    return "a string";
  case TomlNode::Type::integer:
    return "an integer";
  case TomlNode::Type::floating:
    return "a floating-point number";
  case TomlNode::Type::boolean:
    return "a boolean";
  case TomlNode::Type::date:
    return "a date or time";
  case TomlNode::Type::array:
    return "an array";
  case TomlNode::Type::table:
    return "a table";
  }
  return "unknown";
}

fs::path shown_path(const fs::path& path) {
  std::error_code error;
  const fs::path here = fs::current_path(error);
  return error ? path : relative_below(path, here);
}

} // namespace dcuop::op
