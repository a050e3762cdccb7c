#include "dcuop/probe/toolkit_uses.hpp"

#include <algorithm>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

std::string version_text(const Rocm& rocm) {
  return std::string(rocm.is_dtk ? "DTK " : "ROCm ") + (rocm.version.empty() ? "?" : rocm.version);
}

fs::path real_directory(const Machine& machine, const fs::path& path) {
  std::error_code error;
  const fs::path place = inside(machine.root, path);
  fs::path real = machine.root == "/" ? fs::canonical(place, error) : place;
  return error ? place : real;
}

/// The toolkit that a directory belongs to: itself, or the nearest one above it that says a version. A toolkit
/// in /usr is a distribution's, whose directories are everybody's.
std::optional<Rocm> toolkit_above(const Machine& machine, const fs::path& directory) {
  for (fs::path at = directory; at.has_relative_path() && at != machine.root; at = at.parent_path()) {
    if (relative_below(at, machine.root) == "usr") {
      return std::nullopt;
    }
    if (auto found = toolkit_at(machine, at, "")) {
      return found;
    }
  }
  return std::nullopt;
}

void add_use(const Machine& machine, const std::string& variable, const fs::path& value, bool is_root,
             ToolkitUses& into) {
  const fs::path directory = real_directory(machine, absolute_from(value, machine.working_directory));
  if (!identity_of(directory)) {
    if (is_root) {
      into.uses.push_back({variable, value, {}, {}});
    }
    return;
  }
  if (const auto toolkit = toolkit_above(machine, directory)) {
    into.uses.push_back({variable, value, toolkit->root, version_text(*toolkit)});
  }
}

void find_installed(const Machine& machine, ToolkitUses& into) {
  for (const char* parent : {"/opt", "/usr/local"}) {
    for (const std::string& name : list_directory(inside(machine.root, parent))) {
      if (!name.starts_with("dtk") && !name.starts_with("rocm")) {
        continue;
      }
      const fs::path real = real_directory(machine, fs::path(parent) / name);
      const bool known = std::any_of(into.installed.begin(), into.installed.end(),
                                     [&real](const Rocm& other) { return other.root == real; });
      if (known) {
        continue;
      }
      if (auto found = toolkit_at(machine, real, (fs::path(parent) / name).string())) {
        into.installed.push_back(std::move(*found));
      }
    }
  }
}

bool names_installed(const Machine& machine, const fs::path& file, const ToolkitUses& uses) {
  for (const std::string& line : split(read_file(inside(machine.root, file)).value_or(""), '\n')) {
    const fs::path directory(trimmed(line));
    if (!directory.is_absolute()) {
      continue;
    }
    const fs::path real = real_directory(machine, directory);
    if (std::any_of(uses.installed.begin(), uses.installed.end(),
                    [&real](const Rocm& toolkit) { return lies_below(real, toolkit.root); })) {
      return true;
    }
  }
  return false;
}

bool loader_knows(const Machine& machine, const ToolkitUses& uses) {
  if (names_installed(machine, "/etc/ld.so.conf", uses)) {
    return true;
  }
  const fs::path parts = "/etc/ld.so.conf.d";
  const std::vector<std::string> names = list_directory(inside(machine.root, parts));
  return std::any_of(names.begin(), names.end(), [&](const std::string& name) {
    return name.ends_with(".conf") && names_installed(machine, parts / name, uses);
  });
}

} // namespace

bool ToolkitUses::sets_root() const {
  return std::any_of(uses.begin(), uses.end(), [](const ToolkitUse& use) {
    return use.variable != "PATH" && use.variable != "LD_LIBRARY_PATH";
  });
}

bool ToolkitUses::sets_library_path() const {
  return std::any_of(uses.begin(), uses.end(),
                     [](const ToolkitUse& use) { return use.variable == "LD_LIBRARY_PATH"; });
}

ToolkitUses find_toolkit_uses(const Machine& machine) {
  ToolkitUses found;
  find_installed(machine, found);
  for (const char* variable : {"ROCM_PATH", "ROCM_HOME", "HIP_PATH"}) {
    if (const auto value = machine.environment.get_nonempty(variable)) {
      add_use(machine, variable, *value, true, found);
    }
  }
  for (const char* variable : {"LD_LIBRARY_PATH", "PATH"}) {
    for (const std::string& entry : split(machine.environment.get(variable).value_or(""), ':')) {
      add_use(machine, variable, entry, false, found);
    }
  }
  found.in_loader_configuration = loader_knows(machine, found);
  return found;
}

} // namespace dcuop::probe
