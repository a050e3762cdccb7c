#pragma once
// One translation unit, compiled in a private directory; and the passes that say what it reads.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dcuop/key/request.hpp"
#include "dcuop/support/memo.hpp"
#include "dcuop/support/process.hpp"

namespace dcuop::build {

/// A command that failed, as its maker needs it to say why.
struct FailedCommand {
  std::string step; ///< "op_kernel.hip (gfx906)", "link"
  std::vector<std::string> argv;
  ProcessResult result;
  std::string log; ///< what the command printed
};

struct StepResult {
  bool ok = false;
  key::InputSet inputs;
  std::vector<std::string> uncacheable; ///< reasons found while building
  std::string log;                      ///< command and output, for build.log
  std::chrono::milliseconds wall{0};
  std::uint64_t peak_memory = 0;
  FailedCommand failure; ///< when not ok
};

/// The file in the private directory that a unit is compiled to.
inline constexpr const char* object_name = "unit.o";

/// Where a step is done, and with what. Borrowed.
struct Bench {
  const std::filesystem::path& directory; ///< private
  ProcessRunner& processes;
  DigestMemo& memo;
  bool trace; ///< ask the kernel what the compiler reads, where it says so
};

/// Compiles to `bench.directory`/unit.o.
[[nodiscard]] StepResult compile_unit(const key::Request& request, const key::UnitRequest& unit,
                                      const Bench& bench);

/// What a unit that was not traced would read now, by the compiler's dependency passes alone.
[[nodiscard]] StepResult ask_dependencies(const key::Request& request, const key::UnitRequest& unit,
                                          const Bench& bench);

/// Links `objects` to `bench.directory`/<artifact>.
[[nodiscard]] StepResult link_objects(const key::Request& request,
                                      const std::vector<std::filesystem::path>& objects, const Bench& bench);

/// The unit's compile command as a person would run it, for compile_commands.json.
[[nodiscard]] std::vector<std::string> compile_command(const key::Request& request,
                                                       const key::UnitRequest& unit,
                                                       const std::filesystem::path& output);

} // namespace dcuop::build
