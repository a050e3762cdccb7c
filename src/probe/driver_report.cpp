#include "dcuop/probe/driver_report.hpp"

#include <algorithm>
#include <array>
#include <cctype>

#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace fs = std::filesystem;

namespace {

std::optional<std::string_view> after(std::string_view line, std::string_view prefix) {
  if (!line.starts_with(prefix)) {
    return std::nullopt;
  }
  return trimmed(line.substr(prefix.size()));
}

bool is_step(std::string_view line) {
  return line.size() > 1 && line[0] == ' ' && line[1] != ' ' && line[1] != '(';
}

/// The number after the word "version", and in `word` the one before it: "AMD clang version 17.0.0 (...)".
std::string version_in(std::string_view line, std::string& word) {
  constexpr std::string_view marker = " version ";
  const auto at = line.find(marker);
  if (at == std::string_view::npos) {
    return {};
  }
  const auto text = line.substr(at + marker.size());
  const auto end = std::min(text.find_first_not_of("0123456789."), text.size());
  if (end == 0) {
    return {};
  }
  const auto before = line.substr(0, at);
  word = before.substr(before.rfind(' ') + 1);
  return std::string(text.substr(0, end));
}

void read_version(std::string_view line, DriverReport& report) {
  std::string word;
  const auto version = version_in(line, word);
  if (version.empty() || !report.version.empty()) {
    return;
  }
  report.version = version;
  report.version_line = trimmed(line);
  report.family = word == "gcc" ? Family::gcc : word == "clang" ? Family::clang : Family::unknown;
}

std::vector<fs::path> paths_in(std::string_view list) {
  std::vector<fs::path> paths;
  for (const auto& part : split(list, ':')) {
    if (std::find(paths.begin(), paths.end(), fs::path(part)) == paths.end()) {
      paths.emplace_back(part);
    }
  }
  return paths;
}

void read_line(std::string_view line, DriverReport& report) {
  if (is_step(line)) {
    if (auto argv = shell_words(line); !argv.empty()) {
      report.steps.push_back({std::move(argv)});
    }
  } else if (line.find("error: ") != std::string_view::npos) {
    report.errors.emplace_back(trimmed(line));
  } else if (const auto target = after(line, "Target: ")) {
    report.target = *target;
  } else if (const auto directory = after(line, "InstalledDir: ")) {
    report.installed_dir = *directory;
  } else if (const auto driver = after(line, "COLLECT_GCC=")) {
    report.collect_gcc = *driver;
  } else if (const auto wrapper = after(line, "COLLECT_LTO_WRAPPER=")) {
    report.lto_wrapper = *wrapper;
  } else if (const auto directories = after(line, "COMPILER_PATH=")) {
    report.program_path = paths_in(*directories);
  } else if (const auto specs = after(line, "Reading specs from ")) {
    report.configuration_files.emplace_back(*specs);
  } else if (const auto configuration = after(line, "Configuration file: ")) {
    report.configuration_files.emplace_back(*configuration);
  } else {
    read_version(line, report);
  }
}

bool is_clang_cc1(const DriverStep& step) {
  return step.argv.size() > 1 && step.argv[1] == "-cc1";
}

bool is_gcc_cc1(std::string_view name) {
  return name.starts_with("cc1") || name == "lto1";
}

/// "ld", "ld.bfd", "x86_64-linux-gnu-ld", "lld-14", ...
bool is_linker(std::string_view name) {
  static constexpr std::array<std::string_view, 5> names = {"ld", "collect2", "gold", "mold", "wild"};
  return std::find(names.begin(), names.end(), name) != names.end() || name.starts_with("ld.") ||
         name.starts_with("lld") || name.ends_with("-ld") || name == "clang-linker-wrapper" ||
         name == "clang-nvlink-wrapper";
}

bool has(const DriverStep& step, std::string_view word) {
  return std::find(step.argv.begin(), step.argv.end(), word) != step.argv.end();
}

/// Values of every two-word use of one of `options`.
template <std::size_t N>
std::vector<std::string> values_of(const DriverStep& step, const std::array<std::string_view, N>& options) {
  std::vector<std::string> values;
  for (std::size_t i = 1; i + 1 < step.argv.size(); ++i) {
    if (std::find(options.begin(), options.end(), step.argv[i]) != options.end()) {
      values.push_back(step.argv[i + 1]);
      ++i;
    }
  }
  return values;
}

std::vector<std::string> clang_cpu(const DriverStep& step) {
  static constexpr std::array<std::string_view, 3> options = {"-target-cpu", "-tune-cpu", "-target-feature"};
  std::vector<std::string> cpu;
  for (std::size_t i = 1; i + 1 < step.argv.size(); ++i) {
    if (std::find(options.begin(), options.end(), step.argv[i]) != options.end()) {
      cpu.push_back(step.argv[i] + "=" + step.argv[i + 1]);
      ++i;
    }
  }
  return cpu;
}

std::vector<std::string> gcc_cpu(const DriverStep& step) {
  std::vector<std::string> cpu;
  for (std::size_t i = 1; i < step.argv.size(); ++i) {
    if (step.argv[i].starts_with("-m")) {
      cpu.push_back(step.argv[i]);
    } else if (step.argv[i] == "--param" && i + 1 < step.argv.size()) {
      cpu.push_back("--param=" + step.argv[++i]);
    }
  }
  return cpu;
}

/// The text between `opening` and the next of `closing`, after `marker`.
std::optional<std::string> quoted_after(std::string_view line, std::string_view marker,
                                        std::string_view closing) {
  const auto at = line.find(marker);
  if (at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto text = line.substr(at + marker.size());
  return std::string(trimmed(text.substr(0, text.find_first_of(closing))));
}

/// ".../lib/gcc/<triple>/<version>" at the start of a path that goes on below it.
std::optional<fs::path> gcc_installation_in(std::string_view word) {
  constexpr std::string_view marker = "/gcc/";
  const auto start = word.find('/');
  const auto at = word.find(marker);
  if (start == std::string_view::npos || at == std::string_view::npos) {
    return std::nullopt;
  }
  const auto triple_end = word.find('/', at + marker.size());
  if (triple_end == std::string_view::npos || triple_end + 1 >= word.size() ||
      std::isdigit(static_cast<unsigned char>(word[triple_end + 1])) == 0) {
    return std::nullopt;
  }
  const auto version_end = std::min(word.find('/', triple_end + 1), word.size());
  return fs::path(word.substr(start, version_end - start)).lexically_normal();
}

} // namespace

DriverReport parse_driver_report(std::string_view text) {
  DriverReport report;
  while (!text.empty()) {
    const auto end = std::min(text.find('\n'), text.size());
    auto line = text.substr(0, end);
    if (line.ends_with('\r')) {
      line.remove_suffix(1);
    }
    read_line(line, report);
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  if (report.family == Family::unknown) {
    // A vendor's driver may name itself: dcc, aicc. What it starts tells the family.
    if (const auto* step = host_compile_step(report)) {
      report.family = is_clang_cc1(*step) ? Family::clang : Family::gcc;
    }
  }
  return report;
}

std::string_view role_of(const DriverStep& step) {
  const auto name = fs::path(step.argv.front()).filename().string();
  if (is_clang_cc1(step) || is_gcc_cc1(name)) {
    return "compiler";
  }
  if (name == "as" || name.ends_with("-as") || (step.argv.size() > 1 && step.argv[1] == "-cc1as")) {
    return "assembler";
  }
  if (is_linker(name)) {
    return "linker";
  }
  return name.starts_with("clang-offload-") ? "bundler" : "tool";
}

const DriverStep* host_compile_step(const DriverReport& report) {
  const auto step = std::find_if(report.steps.begin(), report.steps.end(), [](const DriverStep& candidate) {
    return role_of(candidate) == "compiler" && !has(candidate, "-fcuda-is-device");
  });
  return step == report.steps.end() ? nullptr : &*step;
}

std::optional<std::string> option_of(const DriverStep& step, std::string_view option) {
  const auto values = values_of(step, std::array<std::string_view, 1>{option});
  return values.empty() ? std::nullopt : std::optional(values.back());
}

std::vector<fs::path> bitcode_of(const DriverStep& step) {
  const auto values =
      values_of(step, std::array<std::string_view, 2>{"-mlink-builtin-bitcode", "-mlink-bitcode-file"});
  return {values.begin(), values.end()};
}

std::vector<fs::path> plugins_of(const DriverStep& step) {
  const auto loaded = values_of(step, std::array<std::string_view, 2>{"-plugin", "-load"});
  std::vector<fs::path> plugins(loaded.begin(), loaded.end());
  for (const auto& word : step.argv) {
    for (const std::string_view prefix : {"-fplugin=", "-fpass-plugin=", "-plugin-opt=/"}) {
      if (word.starts_with(prefix)) {
        plugins.emplace_back(word.substr(word.find('=') + 1));
      }
    }
  }
  return plugins;
}

std::vector<std::string> resolved_cpu(const DriverReport& report) {
  const auto* step = host_compile_step(report);
  if (step == nullptr) {
    return {};
  }
  return is_clang_cc1(*step) ? clang_cpu(*step) : gcc_cpu(*step);
}

std::vector<fs::path> gcc_installations(const DriverReport& report) {
  std::vector<fs::path> installations;
  for (const auto& step : report.steps) {
    for (const auto& word : step.argv) {
      if (auto installation = gcc_installation_in(word)) {
        installations.push_back(std::move(*installation));
      }
    }
  }
  std::sort(installations.begin(), installations.end());
  installations.erase(std::unique(installations.begin(), installations.end()), installations.end());
  return installations;
}

std::optional<RefusedArch> refused_arch(const DriverReport& report) {
  for (const auto& line : report.errors) {
    if (const auto pair = quoted_after(line, "invalid offload arch combinations: ", "(;")) {
      std::string archs = *pair;
      std::erase(archs, '\'');
      return RefusedArch{archs, line};
    }
    auto arch = quoted_after(line, "invalid target ID '", "'");
    if (!arch) {
      arch = quoted_after(line, "gpu architecture: ", ";,");
    }
    if (!arch) {
      // "... for ABI version 500" is the same message about something else.
      arch = quoted_after(line, "cannot find ROCm device library for gfx", "; ");
      arch = arch ? std::optional("gfx" + *arch) : std::nullopt;
    }
    if (arch && !arch->empty()) {
      return RefusedArch{*arch, line};
    }
  }
  return std::nullopt;
}

} // namespace dcuop::probe
