#include "rocm_files.hpp"

#include <algorithm>
#include <map>

#include "dcuop/probe/machine.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

std::vector<fs::path> below_each(const std::vector<fs::path>& roots,
                                 std::initializer_list<const char*> names) {
  std::vector<fs::path> paths;
  for (const auto& root : roots) {
    for (const auto* name : names) {
      paths.push_back(root / name);
    }
  }
  return paths;
}

/// "NAME=VALUE" (.hipVersion) and "#define NAME VALUE" (hip_version.h).
std::map<std::string, std::string> definitions_in(const fs::path& path) {
  std::map<std::string, std::string> definitions;
  const auto text = read_file_prefix(path, 1 << 16).value_or("");
  for (auto line : split(text, '\n')) {
    std::replace(line.begin(), line.end(), '=', ' ');
    std::replace(line.begin(), line.end(), '\t', ' ');
    auto words = split(line, ' ');
    if (!words.empty() && words.front() == "#define") {
      words.erase(words.begin());
    }
    if (words.size() >= 2) {
      definitions.emplace(words[0], trimmed(words[1]));
    }
  }
  return definitions;
}

std::string hip_version_in(const fs::path& path) {
  const auto definitions = definitions_in(path);
  std::vector<std::string> numbers;
  for (const auto* name : {"HIP_VERSION_MAJOR", "HIP_VERSION_MINOR", "HIP_VERSION_PATCH"}) {
    const auto found = definitions.find(name);
    if (found == definitions.end() || found->second.find_first_not_of("0123456789") != std::string::npos) {
      return {};
    }
    numbers.push_back(found->second);
  }
  return join(numbers, ".");
}

} // namespace

fs::path below_root(const fs::path& root, const fs::path& path) {
  return path.is_absolute() ? inside(root, path) : path;
}

std::vector<fs::path> installation_roots(const fs::path& program, const Environment& environment) {
  std::vector<fs::path> roots;
  const auto add = [&](const fs::path& root) {
    if (!root.empty() && std::find(roots.begin(), roots.end(), root) == roots.end()) {
      roots.push_back(root);
    }
  };
  add(program.parent_path().parent_path());
  std::error_code error;
  if (const auto real = fs::canonical(program, error); !error) {
    add(real.parent_path().parent_path());
  }
  for (const auto* name : {"HIP_PATH", "ROCM_PATH", "HIP_ROCCLR_HOME"}) {
    add(environment.get_nonempty(name).value_or(""));
  }
  return roots;
}

std::vector<fs::path> wrapper_information_files(const std::vector<fs::path>& roots) {
  return below_each(roots, {"bin/.hipVersion", "lib/.hipInfo", "share/hip/version", ".info/version",
                            ".info/rocm_version", ".dtk_version"});
}

std::vector<fs::path> wrapper_decision_paths(const std::vector<fs::path>& roots) {
  return below_each(roots, {"llvm/bin", "bin/rocm_agent_enumerator", "amdgcn/bitcode", "lib/bitcode"});
}

std::string hip_version_below(const std::vector<fs::path>& roots) {
  for (const auto& path :
       below_each(roots, {"bin/.hipVersion", "share/hip/version", "include/hip/hip_version.h"})) {
    if (auto version = hip_version_in(path); !version.empty()) {
      return version;
    }
  }
  return {};
}

} // namespace dcuop::probe
