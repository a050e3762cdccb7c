#pragma once
// From what a build did to its input set. Two sources: the kernel, when the process tree was traced, which misses
// nothing; else the reports of compiler and linker, and guesses for what these do not say.

#include <cstdint>
#include <filesystem>
#include <string>
#include <vector>

#include "dcuop/key/compiler_report.hpp"
#include "dcuop/key/input_set.hpp"
#include "dcuop/support/process.hpp"

namespace dcuop::key {

struct Collected {
  InputSet set;
  std::vector<std::string> unreadable; ///< files that could not be read: the result must not be cached then
  std::vector<std::string> changed;    ///< what is not what it was when it was asked for first: neither then
  bool is_complete = true;             ///< Trace::is_complete; neither then
};

/// What one part of a build is, and which files are its own.
struct Part {
  std::string name;                           ///< the unit's, or "link"
  std::filesystem::path generated;            ///< the private build directory: what lies below is left out
  std::vector<std::filesystem::path> objects; ///< of a link; they are in its request
};

/// Of a traced process tree, whose working directory was the op's.
[[nodiscard]] Collected collect_traced(const Part& part, const Trace& trace, const PathBase& base,
                                       DigestMemo& memo);

/// The union of passes that were not traced. What changed meanwhile is for changed_since() to say.
[[nodiscard]] Collected collect_reported(const Part& part, const std::vector<PassReport>& passes,
                                         const PathBase& base, DigestMemo& memo);

/// What two sources say of one part, which asked a server.
[[nodiscard]] Collected unite(Collected&& traced, Collected&& reported, const PathBase& base);

/// The first input whose ctime is not before `since_ns` (nanoseconds since the epoch): the compiler may have
/// read it before or after that change, so the result must not be published. "" when there is none.
[[nodiscard]] std::string changed_since(const InputSet& set, const PathBase& base, std::int64_t since_ns);

} // namespace dcuop::key
