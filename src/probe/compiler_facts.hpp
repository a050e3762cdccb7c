#pragma once
// What a compiler says of itself, asked once with -### and then remembered.

#include <filesystem>
#include <string>
#include <vector>

#include "dcuop/probe/driver_report.hpp"
#include "dcuop/probe/machine.hpp"
#include "dcuop/probe/toolchain.hpp"

namespace dcuop::probe {

struct CompilerFacts {
  Family family = Family::unknown;
  std::string version, version_line, target;
  std::filesystem::path
      real_compiler; ///< argv[0] of the host's cc1 step; empty when the driver does not answer
};

/// `arguments`: flags with -c, a language and, for HIP, an arch.
[[nodiscard]] CompilerFacts compiler_facts(const Machine& machine, const std::filesystem::path& program,
                                           const std::vector<std::string>& arguments);

struct DriverAnswer {
  DriverReport report;
  std::string problem; ///< why there is no usable report: "hipcc -### failed: ..."
  /// Directories whose names it read: another one there could be chosen. None where it could not be traced.
  std::vector<std::filesystem::path> listed;
};
/// Runs `program` `arguments` -### on an empty input of the arguments' language (an empty object for a link).
[[nodiscard]] DriverAnswer ask_driver(const Machine& machine, const std::filesystem::path& program,
                                      const std::vector<std::string>& arguments,
                                      const Environment& environment);

/// True when the arguments stop before the link.
[[nodiscard]] bool stops_before_link(const std::vector<std::string>& arguments);

/// Digest of what decides a driver's answer besides files: program, arguments, variables that reach it, PATH;
/// the working directory for arguments that name tools relative to it, the processor for "native".
[[nodiscard]] Digest driver_question(const Machine& machine, const std::filesystem::path& program,
                                     const std::vector<std::string>& arguments,
                                     const Environment& environment);

/// True when -march, -mcpu or -mtune is "native", in the arguments or in what hipcc appends to them.
[[nodiscard]] bool asks_for_native_cpu(const std::vector<std::string>& arguments,
                                       const Environment& environment);

} // namespace dcuop::probe
