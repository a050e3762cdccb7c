#include "compiler_facts.hpp"

#include <algorithm>
#include <array>
#include <chrono>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/temporary_directory.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

constexpr std::chrono::seconds driver_limit{60};

/// Drivers open no input with -###, but clang looks whether it exists and plans a device link only for one named *.o.
class DummyInput {
 public:
  DummyInput(const Environment& environment, const std::string& name)
      : directory_(environment), path_(directory_.path() / name) {
    write_file_atomic(path_, "");
  }

  [[nodiscard]] std::string path() const { return path_.string(); }

 private:
  TemporaryDirectory directory_;
  fs::path path_;
};

std::string language_of(const std::vector<std::string>& arguments) {
  std::string language;
  for (std::size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i] == "-x" && i + 1 < arguments.size()) {
      language = arguments[i + 1];
    } else if (arguments[i].starts_with("-x") && arguments[i].size() > 2) {
      language = arguments[i].substr(2);
    }
  }
  return language;
}

std::string dummy_name(const std::vector<std::string>& arguments) {
  if (!stops_before_link(arguments)) {
    return "unit.o";
  }
  const auto language = language_of(arguments);
  if (language == "hip") {
    return "unit.hip";
  }
  return language == "c" ? "unit.c" : language == "cu" || language == "cuda" ? "unit.cu" : "unit.cpp";
}

std::string failure_line(const DriverReport& report, const ProcessResult& result) {
  if (!report.errors.empty()) {
    return report.errors.front();
  }
  if (result.timed_out) {
    return "no answer within " + human_duration(driver_limit);
  }
  const auto lines = split(result.diagnostics + "\n" + result.output, '\n');
  return lines.empty() ? "exit code " + std::to_string(result.exit_code) : std::string(trimmed(lines.back()));
}

/// Options that choose tools by a path, which may be relative.
bool names_relative_tool(const std::string& argument) {
  static constexpr std::array<std::string_view, 13> options = {"-B",
                                                               "--sysroot",
                                                               "--gcc-toolchain",
                                                               "--gcc-install-dir",
                                                               "--rocm-path",
                                                               "--hip-path",
                                                               "--hip-device-lib-path",
                                                               "--rocm-device-lib-path",
                                                               "-resource-dir",
                                                               "-specs",
                                                               "-fplugin",
                                                               "-fpass-plugin",
                                                               "--config"};
  if (argument.starts_with('@')) {
    return !argument.starts_with("@/");
  }
  return std::any_of(options.begin(), options.end(), [&](std::string_view option) {
    if (!argument.starts_with(option)) {
      return false;
    }
    auto value = std::string_view(argument).substr(option.size());
    value.remove_prefix(value.starts_with('=') ? 1 : 0);
    return !value.starts_with('/');
  });
}

/// What tells one processor model from another, of the first one: a cache directory may be shared by
/// machines.
std::string processor_description() {
  static constexpr std::array<std::string_view, 10> keys = {"vendor_id", "cpu family", "model",    "stepping",
                                                            "flags",     "cache size", "Features", "CPU ",
                                                            "isa",       "cpu\t"};
  std::string description;
  const auto text = read_file_prefix("/proc/cpuinfo", 8192).value_or("");
  for (const auto& line : split(text.substr(0, text.find("\n\n")), '\n')) {
    if (std::any_of(keys.begin(), keys.end(), [&](std::string_view key) { return line.starts_with(key); })) {
      description += line + "\n";
    }
  }
  return description;
}

std::vector<fs::path> listed_in(const ProcessResult& result) {
  std::vector<fs::path> listed;
  for (const FileAccess& access : result.trace.value_or(Trace{}).accesses) {
    const bool is_kernels = access.path.starts_with("/proc/") || access.path.starts_with("/sys/");
    std::error_code ignored;
    if (!access.is_relative && !is_kernels && access.was_read && fs::is_directory(access.path, ignored)) {
      listed.emplace_back(access.path);
    }
  }
  return listed;
}

bool has_role(const DriverReport& report, std::string_view role) {
  return std::any_of(report.steps.begin(), report.steps.end(),
                     [&](const DriverStep& step) { return role_of(step) == role; });
}

} // namespace

bool stops_before_link(const std::vector<std::string>& arguments) {
  static constexpr std::array<std::string_view, 7> flags = {
      "-c", "-S", "-E", "-M", "-MM", "-fsyntax-only", "--genco"};
  return std::any_of(arguments.begin(), arguments.end(), [](const std::string& argument) {
    return std::find(flags.begin(), flags.end(), argument) != flags.end();
  });
}

bool asks_for_native_cpu(const std::vector<std::string>& arguments, const Environment& environment) {
  const auto is_native = [](const std::string& word) {
    return word == "-march=native" || word == "-mcpu=native" || word == "-mtune=native";
  };
  const auto appended = shell_words(environment.get("HIPCC_COMPILE_FLAGS_APPEND").value_or(""));
  return std::any_of(arguments.begin(), arguments.end(), is_native) ||
         std::any_of(appended.begin(), appended.end(), is_native);
}

Digest driver_question(const Machine& machine, const fs::path& program,
                       const std::vector<std::string>& arguments, const Environment& environment) {
  Hasher hasher;
  hasher.text("program", program.string());
  for (const auto& argument : arguments) {
    hasher.text("argument", argument);
  }
  for (const auto& name : compile_variables()) {
    if (const auto value = environment.get(name)) {
      hasher.text(name, *value);
    }
  }
  hasher.text("PATH", environment.get("PATH").value_or(""));
  if (std::any_of(arguments.begin(), arguments.end(), names_relative_tool)) {
    hasher.text("working directory", machine.working_directory.string());
  }
  if (asks_for_native_cpu(arguments, environment)) {
    hasher.text("processor", processor_description());
  }
  return hasher.finish();
}

DriverAnswer ask_driver(const Machine& machine, const fs::path& program,
                        const std::vector<std::string>& arguments, const Environment& environment) {
  const DummyInput input(environment, dummy_name(arguments));
  Command command;
  command.argv = {program.string()};
  command.argv.insert(command.argv.end(), arguments.begin(), arguments.end());
  command.argv.insert(command.argv.end(), {"-###", input.path()});
  command.working_directory = machine.working_directory;
  command.environment = environment;
  command.limit = driver_limit;
  command.trace = true;

  const auto result = machine.processes.run(command);
  DriverAnswer answer{parse_driver_report(result.diagnostics + "\n" + result.output), {}, listed_in(result)};
  const auto expected = stops_before_link(arguments) ? "compiler" : "linker";
  if (!result.ok() || !has_role(answer.report, expected)) {
    answer.problem = program.string() + " does not answer -###: " + failure_line(answer.report, result);
  } else if (!answer.report.errors.empty()) {
    // clang goes on after "cannot find ROCm device library" and exits 0.
    answer.problem = program.string() + " -### reports: " + answer.report.errors.front();
  }
  return answer;
}

} // namespace dcuop::probe
