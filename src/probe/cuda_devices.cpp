// What to compile CUDA units for. Never a silent default: nvcc without an arch takes the oldest that it knows.

#include <algorithm>
#include <cctype>
#include <chrono>
#include <optional>

#include "dcuop/probe/cuda.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

constexpr std::chrono::seconds smi_limit{20};

struct Visible {
  std::vector<std::string> archs;
  std::string reason; ///< why there is none
};

/// "9.0" -> "sm_90", one a line; lines that are no number ("[N/A]") are left out.
std::vector<std::string> archs_in(const std::string& text) {
  std::vector<std::string> archs;
  for (const std::string& line : split(text, '\n')) {
    std::string number(trimmed(line));
    const bool is_number = number.find('.') != std::string::npos &&
                           std::all_of(number.begin(), number.end(),
                                       [](unsigned char c) { return std::isdigit(c) != 0 || c == '.'; });
    if (is_number) {
      std::erase(number, '.');
      archs.push_back("sm_" + number);
    }
  }
  std::sort(archs.begin(), archs.end());
  archs.erase(std::unique(archs.begin(), archs.end()), archs.end());
  return archs;
}

/// Nothing is remembered of an nvidia-smi that failed: its driver may run at the next call.
struct NoAnswer {
  std::string reason;
};

/// The driver and its devices, as the kernel module lists them: what the answer depends on, without a process.
std::string driver_text(const Machine& machine) {
  const fs::path driver = inside(machine.root, "/proc/driver/nvidia");
  std::string text = read_file(driver / "version").value_or("");
  for (const std::string& device : list_directory(driver / "gpus")) {
    text += device + "\n" + read_file(driver / "gpus" / device / "information").value_or("");
  }
  return text;
}

Answer ask_smi(const Machine& machine, const std::string& program) {
  Command command;
  command.argv = {program, "--query-gpu=compute_cap", "--format=csv,noheader"};
  command.working_directory = machine.working_directory;
  command.environment = machine.environment;
  command.limit = smi_limit;
  const ProcessResult result = machine.processes.run(command);
  const std::vector<std::string> archs = archs_in(result.output);
  if (!result.ok() || archs.empty()) {
    const std::vector<std::string> lines = split(result.output + "\n" + result.diagnostics, '\n');
    throw NoAnswer{result.timed_out ? "nvidia-smi: no answer within " + human_duration(smi_limit)
                                    : "nvidia-smi: " + (lines.empty() ? "lists no device" : lines.front())};
  }
  return {join(archs, ","), {program}};
}

Visible visible_archs(const Machine& machine) {
  const auto visible = machine.environment.get("CUDA_VISIBLE_DEVICES");
  if (visible && (visible->empty() || visible->starts_with('-'))) {
    return {{}, "CUDA_VISIBLE_DEVICES=" + *visible + " hides all"};
  }
  const std::optional<std::string> program = machine.environment.find_program("nvidia-smi");
  if (!program) {
    return {{}, "nvidia-smi is not on PATH"};
  }
  try {
    const std::string driver = driver_text(machine);
    const Digest question = Hasher().text("program", *program).text("driver", driver).finish();
    const auto ask = [&] { return ask_smi(machine, *program); };
    return {split(driver.empty() ? ask().value : machine.memos.recall("nvidia-smi", question, ask), ','), {}};
  } catch (const NoAnswer& no_answer) {
    return {{}, no_answer.reason};
  }
}

std::vector<std::string> parts_of(std::string text) {
  std::replace_if(
      text.begin(), text.end(), [](char c) { return c == ';' || c == ',' || c == '\t' || c == '\n'; }, ' ');
  return split(text, ' ');
}

} // namespace

ArchSelection select_cuda_archs(const Machine& machine, const std::vector<std::string>& asked) {
  ArchSelection selection{parts_of(join(asked, " ")), "--arch"};
  if (selection.archs.empty()) {
    selection = {parts_of(machine.environment.get("DCUOP_ARCH").value_or("")), "DCUOP_ARCH"};
  }
  const bool is_wished = !selection.archs.empty();
  if (!is_wished || std::erase(selection.archs, "native") > 0) {
    const Visible visible = visible_archs(machine);
    if (is_wished && visible.archs.empty()) {
      throw Error(ExitCode::environment,
                  "'native' (" + selection.origin + ") means the visible devices: no device visible (" +
                      visible.reason + ")",
                  "say which, for example: --arch sm_90");
    }
    if (visible.archs.empty()) {
      return {{}, "no --arch, no DCUOP_ARCH, no device visible (" + visible.reason + ")"};
    }
    selection.archs.insert(selection.archs.end(), visible.archs.begin(), visible.archs.end());
    selection.origin = (is_wished ? selection.origin + ", " : "") + "visible devices (nvidia-smi)";
  }
  std::sort(selection.archs.begin(), selection.archs.end());
  selection.archs.erase(std::unique(selection.archs.begin(), selection.archs.end()), selection.archs.end());
  return selection;
}

} // namespace dcuop::probe
