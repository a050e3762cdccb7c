#include "nearby.hpp"

#include <algorithm>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using std::filesystem::path;

void append_toolkit(std::vector<path>& directories, const path& root) {
  for (const char* below : {"lib", "lib64", "hip/lib", "dcc/comgr/lib", "llvm/lib", ".hyhal/lib"}) {
    directories.push_back(root / below);
  }
}

/// Wheels that carry a toolkit put it beside torch: _rocm_sdk_core/lib, nvidia/*/lib.
void append_packages(std::vector<path>& directories, const path& packages) {
  for (const auto& name : list_directory(packages)) {
    if (name.starts_with("_rocm_sdk")) {
      directories.push_back(packages / name / "lib");
    }
  }
  for (const auto& name : list_directory(packages / "nvidia")) {
    directories.push_back(packages / "nvidia" / name / "lib");
  }
}

std::vector<path> directories_of(const CaseFile& file) {
  std::vector<path> directories;
  if (file.facts.torch) {
    const auto& torch = *file.facts.torch;
    // A distribution's torch has its libraries in a default directory: of a saved machine those are the tree's.
    const bool is_its_own = !torch.library_dir.lexically_relative(torch.package).native().starts_with("..");
    if (is_its_own || file.machine.root == "/") {
      directories.push_back(torch.library_dir);
    }
    directories.push_back(torch.package / "lib");
  }
  const auto there = [&file](const path& directory) { return probe::inside(file.machine.root, directory); };
  if (file.facts.rocm) {
    append_toolkit(directories, file.facts.rocm->root);
  }
  for (const auto& name : list_directory(there("/opt"))) {
    if (name.starts_with("rocm") || name.starts_with("dtk") || name == "hyhal") {
      append_toolkit(directories, there(path("/opt") / name));
    }
  }
  const auto library_path = file.machine.environment.get("LD_LIBRARY_PATH").value_or("");
  for (const auto& part : split(library_path, ':')) {
    directories.push_back(probe::inside(file.process_root, part));
  }
  if (!file.path.empty()) {
    directories.push_back(file.path.parent_path());
    directories.push_back(file.path.parent_path() / "lib");
  }
  for (const char* usual : {"/lib/x86_64-linux-gnu", "/usr/lib/x86_64-linux-gnu", "/lib64", "/usr/lib64",
                            "/usr/lib", "/usr/local/lib", "/usr/local/cuda/lib64"}) {
    directories.push_back(there(usual));
  }
  if (file.facts.python) {
    directories.push_back(file.facts.python->prefix / "lib");
    for (const auto& packages : file.facts.python->search_path) {
      append_packages(directories, packages);
    }
  }
  return directories;
}

} // namespace

std::vector<Nearby> libraries_nearby(CaseFile& file, std::string_view stem) {
  const std::string beginning = std::string(stem) + ".so";
  std::vector<Nearby> found;
  for (const auto& directory : directories_of(file)) {
    for (const auto& name : list_directory(directory)) {
      const bool fits = name == beginning || name.starts_with(beginning + ".");
      const auto* image = fits ? file.pool.read(directory / name) : nullptr;
      if (image == nullptr) {
        continue;
      }
      const auto soname = image->soname.empty() ? name : image->soname;
      const bool known = std::any_of(found.begin(), found.end(),
                                     [&soname](const Nearby& other) { return other.soname == soname; });
      if (!known) {
        found.push_back({directory / name, soname});
      }
    }
  }
  return found;
}

} // namespace dcuop::doctor
