#include "dcuop/op/described.hpp"

#include <algorithm>
#include <array>
#include <string_view>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "dcuop/op/manifest.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"
#include "manifest_file.hpp"
#include "read_manifest.hpp"

namespace dcuop::op {

namespace {

using nlohmann::json;

[[noreturn]] void fail(const std::string& label, const std::string& what, const std::string& hint = {}) {
  throw Error(ExitCode::usage, label + ": error: " + what, hint);
}

TomlNode node_of(const json& value) {
  TomlNode node;
  node.place = {0, 0};
  switch (value.type()) {
  case json::value_t::string:
    node.type = TomlNode::Type::text;
    node.text = value.get<std::string>();
    break;
  case json::value_t::number_integer:
  case json::value_t::number_unsigned:
    node.type = TomlNode::Type::integer;
    node.integer = value.get<std::int64_t>();
    break;
  case json::value_t::boolean:
    node.type = TomlNode::Type::boolean;
    node.boolean = value.get<bool>();
    break;
  case json::value_t::array:
    node.type = TomlNode::Type::array;
    for (const json& item : value) {
      node.items.push_back(node_of(item));
    }
    break;
  case json::value_t::object:
    for (const auto& [key, member] : value.items()) {
      node.members.push_back({key, {0, 0}, node_of(member)});
    }
    break;
  default:
    node.type = TomlNode::Type::floating; // null too: no key takes either
  }
  return node;
}

/// Nothing may be written beside the directory of the files.
bool stays_inside(const std::string& name) {
  const fs::path path(name);
  return !name.empty() && path.is_relative() && path.lexically_normal() == path && path.has_filename() &&
         *path.begin() != ".." && path != "." &&
         std::none_of(name.begin(), name.end(), [](unsigned char c) { return c < ' ' || c == 0x7f; });
}

std::filesystem::path place_files(const std::string& label, const json& files, const PlaceFiles& place) {
  InlineFiles texts;
  if (!files.is_object() || files.empty()) {
    fail(label, "\"files\" must be an object of texts by file name");
  }
  for (const auto& [name, text] : files.items()) {
    if (!stays_inside(name) || !text.is_string()) {
      fail(label, "\"files\" must be an object of texts by file name; '" + name + "' is none");
    }
    texts[name] = text.get<std::string>();
  }
  return place(texts);
}

void check_members(const std::string& label, const json& described) {
  constexpr std::array<std::string_view, 7> known = {"label", "manifest", "backend", "directory",
                                                     "files", "op",       "build"};
  for (const auto& [key, value] : described.items()) {
    if (std::find(known.begin(), known.end(), key) == known.end()) {
      fail(label, "unknown member \"" + key + "\"",
           "a description has: label; manifest and backend, or directory or files, op and build");
    }
  }
  constexpr std::array<const char*, 3> places = {"manifest", "directory", "files"};
  if (std::count_if(places.begin(), places.end(),
                    [&](const char* place) { return described.contains(place); }) != 1) {
    fail(label, "a description has one of \"manifest\", \"directory\" and \"files\"");
  }
  if (described.contains("manifest") && (described.contains("op") || described.contains("build"))) {
    fail(label, "\"op\" and \"build\" are in the dcuop.toml of \"manifest\"");
  }
  if (described.contains("backend") && !described.contains("manifest")) {
    fail(label, "\"backend\" is for a \"manifest\", whose dcuop.toml has that backend's table");
  }
}

Backend backend_of(const std::string& label, const json& described, Backend wished) {
  const auto named = described.find("backend");
  if (named == described.end()) {
    return wished;
  }
  const std::optional<Backend> backend =
      named->is_string() ? backend_named(named->get<std::string>()) : std::nullopt;
  if (!backend) {
    fail(label, "\"backend\" must be hip, host or cuda");
  }
  return *backend;
}

Op read_one(const json& described, std::size_t number, const PlaceFiles& place, Backend wished) {
  std::string label = "described op " + std::to_string(number);
  if (!described.is_object()) {
    fail(label, "it must be an object");
  }
  if (const auto named = described.find("label"); named != described.end() && named->is_string()) {
    label = named->get<std::string>();
  }
  check_members(label, described);
  if (const auto manifest = described.find("manifest"); manifest != described.end()) {
    if (!manifest->is_string() || !fs::path(manifest->get<std::string>()).is_absolute()) {
      fail(label, "\"manifest\" must be the absolute path of an op's directory");
    }
    return read_op(fs::path(manifest->get<std::string>()) / manifest_name,
                   backend_of(label, described, wished));
  }
  json again = described;
  if (const auto files = described.find("files"); files != described.end()) {
    again.erase("files");
    again["directory"] = place_files(label, *files, place).string();
  }
  const json& directory = again["directory"];
  if (!directory.is_string() || !fs::path(directory.get<std::string>()).is_absolute()) {
    fail(label, "\"directory\" must be an absolute path");
  }
  json tables = json::object();
  for (const char* table : {"op", "build"}) {
    if (again.contains(table)) {
      tables[table] = again[table];
    }
  }
  std::error_code error;
  const fs::path real = fs::weakly_canonical(fs::path(directory.get<std::string>()), error);
  if (error) {
    fail(label, "the directory " + directory.get<std::string>() + " cannot be looked at: " + error.message());
  }
  const TomlFile file = TomlFile::of(real, label, node_of(tables));
  check_manifest(file);
  Op op = read_tables(file);
  op.manifest = label;
  op.description = json_text(again);
  return op;
}

} // namespace

std::vector<Op> read_described(const json& ops, const PlaceFiles& place, Backend backend) {
  if (!ops.is_array() || ops.empty()) {
    throw Error(ExitCode::usage, "the description's \"ops\" must be an array of objects, at least one");
  }
  std::vector<Op> result;
  for (const json& described : ops) {
    result.push_back(read_one(described, result.size() + 1, place, backend));
  }
  return result;
}

} // namespace dcuop::op
