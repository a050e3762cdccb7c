// dcuop: parse, build the context, run one subcommand, say what went wrong.

#include <sys/resource.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <system_error>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/log.hpp"

namespace dcuop::cli {

namespace {

constexpr const char* footer =
    R"(Exit codes: 0 fine, 1 build failed or errors found, 2 usage, 3 environment, 4 lock timeout, 5 build forbidden.
More: dcuop COMMAND --help)";

struct GlobalOptions {
  bool quiet = false, verbose = false, json = false;
  std::map<std::string, std::string> settings; ///< name -> text, as given
  std::vector<std::string> arguments;
};

void add_global_options(const Subcommand& program, GlobalOptions& options) {
  program.flag("-q,--quiet", options.quiet, "No progress, no remarks");
  program.flag("-v,--verbose", options.verbose, "Details too");
  program.flag("--json", options.json, "The answer as JSON on stdout");
  const auto setting = [&](const char* flag, const char* name, const char* meaning) {
    program
        .text_option(
            flag, [&options, name](const std::string& text) { options.settings[name] = text; }, meaning)
        .type_name("TEXT");
  };
  setting("--cache-dir", "cache_dir", "The cache (default: $XDG_CACHE_HOME/dcuop)");
  setting("--python", "python", "The Python that extensions are for");
  setting("--lang", "lang", "Language of reports: auto, en, zh");
}

void print_error(Terminal& terminal, const Error& error) {
  if (terminal.options().json) {
    const nlohmann::json document = {
        {"schema", 1},
        {"error",
         {{"message", error.what()}, {"hint", error.hint}, {"exit_code", static_cast<int>(error.code)}}}};
    terminal.answer(json_text(document, 2));
    return;
  }
  const std::string message = error.what();
  // A message with a place ("file:7:1: error: ...") says "error" itself.
  const bool placed = message.find(": error: ") != std::string::npos;
  terminal.error(placed ? message : terminal.styled_error("error:", Style::red) + " " + message);
  if (!error.hint.empty()) {
    terminal.error("  " + terminal.styled_error("fix:", Style::bold) + " " + error.hint);
  }
}

/// Without: every relative path would be a riddle, and so would "the op one stands in".
std::filesystem::path working_directory() {
  std::error_code error;
  std::filesystem::path here = std::filesystem::current_path(error);
  if (error) {
    throw Error(ExitCode::environment,
                "the directory that dcuop was started in cannot be told: " + error.message(),
                "it was removed, or one above it may not be read: cd somewhere else");
  }
  return here;
}

/// Where files cannot be opened any more, headers seem to be missing and compilers fail for no fault of the op.
void make_room_for_open_files() {
  constexpr rlim_t wanted = 1024;
  constexpr rlim_t least = 64;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur >= wanted) {
    return;
  }
  const rlim_t given = limit.rlim_cur;
  limit.rlim_cur = std::min(wanted, limit.rlim_max);
  if (::setrlimit(RLIMIT_NOFILE, &limit) != 0) {
    limit.rlim_cur = given;
  }
  if (limit.rlim_cur < least) {
    throw Error(ExitCode::environment,
                "only " + std::to_string(limit.rlim_cur) +
                    " files may be open at once, dcuop and compilers need " + std::to_string(least),
                "raise the limit: ulimit -n " + std::to_string(wanted));
  }
}

/// Probes read DCUOP_HIPCC and DCUOP_NVCC; what the user's config.toml names counts as these.
Environment with_programs(const Environment& environment, const Config& config) {
  Environment changed = environment;
  for (const char* name : {"hipcc", "nvcc"}) {
    const auto setting = std::find_if(settings().begin(), settings().end(),
                                      [&](const Setting& known) { return known.name == name; });
    const Value& value = config.value(name);
    if (!value.text.empty() && value.origin != setting->variable) {
      changed.set(setting->variable, value.text);
    }
  }
  return changed;
}

