#include "build_argument.hpp"

#include <nlohmann/json.hpp>

#include "dcuop/op/manifest.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/log.hpp"
#include "dcuop/support/process.hpp"

namespace dcuop::cli {

namespace {

namespace fs = std::filesystem;

/// The directory of the op that is called so when one says `argument` here; empty: there is none, or several.
fs::path op_called(const std::string& name, const std::string& argument, const fs::path& here) {
  try {
    const std::vector<op::Op> ops = op::select_ops({argument}, here);
    return ops.size() == 1 && ops.front().name == name ? ops.front().directory : fs::path{};
  } catch (const Error& error) {
    log_debug(argument + " is no op: " + error.what());
    return {};
  }
}

/// The name where it means the op in `directory`, else that directory; empty: no such op is there.
std::string argument_of(const std::string& name, const fs::path& directory, const fs::path& here) {
  if (directory.empty() || op_called(name, directory.string(), here).empty()) {
    return {};
  }
  return op_called(name, name, here) == directory ? name : shell_quoted({directory.string()});
}

/// Of an op that a program described: from the Python file that did.
std::string program_of(const std::string& description) {
  const auto value = json_or_discarded(description);
  if (!value.is_object() || !value.contains("label") || !value["label"].is_string()) {
    return {};
  }
  const auto label = value["label"].get<std::string>(); // "/home/me/train.py:12"
  const fs::path file = label.substr(0, label.rfind(':'));
  return file.extension() == ".py" && file.is_absolute() && identity_of(file)
             ? "--from " + shell_quoted({file.string()})
             : std::string{};
}

/// Where the builder noted that the op is.
std::string noted_origin(const store::Entry& entry) {
  const auto facts = json_or_discarded(entry.facts_json);
  const bool there = facts.is_object() && facts.contains("origin") && facts["origin"].is_string();
  return there ? facts["origin"].get<std::string>() : std::string{};
}

/// nullptr: it cannot be opened.
const store::Store* store_of(Context& context) {
  try {
    return &context.store();
  } catch (const Error& no_cache) {
    log_debug(std::string("no origins: ") + no_cache.what());
    return nullptr;
  }
}

std::string argument_of(Context& context, const store::Entry& entry) {
  const store::Store* const store = store_of(context);
  std::vector<fs::path> origins = store == nullptr ? std::vector<fs::path>{} : store->origins(entry);
  origins.emplace_back(noted_origin(entry)); // of an entry of another cache it is all that there is
  for (const fs::path& origin : origins) {
    std::string argument = argument_of(entry.name, origin, context.working_directory);
    if (!argument.empty()) {
      return argument;
    }
  }
  for (const fs::path& origin : store == nullptr ? std::vector<fs::path>{} : origins) {
    for (const std::string& description : store->descriptions(entry.name, origin)) {
      std::string argument = program_of(description);
      if (!argument.empty()) {
        return argument;
      }
    }
  }
  return {};
}

/// affine.cpython-311-x86_64-linux-gnu.so, affine.so: an op that is called so, here, around the file, or known to the
/// cache from one place alone.
std::string argument_by_name(Context& context, const fs::path& file) {
  const std::string file_name = file.filename().string();
  const std::string name = file_name.substr(0, file_name.find('.'));
  const fs::path& here = context.working_directory;
  if (name.empty() || file_name.find(".so") == std::string::npos) {
    return {};
  }
  if (!op_called(name, name, here).empty()) {
    return name;
  }
  std::string argument = argument_of(name, file.parent_path(), here);
  if (!argument.empty()) {
    return argument;
  }
  const store::Store* const store = store_of(context);
  const std::vector<fs::path> known = store == nullptr ? std::vector<fs::path>{} : store->origins_of(name);
  return known.size() == 1 ? argument_of(name, known.front(), here) : std::string{};
}

} // namespace

std::string build_argument(Context& context, const fs::path& file, const std::optional<store::Entry>& entry) {
  const std::string argument = entry ? argument_of(context, *entry) : std::string{};
  return argument.empty() ? argument_by_name(context, file) : argument;
}

void name_operators(Context& context, std::vector<finding::Finding>& findings) {
  for (finding::Finding& finding : findings) {
    if (finding::names_no_operator(finding)) {
      const fs::path file = absolute_from(finding.subject, context.working_directory);
      finding::name_operator(finding, finding.subject.empty()
                                          ? std::string{}
                                          : build_argument(context, file, store::entry_with(file)));
    }
  }
}

} // namespace dcuop::cli
