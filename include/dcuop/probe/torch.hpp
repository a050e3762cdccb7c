#pragma once
// The torch that a Python would import, read from its files: importing it costs 0.7 to 6 s.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/probe/machine.hpp"
#include "dcuop/probe/python.hpp"
#include "dcuop/support/digest.hpp"

namespace dcuop::probe {

struct Torch {
  std::filesystem::path package; ///< .../site-packages/torch
  std::string version;           ///< version.py's text; identifies nothing by itself
  std::string hip;               ///< torch.version.hip; "" for none
  std::string cuda;              ///< torch.version.cuda; "" for none
  std::string git_version;
  std::string dtk; ///< "25.04" from a "+das...dtk2504" tag; "" when it has none
  std::vector<std::filesystem::path>
      include_dirs; ///< to be passed as system include dirs (never /usr/include)
  std::vector<std::filesystem::path> pybind11_include_dirs; ///< empty when on the default path or absent
  std::filesystem::path library_dir;                        ///< where libtorch_cpu.so lies (real path)
  std::vector<std::filesystem::path> libraries; ///< files that `import torch` loads, libc10.so first
  std::optional<bool> cxx11_abi; ///< libstdc++'s dual ABI, from libc10's symbols; nullopt: unknown
  int cxx_standard = 0;          ///< the least that its headers compile with: 14, 17, 20; 0: unknown
  /// Compiler type, stdlib and build ABI of torch's pybind11 internals ("_gcc", "_libstdcpp", "_cxxabi1017"),
  /// from libtorch_python; empty when not found. An extension must be compiled with the same to share types.
  std::string pybind11_compiler, pybind11_stdlib, pybind11_build_abi;
  Digest identity; ///< of the libraries' build ids (their content where they have none)

  [[nodiscard]] bool is_hip() const { return !hip.empty(); }
  [[nodiscard]] bool is_cuda() const { return !cuda.empty(); }
  [[nodiscard]] bool is_cpu_only() const { return hip.empty() && cuda.empty(); }
  [[nodiscard]] std::string summary() const; ///< "1.13.0a0 cpu", "2.4.1+das.opt2.dtk2504 hip 6.1"
};

/// nullopt when this Python has no torch on its search path. Throws Error(environment) when a torch is there
/// but its files are incomplete (names what is missing).
[[nodiscard]] std::optional<Torch> find_torch(const Machine& machine, const Python& python);

} // namespace dcuop::probe
