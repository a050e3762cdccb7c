#pragma once
// Compilers and their identity: wrapper and its scripts, the real compiler behind it, the shared libraries that
// hold its code, assembler, linker, bundler, device bitcode; all by content.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/probe/machine.hpp"
#include "dcuop/support/digest.hpp"

namespace dcuop::probe {

enum class Family { clang, gcc, nvcc, unknown };

/// A compiler as it is called. Nothing is resolved through symbolic links: argv[0] can choose its mode.
struct Compiler {
  std::filesystem::path program; ///< absolute
  std::string origin;            ///< "DCUOP_HIPCC", "ROCM_PATH", "hipcc on PATH", "CXX", "c++ on PATH"
  Family family = Family::unknown;
  std::string version;      ///< of the real compiler: "15.0.6"
  std::string version_line; ///< first line that names it
  std::string hip_version;  ///< hipcc's "5.2.21153"; "" otherwise
  std::string target;       ///< "x86_64-pc-linux-gnu"
};

/// One part of a toolchain's identity.
struct ToolFile {
  /// "wrapper" (a compiler that is a script), "driver" (one that is not, and starts the real one), "script",
  /// "compiler", "library", "assembler", "linker", "bundler", "bitcode", "tool"
  std::string role;
  std::filesystem::path path;
  Digest content;
};

/// What one way of calling a compiler (these flags, these archs) is made of.
struct Toolchain {
  Compiler compiler;
  std::vector<ToolFile> files; ///< sorted by role, path; bitcode included
  std::vector<std::string>
      resolved_cpu; ///< what -march=native and kin came to: cc1's -target-cpu/-target-feature; else empty
  Digest identity;  ///< of roles, names and contents; not of the paths' directories
  std::string
      problem; ///< why identity is incomplete ("the driver does not answer -###"); then nothing made with it is cached
};

/// DTK or ROCm as installed.
struct Rocm {
  std::filesystem::path root; ///< /opt/dtk, /opt/rocm, /usr
  std::string origin;         ///< "ROCM_PATH", "/opt/dtk", ...
  bool is_dtk = false;
  std::string version; ///< DTK's own number for a DTK ("25.04"), else ROCm's; "" when not written anywhere
  std::string version_source; ///< the file that says so
};

/// hipcc: DCUOP_HIPCC > $ROCM_PATH/bin, $ROCM_HOME/bin, $HIP_PATH/bin > PATH > /opt/dtk/bin, /opt/rocm/bin.
/// Throws Error(environment) when there is none.
[[nodiscard]] Compiler find_hip_compiler(const Machine& machine);
/// $CXX > c++ > g++ > clang++. `language_c` asks for $CC, cc, gcc, clang.
[[nodiscard]] Compiler find_host_compiler(const Machine& machine, bool language_c = false);
[[nodiscard]] std::optional<Rocm> find_rocm(const Machine& machine);
/// The toolkit whose root is `path` (as it is named on the machine); nullopt when nothing there says a version.
[[nodiscard]] std::optional<Rocm> toolkit_at(const Machine& machine, const std::filesystem::path& path,
                                             const std::string& origin);

/// The identity of calling `compiler` with `arguments` (flags with -c and a language; no input, no output file)
/// in `environment` (the scrubbed one that the compile gets). One `-###` call the first time, then remembered.
/// `arguments` must name each offload arch: a HIP compiler called without one guesses, which is a problem.
/// Without -c (or -S, -E, -M, ...) it is the identity of a link. Throws Error(usage), with the compiler's own
/// line, for an arch that the compiler does not know or has no device library for.
[[nodiscard]] Toolchain resolve_toolchain(const Machine& machine, const Compiler& compiler,
                                          const std::vector<std::string>& arguments,
                                          const Environment& environment);

/// The clang++ behind a HIP compiler, called directly for host units (`host_compiler = "toolchain"`).
/// Throws Error(environment) when hipcc's -### does not name one.
[[nodiscard]] Compiler host_compiler_of(const Machine& machine, const Compiler& hip_compiler);

/// Variables that reach the compiler (hipcc's own, CPATH and kin, the loader's); all others are scrubbed.
/// Each one that is set belongs to the key by its value.
[[nodiscard]] const std::vector<std::string>& compile_variables();
/// Variables passed on that cannot change the result (PATH: what is found on it is identified by content; HOME, ...).
[[nodiscard]] Environment compile_environment(const Environment& full,
                                              const std::filesystem::path& temporary_directory);

} // namespace dcuop::probe
