#pragma once
// What a compiler driver would do, as it says with -### on stderr: a line for each program it would start.
// clang quotes every word; GCC only those that are not plain. Escapes are those of a double-quoted shell
// word.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/probe/toolchain.hpp"

namespace dcuop::probe {

/// A program that the driver would start; argv[0] is bare when the driver leaves it to PATH (GCC's "as").
struct DriverStep {
  std::vector<std::string> argv;
};

struct DriverReport {
  std::vector<DriverStep> steps;
  std::vector<std::string> errors; ///< "clang: error: ..." lines; a step may follow them all the same
  Family family = Family::unknown;
  std::string version;      ///< "15.0.6"
  std::string version_line; ///< "Debian clang version 15.0.6"
  std::string target;
  std::filesystem::path installed_dir; ///< clang's InstalledDir
  std::filesystem::path collect_gcc;   ///< the driver as GCC was called (COLLECT_GCC), may be bare
  std::filesystem::path lto_wrapper;   ///< COLLECT_LTO_WRAPPER
  std::vector<std::filesystem::path> program_path;        ///< GCC's COMPILER_PATH: searched before PATH
  std::vector<std::filesystem::path> configuration_files; ///< GCC's specs, clang's *.cfg
};

/// Never throws: what is not recognised is passed over.
[[nodiscard]] DriverReport parse_driver_report(std::string_view text);

/// ToolFile's role of the program that a step starts.
[[nodiscard]] std::string_view role_of(const DriverStep& step);
/// The step that compiles for the host: its cc1, not a device's. nullptr when there is none.
[[nodiscard]] const DriverStep* host_compile_step(const DriverReport& report);
/// The step's value of a two-word option ("-resource-dir" DIR); the last one when given twice.
[[nodiscard]] std::optional<std::string> option_of(const DriverStep& step, std::string_view option);

/// Device libraries that a step links in (-mlink-builtin-bitcode, -mlink-bitcode-file).
[[nodiscard]] std::vector<std::filesystem::path> bitcode_of(const DriverStep& step);
/// Shared objects that a step loads into itself (ld -plugin, cc1 -load, -fplugin=, -fpass-plugin=), and what
/// ld hands to its plugin to start (-plugin-opt=/...).
[[nodiscard]] std::vector<std::filesystem::path> plugins_of(const DriverStep& step);

/// What "native" came to in the host's cc1: clang's -target-cpu, -tune-cpu and -target-feature; GCC's -m
/// flags and the cache sizes that it passes as --param.
[[nodiscard]] std::vector<std::string> resolved_cpu(const DriverReport& report);

/// GCC installations whose headers and libraries the steps name: ".../lib/gcc/x86_64-linux-gnu/12".
/// clang takes the newest one, so that installing another GCC changes what clang compiles.
[[nodiscard]] std::vector<std::filesystem::path> gcc_installations(const DriverReport& report);

/// An offload arch that the driver will not compile for, and the line that says so.
struct RefusedArch {
  std::string arch; ///< "gfx942"; "gfx90a and gfx90a:xnack-" for archs that exclude each other
  std::string line;
};
[[nodiscard]] std::optional<RefusedArch> refused_arch(const DriverReport& report);

} // namespace dcuop::probe
