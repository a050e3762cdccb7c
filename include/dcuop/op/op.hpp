#pragma once
// An operator: a directory with a dcuop.toml, as read and checked. Nothing here touches a compiler or a
// device.

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dcuop::op {

enum class Kind {
  pybind_module, ///< "pybind": a Python extension module, PyInit_<name>
  torch_library, ///< "torch-library": TORCH_LIBRARY ops, loaded with torch.ops.load_library
  plain,         ///< "plain": a shared library for ctypes or dlopen
  executable,    ///< "executable": a program that finds torch's libraries by its RUNPATH
};

/// What the result is bound to, and so what belongs to its key.
enum class Abi {
  torch_python, ///< "torch-python": this Python and this torch
  torch,        ///< "torch": this torch, any Python
  none,         ///< "none": neither; a header of torch among the inputs is then an error
};

enum class HostCompiler {
  system,    ///< $CXX, else c++, as torch does
  toolchain, ///< the HIP toolchain's clang
};

enum class Language { hip, cuda, cxx, c };

/// What an op is built for. [build] of its manifest is the HIP build; [backend.<name>] says what differs from that.
enum class Backend {
  hip,
  host, ///< no device code: what runs on the CPU
  cuda, ///< .cu units by nvcc
};

/// Among archs: whatever the compiler knows.
inline constexpr const char* any_arch = "*";

struct Source {
  std::filesystem::path path; ///< relative to the op's directory, '/'-separated, normal
  Language language = Language::cxx;
};

struct Op {
  std::string name;                     ///< a C identifier
  std::filesystem::path directory;      ///< absolute
  std::filesystem::path manifest;       ///< absolute
  std::filesystem::path workspace_root; ///< absolute; equal to directory when there is no workspace
  Kind kind = Kind::pybind_module;
  Abi abi = Abi::torch_python;
  int cxx_standard = 17;                           ///< the least: torch's headers may need more
  std::vector<Source> sources;                     ///< in the manifest's order, globs expanded and sorted
  std::vector<std::filesystem::path> include_dirs; ///< absolute
  std::vector<std::string> cxx_flags;              ///< for C and C++ units
  std::vector<std::string> hip_flags;              ///< for HIP units
  std::vector<std::string> cuda_flags;             ///< for CUDA units
  std::vector<std::string> link_flags;
  std::vector<std::string> libraries; ///< names for -l
  std::vector<std::string> archs;     ///< target ids, or sm_90 and kin of a cuda build, that the op supports
  std::map<std::string, std::vector<std::string>>
      arch_flags; ///< target id -> flags for HIP units, device pass of that arch
  HostCompiler host_compiler = HostCompiler::system;
  bool allow_cpu_torch = false;
  Backend backend = Backend::hip;                 ///< whose build all this is
  std::vector<Backend> backends = {Backend::hip}; ///< that the manifest has, hip first
  std::string
      description; ///< JSON (op/described.hpp), of an op that has no dcuop.toml; `manifest` is its label then

  [[nodiscard]] bool has_hip() const;
  [[nodiscard]] bool has_cuda() const;
  /// Of either kind: archs are then chosen when building.
  [[nodiscard]] bool has_device_code() const { return has_hip() || has_cuda(); }
  [[nodiscard]] bool has_backend(Backend backend) const;
  [[nodiscard]] bool supports_any_arch() const;
  /// The op names the target id itself, its processor, or any arch.
  [[nodiscard]] bool supports(const std::string& target_id) const;
};

[[nodiscard]] std::string to_string(Kind kind);
[[nodiscard]] std::string to_string(Abi abi);
[[nodiscard]] std::string to_string(Language language);
[[nodiscard]] std::string to_string(HostCompiler compiler);
[[nodiscard]] std::string to_string(Backend backend);

/// hip, host and cuda.
[[nodiscard]] const std::vector<Backend>& all_backends();
[[nodiscard]] std::optional<Backend> backend_named(std::string_view name);

/// A target id in the form <processor>(:<feature>(+|-))*, features in canonical order (sramecc before xnack).
/// Says only whether the form is right; whether a compiler knows the processor is the compiler's matter.
[[nodiscard]] bool is_target_id(const std::string& text);
/// "sm_90", "sm_90a" (that processor alone), "sm_100f" (its family): code; "compute_90" and kin: PTX, which the driver
/// compiles for any processor from that one on.
[[nodiscard]] bool is_cuda_arch(const std::string& text);
/// The processor of a target id: "gfx90a:xnack-" -> "gfx90a".
[[nodiscard]] std::string processor_of(const std::string& target_id);

} // namespace dcuop::op
