#include "cxx_runtime.hpp"

#include <algorithm>
#include <charconv>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using std::filesystem::path;

constexpr std::string_view name = "libstdc++.so.6";

/// "GLIBCXX_3.4.30" -> 30; -1 for what is none of that family.
int glibcxx_minor(std::string_view node) {
  constexpr std::string_view family = "GLIBCXX_3.4.";
  int minor = -1;
  if (node.starts_with(family)) {
    std::from_chars(node.data() + family.size(), node.data() + node.size(), minor);
  }
  return minor;
}

std::string newest_of(const elf::Image& image) {
  const auto& nodes = image.version_definitions;
  const auto newest = std::max_element(nodes.begin(), nodes.end(), [](const auto& a, const auto& b) {
    return glibcxx_minor(a) < glibcxx_minor(b);
  });
  return newest == nodes.end() || glibcxx_minor(*newest) < 0 ? "no GLIBCXX version" : *newest;
}

/// Every conda environment has a conda-meta beside its lib.
bool is_conda(const path& library) {
  const auto prefix = library.parent_path().parent_path();
  return identity_of(prefix / "conda-meta").has_value();
}

bool holds(const std::vector<path>& files, const path& library) {
  const auto real = real_path(library);
  return std::any_of(files.begin(), files.end(),
                     [&real](const path& file) { return real_path(file) == real; });
}

std::string why_taken(const CaseFile& file, const path& library) {
  if (holds(file.process.interpreter, library)) {
    return "the interpreter has loaded it already";
  }
  if (holds(file.process.torch, library)) {
    return "torch has loaded it already";
  }
  for (const auto& found : file.closure.libraries) {
    if (found.name == name && found.path == library) {
      return "found by " + elf::to_string(found.found_by);
    }
  }
  return "found first";
}

std::vector<path> places(const CaseFile& file) {
  std::vector<path> directories;
  for (const auto& part : split(file.machine.environment.get("LD_LIBRARY_PATH").value_or(""), ':')) {
    directories.push_back(probe::inside(file.process_root, part));
  }
  if (const auto conda = file.machine.environment.get_nonempty("CONDA_PREFIX")) {
    directories.push_back(probe::inside(file.process_root, path(*conda) / "lib"));
  }
  if (file.facts.python) {
    directories.push_back(file.facts.python->prefix / "lib");
    directories.push_back(file.facts.python->base_prefix / "lib");
  }
  for (const char* usual : {"/usr/lib/x86_64-linux-gnu", "/lib/x86_64-linux-gnu", "/usr/lib64", "/lib64",
                            "/usr/lib/aarch64-linux-gnu", "/usr/lib", "/usr/local/lib64"}) {
    directories.push_back(probe::inside(file.process_root, usual));
  }
  return directories;
}

std::vector<std::string> missing_of(const elf::VersionNeed& need, const elf::Image& library) {
  std::vector<std::string> missing;
  for (const auto& node : need.versions) {
    const auto& have = library.version_definitions;
    if (std::find(have.begin(), have.end(), node) == have.end()) {
      missing.push_back(node);
    }
  }
  std::sort(missing.begin(), missing.end(), [](const auto& a, const auto& b) {
    return std::pair(glibcxx_minor(a), a) > std::pair(glibcxx_minor(b), b);
  });
  return missing;
}

/// A copy may lie there without its SONAME link (https://github.com/pytorch/pytorch/issues/157709).
std::vector<CxxRuntime> better_ones(CaseFile& file, const elf::VersionNeed& need) {
  std::vector<CxxRuntime> found;
  std::vector<path> seen;
  for (const auto& directory : places(file)) {
    for (const auto& entry : list_directory(directory)) {
      if (!entry.starts_with(name) || holds(seen, directory / entry)) {
        continue;
      }
      seen.push_back(directory / entry);
      const auto* image = file.pool.read(directory / entry);
      if (image != nullptr && image->soname == name && missing_of(need, *image).empty()) {
        found.push_back({directory / entry, newest_of(*image), "", is_conda(directory / entry)});
      }
    }
  }
  return found;
}

} // namespace

std::optional<CxxLack> lack_of_cxx_runtime(CaseFile& file, const elf::Image& image) {
  const auto need = std::find_if(image.version_needs.begin(), image.version_needs.end(),
                                 [](const elf::VersionNeed& candidate) { return candidate.file == name; });
  const auto* winner = need == image.version_needs.end() ? nullptr : file.provider_of(std::string(name));
  if (winner == nullptr || winner->version_definitions.empty()) {
    return std::nullopt;
  }
  auto missing = missing_of(*need, *winner);
  if (missing.empty()) {
    return std::nullopt;
  }
  return CxxLack{{winner->path, newest_of(*winner), why_taken(file, winner->path), is_conda(winner->path)},
                 std::move(missing),
                 better_ones(file, *need)};
}

} // namespace dcuop::doctor
