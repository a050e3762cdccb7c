#include "diagnose.hpp"

#include <algorithm>
#include <csignal>
#include <regex>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::build {

namespace {

struct KnownCause {
  const char* pattern; ///< of a line of the log
  const char* hint;    ///< $1, $2: the pattern's groups
  ExitCode exit = ExitCode::failed;
};

/// What compilers and linkers say, and what to do about it. First match wins.
const KnownCause known_causes[] = {
    {R"(fatal error: '?"?([^'":]+)'?"?: No such file or directory)",
     "the header $1 is not on the search path: add its directory to include_dirs, or install the package "
     "that has it"},
    {R"(fatal error: '([^']+)' file not found)", "the header $1 is not on the search path: add its directory "
                                                 "to include_dirs, or install the package that has it"},
    {R"(cannot find ROCm device library)",
     "the compiler found no device bitcode: set ROCM_PATH to the DTK "
     "or ROCm root (on DTK: source /opt/dtk/env.sh)",
     ExitCode::environment},
    {R"(cannot find HIP runtime)", "set ROCM_PATH to the DTK or ROCm root (on DTK: source /opt/dtk/env.sh)",
     ExitCode::environment},
    {R"(invalid target ID '([^']+)')",
     "this compiler does not know $1; gfx926, gfx928, gfx936 and gfx938 need DTK's"},
    {R"(Unsupported gpu architecture '([^']+)')", "this nvcc does not know $1: name another arch with "
                                                  "--arch, or another nvcc with CUDA_HOME or DCUOP_NVCC"},
    {R"(unsupported (GNU|clang) version)",
     "this nvcc takes no host compiler as new as that: name an older one with CXX", ExitCode::environment},
    {R"(cannot find -lcudart\b)",
     "the CUDA runtime is not beside nvcc: install the whole toolkit, or name another with CUDA_HOME",
     ExitCode::environment},
    {R"(cannot find -l([^\s:]+))",
     "the linker found no lib$1.so: install it, or add -L<its directory> to link_flags"},
    {R"(unable to find library -l(\S+))",
     "the linker found no lib$1.so: install it, or add -L<its directory> to link_flags"},
    {R"(undefined reference to `([^']+)')", "no source or library of the op defines $1: is its file missing "
                                            "from sources, or its library from libraries?"},
    {R"(undefined symbol: (.+))", "no source or library of the op defines $1: is its file missing from "
                                  "sources, or its library from libraries?"},
    {R"(multiple definition of `([^']+)')", "two sources or libraries of the op define $1: make it inline or "
                                            "static, or leave one of the files out of sources"},
    {R"(duplicate symbol: (.+))",
     "two sources or libraries of the op define $1: make it inline or static, or "
     "leave one of the files out of sources"},
    {R"(Opaque pointers are only supported)",
     "the lld that was used is older than the clang: put the lld of the HIP toolchain's clang first"},
    {R"([Nn]o space left on device)", "the disk that holds the cache or TMPDIR is full",
     ExitCode::environment},
};

/// What GNU ld says without "error:", under its name or its path ("/usr/bin/ld: a.o: file not recognized").
bool is_linker_line(const std::string& line) {
  static const std::regex fault(
      R"(undefined reference|multiple definition|cannot find -l|^(\S*[/-])?ld(\.(bfd|gold|lld))?:)");
  // Where the next line's fault is, and what does not end a link.
  static const std::regex context(": in function `|: warning: ");
  return std::regex_search(line, fault) && !std::regex_search(line, context);
}

/// What the compiler drivers add when the linker has said what is wrong.
bool is_drivers_summary(const std::string& line) {
  static const std::regex pattern(R"(^collect2: error: |: error: (linker command failed|ld returned \d))");
  return std::regex_search(line, pattern);
}

bool is_error_line(const std::string& line) {
  // nvcc and what it starts: "nvcc fatal   : Unknown option '--foo'", "ptxas error   : Entry function ...".
  static const std::regex pattern(
      R"((^|[:\s])(fatal )?error:|Error \d|^(nvcc|ptxas|cicc|nvlink|fatbinary) (fatal|error)\s*:)");
  return is_linker_line(line) || std::regex_search(line, pattern);
}

std::size_t count_of(const std::vector<std::string>& lines, const char* word) {
  const std::regex pattern(std::string(R"((^|[:\s]))") + word + ":");
  std::size_t count = 0;
  for (const std::string& line : lines) {
    count += std::regex_search(line, pattern) ? 1 : 0;
  }
  return count;
}

/// "op_kernel.hip:14:9: error", or nvcc's "op_kernel.cu(14): error" -> with the op's directory before it: a place that an
/// editor can open.
std::string with_directory(const std::string& line, const fs::path& directory) {
  const std::string place = line.substr(0, line.find(':'));
  const std::string file = place.ends_with(')') ? place.substr(0, place.rfind('(')) : place;
  const bool is_place = !file.empty() && fs::path(file).is_relative() && fs::exists(directory / file);
  return is_place ? (directory / line).string() : line;
}

/// The first error and the lines of source that compilers show below it.
std::string first_error(const std::vector<std::string>& lines, const fs::path& directory) {
  auto first = std::find_if(lines.begin(), lines.end(), [](const std::string& line) {
    return is_error_line(line) && !is_drivers_summary(line);
  });
  if (first == lines.end()) {
    first = std::find_if(lines.begin(), lines.end(), is_error_line);
  }
  if (first == lines.end()) {
    return lines.empty() ? "" : lines.back();
  }
  std::string text = with_directory(*first, directory);
  for (auto next = first + 1; next != lines.end() && next < first + 3 && next->starts_with(' '); ++next) {
    text += "\n" + *next;
  }
  return text;
}

/// What is known of the first line that is known.
void explain(const std::vector<std::string>& lines, store::Failure& failure) {
  for (const std::string& line : lines) {
    for (const KnownCause& cause : known_causes) {
      std::smatch match;
      if (std::regex_search(line, match, std::regex(cause.pattern))) {
        failure.hint = match.format(cause.hint);
        failure.exit_code = static_cast<int>(cause.exit);
        return;
      }
    }
  }
}

} // namespace

store::Failure describe_failure(const key::Request& request, const FailedCommand& failed,
                                const Limits& limits) {
  store::Failure failure;
  failure.exit_code = static_cast<int>(ExitCode::failed);
  failure.when = std::chrono::system_clock::now();
  const ProcessResult& result = failed.result;
  if (result.exit_code == 127 && failed.log.empty()) {
    failure.message = failed.step + ": cannot start " + failed.argv.front() + ": " + result.diagnostics;
    failure.exit_code = static_cast<int>(ExitCode::environment);
    return failure;
  }
  const std::vector<std::string> lines = split(failed.log, '\n');
  // What g++ and clang say of their cc1 or lld; the same words with "Segmentation fault" are no want of memory.
  const auto says = [&failed](const char* words) { return failed.log.find(words) != std::string::npos; };
  const bool killed = result.signal == SIGKILL || says("Killed signal terminated program") ||
                      says("unable to execute command: Killed");
  if (killed) {
    failure.message = failed.step + ": the compiler was killed (signal 9) at " +
                      human_size(result.peak_memory) + "; " + limits.memory_source + " leaves " +
                      human_size(limits.memory);
    failure.hint = "if memory ran out (dmesg, or the cgroup's memory.events, says so): --jobs 1" +
                   std::string(request.op.host_compiler == op::HostCompiler::system
                                   ? ", or host_compiler = \"toolchain\" (about half the memory)"
                                   : "");
    return failure;
  }
  const std::size_t errors = count_of(lines, "error");
  failure.message = failed.step + "\n" + first_error(lines, request.op.directory) + "\n(" +
                    counted(errors == 0 ? 1 : errors, "error") + ", " +
                    counted(count_of(lines, "warning"), "warning") + ")";
  explain(lines, failure);
  return failure;
}

} // namespace dcuop::build
