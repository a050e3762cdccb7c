#include "manifest_file.hpp"

#include <algorithm>
#include <string>
#include <vector>

#include "dcuop/op/manifest.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::op {

namespace {

const std::vector<std::string>& section_names() {
  static const std::vector<std::string> names = {"op", "build", "backend", "verify", "workspace", "defaults"};
  return names;
}

/// "backend.host" for host.
std::string section_of(const std::string& backend) {
  return "backend." + backend;
}

bool belongs_in(const KeyInfo& key, const std::string& section) {
  if (key.section == "backend") {
    return section == section_of("cuda") || (section == section_of("host") && !key.cuda_only);
  }
  return section == "defaults" ? key.in_defaults : key.section == section;
}

// The section that has this key, for "it belongs in ...".
std::optional<std::string> home_of(const std::string& name) {
  for (const KeyInfo& key : manifest_keys()) {
    if (key.name == name) {
      return key.section == "backend" ? section_of("cuda") : key.section;
    }
  }
  return std::nullopt;
}

void check_key(const TomlFile& file, const TomlMember& member, const std::string& section) {
  std::vector<std::string> valid;
  for (const KeyInfo& key : manifest_keys()) {
    if (belongs_in(key, section)) {
      valid.push_back(key.name);
    }
  }
  if (std::find(valid.begin(), valid.end(), member.key) != valid.end()) {
    return;
  }
  const std::string what = "unknown key '" + member.key + "' in [" + section + "]";
  if (section == section_of("host") && (member.key == "archs" || member.key == "cuda_flags")) {
    file.fail(member.place, what + "; a host build has no device code");
  }
  if (const std::optional<std::string> home = home_of(member.key)) {
    file.fail(member.place, what + "; it belongs in [" + *home + "]");
  }
  if (const std::optional<std::string> near = nearest(member.key, valid)) {
    file.fail(member.place, what + "; did you mean '" + *near + "'?");
  }
  file.fail(member.place, what, "[" + section + "] has: " + join(valid, ", "));
}

void check_backend(const TomlFile& file, const TomlMember& member) {
  if (!backend_named(member.key)) {
    file.fail(member.place, "'" + member.key + "' in [backend] is no backend that dcuop builds for",
              "write [backend.host] or [backend.cuda]");
  }
  if (member.key == to_string(Backend::hip)) {
    file.fail(member.place, "there is no [backend.hip]: [build] is the HIP build");
  }
  if (member.value.type != TomlNode::Type::table) {
    file.fail(member.value.place,
              "'" + member.key + "' in [backend] must be a table, not " + to_string(member.value.type),
              "write [" + section_of(member.key) + "] on a line of its own");
  }
  for (const TomlMember& key : member.value.members) {
    check_key(file, key, section_of(member.key));
  }
}

void check_section(const TomlFile& file, const TomlMember& member) {
  const std::vector<std::string>& names = section_names();
  if (std::find(names.begin(), names.end(), member.key) == names.end()) {
    const bool table = member.value.type == TomlNode::Type::table;
    const std::string what = table ? "unknown table [" + member.key + "]"
                                   : "unknown key '" + member.key + "' outside of any table";
    if (const std::optional<std::string> home = home_of(member.key)) {
      file.fail(member.place, what + "; '" + member.key + "' belongs in [" + *home + "]");
    }
    if (const std::optional<std::string> near = nearest(member.key, names)) {
      file.fail(member.place, what + "; did you mean [" + *near + "]?");
    }
    file.fail(member.place, what, "the tables are [" + join(names, "], [") + "]");
  }
  if (member.value.type != TomlNode::Type::table) {
    file.fail(member.value.place, "'" + member.key + "' must be a table, not " + to_string(member.value.type),
              "write [" + member.key + "] on a line of its own");
  }
  if (member.key == "verify") {
    return; // no build reads it; contract.cpp does
  }
  for (const TomlMember& key : member.value.members) {
    if (member.key == "backend") {
      check_backend(file, key);
    } else {
      check_key(file, key, member.key);
    }
  }
}

} // namespace

void check_manifest(const TomlFile& file) {
  for (const TomlMember& member : file.root().members) {
    check_section(file, member);
    if (member.key == "defaults" && !opens_workspace(file)) {
      file.fail(member.place, "[defaults] without [workspace]",
                "defaults stand in the workspace's root; an op's own values in [build]");
    }
  }
}

TomlFile read_manifest_file(const fs::path& path) {
  TomlFile file = TomlFile::read(path);
  check_manifest(file);
  return file;
}

bool describes_op(const TomlFile& manifest) {
  const auto has = [&](const char* table) { return manifest.root().find(table) != nullptr; };
  return has("op") || has("build") || has("backend") || !opens_workspace(manifest);
}

std::vector<Backend> backends_in(const TomlFile& manifest) {
  std::vector<Backend> backends;
  const TomlNode* const build = manifest.root().find("build");
  if (build != nullptr && build->find("sources") != nullptr) {
    backends.push_back(Backend::hip);
  }
  if (const TomlNode* tables = manifest.root().find("backend")) {
    for (const Backend backend : {Backend::host, Backend::cuda}) {
      if (tables->find(to_string(backend)) != nullptr) {
        backends.push_back(backend);
      }
    }
  }
  if (backends.empty()) {
    backends.push_back(Backend::hip); // whose sources are missing, as is said where they are read
  }
  return backends;
}

bool opens_workspace(const TomlFile& manifest) {
  return manifest.root().find("workspace") != nullptr;
}

std::optional<fs::path> manifest_in(const fs::path& directory) {
  const fs::path path = directory / manifest_name;
  const std::optional<FileIdentity> identity = identity_of(path);
  return identity && identity->is_regular() ? std::optional(path) : std::nullopt;
}

std::optional<TomlFile> nearest_workspace_file(const fs::path& start) {
  for (fs::path directory = start;; directory = directory.parent_path()) {
    if (const std::optional<fs::path> path = manifest_in(directory)) {
      TomlFile file = read_manifest_file(*path);
      if (opens_workspace(file)) {
        return file;
      }
    }
    if (directory == directory.parent_path()) {
      return std::nullopt;
    }
  }
}

} // namespace dcuop::op