ExitCode run_subcommand(const Commands& commands, const GlobalOptions& options, Environment environment,
                        Terminal& terminal) {
  try {
    make_room_for_open_files();
    const std::filesystem::path here = working_directory();
    const auto asked = std::make_shared<AskedVariables>();
    environment.note_in(asked);
    configure_log(environment);
    const Config config = Config::load(environment, options.settings);
    for (const std::string& remark : config.remarks()) {
      terminal.remark(remark);
    }
    SystemProcessRunner processes;
    const Environment known = with_programs(environment, config);
    Context context{known, here, processes, terminal, config, asked, options.arguments, {}, nullptr, nullptr};
    for (const auto& [subcommand, run] : commands.all) {
      if (subcommand.is_parsed()) {
        return run(context);
      }
    }
    return ExitCode::usage;
  } catch (const Error& error) {
    print_error(terminal, error);
    return error.code;
  } catch (const std::exception& fault) {
    print_error(terminal, Error(ExitCode::failed,
                                std::string("dcuop met something that it does not know: ") + fault.what(),
                                "please report it with the command and DCUOP_LOG=debug's output"));
    return ExitCode::failed;
  }
}

void print_warnings(Terminal& terminal) {
  for (const std::string& warning : take_warnings()) {
    terminal.remark(terminal.styled_error("warning:", Style::yellow) + " " + warning);
  }
}

struct Named {
  std::string_view name;
  void (*add)(Commands&);
};

/// In the order of --help.
constexpr Named subcommands[] = {
    {"new", add_new},
    {"build", add_build},
    {"list", add_list},
    {"clean", add_clean},
    {"cache", add_cache},
    {"doctor", add_doctor},
    {"rule", add_rule},
    {"check", add_check},
    {"inspect", add_inspect},
    {"verify", add_verify},
    {"superkernel", add_superkernel},
    {"env", add_env},
    {"key", add_key},
    {"explain", add_explain},
    {"config", add_config},
};

/// The one that `first` names, else all: describing every option of every subcommand is a sixth of the work of a hit.
void add_subcommands(Commands& commands, std::string_view first) {
  const auto named = std::find_if(std::begin(subcommands), std::end(subcommands),
                                  [&](const Named& subcommand) { return subcommand.name == first; });
  if (named != std::end(subcommands)) {
    named->add(commands);
    return;
  }
  for (const Named& subcommand : subcommands) {
    subcommand.add(commands);
  }
}

} // namespace

int run_program(int argc, char** argv) {
  const Environment environment = Environment::of_this_process();
  const CommandLine line(
      "dcuop builds, caches, loads and diagnoses PyTorch operator extensions written in HIP\n"
      "(Hygon DCU, AMD ROCm).",
      "dcuop " DCUOP_VERSION);
  line.program().footer(footer);
  GlobalOptions options;
  options.arguments.assign(argv + std::min(argc, 1), argv + argc);
  add_global_options(line.program(), options);
  Commands commands{line.program(), {}};
  add_subcommands(commands, argc > 1 ? argv[1] : "");
  try {
    if (const std::optional<int> code = line.parse(argc, argv)) {
      return *code;
    }
  } catch (const Error& fault) {
    Terminal terminal(environment, {options.quiet, options.verbose, options.json});
    print_error(terminal, fault);
    return static_cast<int>(fault.code);
  }
  install_termination_handlers();
  Terminal terminal(environment, {options.quiet, options.verbose, options.json});
  const ExitCode code = run_subcommand(commands, options, environment, terminal);
  print_warnings(terminal);
  return static_cast<int>(code);
}

} // namespace dcuop::cli

int main(int argc, char** argv) {
  try {
    return dcuop::cli::run_program(argc, argv);
  } catch (const std::exception& fault) { // before there is a Terminal to say it
    std::fputs("dcuop: ", stderr);
    std::fputs(fault.what(), stderr);
    std::fputs("\n", stderr);
    return static_cast<int>(dcuop::ExitCode::failed);
  }
}
