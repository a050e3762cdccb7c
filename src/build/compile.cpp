#include "compile.hpp"

#include <time.h>

#include <algorithm>
#include <cctype>
#include <string_view>

#include "compiler_log.hpp"
#include "dcuop/key/collect_inputs.hpp"
#include "dcuop/key/compiler_report.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/steps.hpp"
#include "dcuop/support/text.hpp"
#include "hidden_inputs.hpp"

namespace dcuop::build {

namespace {

using Words = std::vector<std::string>;

/// A point after all that was written before it and before all that is written later, on the clock that the
/// kernel stamps ctime with: the coarse one, which stands still for a tick (up to 10 ms).
std::int64_t fresh_coarse_tick() {
  const auto now = [] {
    timespec time{};
    clock_gettime(CLOCK_REALTIME_COARSE, &time);
    return std::int64_t{time.tv_sec} * 1'000'000'000 + time.tv_nsec;
  };
  const std::int64_t start = now();
  std::int64_t tick = now();
  while (tick == start) {
    const timespec millisecond{0, 1'000'000};
    nanosleep(&millisecond, nullptr);
    tick = now();
  }
  return tick;
}

std::string language_word(op::Language language) {
  switch (language) {
  case op::Language::hip:
    return "hip";
  case op::Language::cuda:
    return "cu";
  case op::Language::c:
    return "c";
  case op::Language::cxx:
    return "c++";
  }
  return "c++";
}

/// Debug information and __FILE__ must not name the checkout: a moved one is a hit.
std::string prefix_map(const key::Request& request) {
  return "-ffile-prefix-map=" + request.op.directory.string() + "=.";
}

/// For the host compiler behind nvcc, which hands them to a shell as they stand, and splits them at commas.
bool is_plain_word(const std::string& word) {
  return std::all_of(word.begin(), word.end(), [](unsigned char c) {
    return std::isalnum(c) != 0 || c >= 0x80 ||
           std::string_view("/._+-@%=:").find(static_cast<char>(c)) != std::string_view::npos;
  });
}

Words base_command(const key::Request& request, const key::UnitRequest& unit, const Words& flags) {
  Words argv = {unit.compiler.program.string()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  if (unit.host_compiler) {
    argv.insert(argv.end(), {"-ccbin", unit.host_compiler->program.string()});
    if (const std::string map = prefix_map(request); is_plain_word(map)) {
      argv.push_back("-Xcompiler=" + map);
    }
    if (unit.host_compiler->family == probe::Family::gcc) {
      argv.emplace_back("-Xcompiler=-fno-canonical-system-headers");
    }
    return argv;
  }
  if (unit.compiler.family != probe::Family::unknown) {
    argv.push_back(prefix_map(request));
  }
  if (unit.compiler.family == probe::Family::gcc) {
    // Else depfiles hide the links that led to a header, and four of five file calls are realpath(3)'s.
    argv.emplace_back("-fno-canonical-system-headers");
  }
  return argv;
}

Words with_source(Words argv, const key::UnitRequest& unit) {
  argv.insert(argv.end(), {"-x", language_word(unit.source.language), unit.source.path.string()});
  return argv;
}

/// One compiler call that writes a depfile and, through -v, its search directories.
struct Pass {
  std::string name; ///< "compile", "host", "gfx906"
  Words argv;
  fs::path depfile;
  fs::path output; ///< "" for a dependency pass
};

Pass compile_pass(const key::Request& request, const key::UnitRequest& unit, const fs::path& directory) {
  Pass pass{"compile", base_command(request, unit, unit.flags), directory / "compile.d",
            directory / object_name};
  if (unit.host_compiler && pass.output.string().find_first_of("$`\"\\\n") != std::string::npos) {
    throw Error(ExitCode::environment,
                "nvcc hands the path of what it is to write to a shell, and " + directory.string() +
                    " has a character that means something there",
                "choose another cache, with --cache-dir or DCUOP_CACHE_DIR");
  }
  // -Wno-error=...: a note to dcuop must not fail a build that the user runs with -Werror.
  const Words notes = unit.host_compiler ? Words{"-Xcompiler=-Wdate-time,-Wno-error=date-time,-v"}
                                         : Words{"-Wdate-time", "-Wno-error=date-time", "-v"};
  pass.argv.insert(pass.argv.end(), notes.begin(), notes.end());
  pass.argv.insert(pass.argv.end(), {"-MD", "-MF", pass.depfile.string(), "-c", "-o", pass.output.string()});
  pass.argv = with_source(std::move(pass.argv), unit);
  return pass;
}

std::vector<Pass> dependency_passes(const key::Request& request, const key::UnitRequest& unit,
                                    const fs::path& directory) {
  std::vector<Pass> passes;
  const auto add = [&](const std::string& name, const Words& selection) {
    Words flags = unit.flags_without_archs;
    flags.insert(flags.end(), selection.begin(), selection.end());
    Pass pass{name,
              base_command(request, unit, flags),
              directory / ("pass" + std::to_string(passes.size()) + ".d"),
              {}};
    pass.argv.insert(pass.argv.end(), {"-v", "-M", "-MF", pass.depfile.string()});
    pass.argv = with_source(std::move(pass.argv), unit);
    passes.push_back(std::move(pass));
  };
  if (unit.archs.empty()) {
    add("dependencies", {});
    return passes;
  }
  if (unit.host_compiler) { // nvcc runs a pass for each arch and one for the host, and unites what they read
    Pass pass{"dependencies", base_command(request, unit, unit.flags), directory / "pass0.d", {}};
    pass.argv.insert(pass.argv.end(), {"-Xcompiler=-v", "-M", "-MF", pass.depfile.string()});
    pass.argv = with_source(std::move(pass.argv), unit);
    passes.push_back(std::move(pass));
    return passes;
  }
  Words all = {"--cuda-host-only"};
  for (const std::string& arch : unit.archs) {
    all.push_back("--offload-arch=" + arch);
  }
  add("host", all);
  for (const std::string& arch : unit.archs) {
    add(arch, {"--cuda-device-only", "--offload-arch=" + arch});
  }
  return passes;
}

struct PassResult {
  ProcessResult process;
  key::PassReport report;
};

PassResult run_pass(const key::Request& request, const Pass& pass, const Bench& bench) {
  Environment environment = request.environment;
  environment.set("TMPDIR", bench.directory.string());
  PassResult result;
  result.process =
      bench.processes.run({pass.argv, request.op.directory, environment, std::nullopt, {}, {}, bench.trace});
  if (result.process.ok()) {
    const std::string depfile = read_file(pass.depfile).value_or("");
    result.report.files = pass.name == "link" ? key::parse_link_depfile(depfile, request.op.directory)
                                              : key::parse_depfile(depfile, request.op.directory);
    result.report.search_directories =
        key::parse_search_directories(result.process.diagnostics, request.op.directory);
  }
  std::error_code ignored;
  fs::remove(pass.depfile, ignored);
  return result;
}

void check_abi_none(const key::Request& request, StepResult& step) {
  if (request.op.abi != op::Abi::none) {
    return;
  }
  for (const key::Input& input : step.inputs.inputs) {
    for (const char* header : {"/torch/csrc/", "/ATen/", "/c10/"}) {
      if (input.path.find(header) != std::string::npos && input.path.find("/include/") != std::string::npos) {
        throw Error(ExitCode::usage,
                    request.op.manifest.string() + ": error: abi = \"none\", but a source reads " +
                        input.path,
                    "set abi = \"torch\" or \"torch-python\": the result depends on this torch");
      }
    }
  }
}

void note_change(const std::string& changed, const char* doing, StepResult& step) {
  if (!changed.empty()) {
    step.uncacheable.push_back(std::string(changed).append(" changed while it was being ").append(doing));
  }
}

void take_inputs(StepResult& step, key::Collected&& collected, const char* doing) {
  step.inputs = std::move(collected.set);
  if (!collected.is_complete) {
    step.uncacheable.emplace_back(
        "it runs something that cannot be followed (another mount table or root, a 32-bit or "
        "setuid program, ptrace, io_uring)");
  }
  for (const std::string& file : collected.unreadable) {
    step.uncacheable.push_back("input " + file + " could not be read again");
  }
  for (const std::string& file : collected.changed) {
    note_change(file, doing, step);
  }
  if (step.inputs.inputs.empty()) {
    step.uncacheable.emplace_back("the compiler did not say what it read");
  }
}

std::string step_name(const key::UnitRequest& unit) {
  return unit.archs.empty() ? unit.name() : unit.name() + " (" + join(unit.archs, ", ") + ")";
}

StepResult failed(const std::string& step, const Pass& pass, PassResult&& result) {
  StepResult failure;
  failure.log = log_of(pass.argv, result.process);
  failure.failure = {step, pass.argv, std::move(result.process), {}};
  failure.failure.log =
      failure.failure.result.output + diagnostics_for_people(failure.failure.result.diagnostics);
  failure.wall = failure.failure.result.wall;
  return failure;
}

StepResult succeeded(const Pass& pass, const ProcessResult& process) {
  StepResult step;
  step.ok = true;
  step.log = log_of(pass.argv, process);
  step.wall = process.wall;
  step.peak_memory = process.peak_memory;
  return step;
}

/// What changed since `start`, when nobody saw what was there as it was read, may be in the result, or not: it must not
/// be published.
void note_changes(const key::Request& request, std::optional<std::int64_t> start, const char* doing,
                  StepResult& step) {
  if (start) {
    note_change(key::changed_since(step.inputs, request.base, *start), doing, step);
  }
  note_change(key::changed_fixed_file(request), doing, step);
}

/// The passes of one hipcc call overwrite one depfile, and a header that only one of them reads would be lost: so where
/// the compiler was not traced, each is asked by itself. nullopt, and `failure`, when one of them fails.
std::optional<std::vector<key::PassReport>> report_dependencies(const key::Request& request,
                                                                const key::UnitRequest& unit,
                                                                const Bench& bench, StepResult& failure) {
  std::vector<key::PassReport> reports;
  for (const Pass& pass : dependency_passes(request, unit, bench.directory)) {
    PassResult result = run_pass(request, pass, bench);
    if (!result.process.ok()) {
      failure = failed(step_name(unit), pass, std::move(result));
      return std::nullopt;
    }
    reports.push_back(std::move(result.report));
  }
  return reports;
}

/// -lfoo can mean libfoo.so or libfoo.a: the one that was not found may appear before the one that was.
std::vector<std::string> names_of_libraries(const key::LinkRequest& link,
                                            const std::vector<fs::path>& found) {
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    names.push_back("lib" + name + ".so");
    names.push_back("lib" + name + ".a");
  };
  for (const Words* words : {&link.flags, &link.libraries}) {
    for (const std::string& word : *words) {
      if (word.starts_with("-l")) {
        add(word.substr(2));
      }
    }
  }
  for (const fs::path& file : found) {
    const std::string name = file.filename().string();
    if (name.starts_with("lib")) {
      add(name.substr(3, name.find('.') - 3));
    }
  }
  return names;
}

} // namespace

StepResult compile_unit(const key::Request& request, const key::UnitRequest& unit, const Bench& bench) {
  const std::int64_t start = fresh_coarse_tick();
  const Pass pass = compile_pass(request, unit, bench.directory);
  PassResult result = run_pass(request, pass, bench);
  reach_step();
  if (!result.process.ok()) {
    return failed(step_name(unit), pass, std::move(result));
  }
  StepResult step = succeeded(pass, result.process);
  const key::Part part{unit.name(), bench.directory, {}};
  const std::optional<Trace>& trace = result.process.trace;
  const bool was_traced = trace && !trace->asked_a_server;
  key::Collected collected =
      trace ? key::collect_traced(part, *trace, request.base, bench.memo) : key::Collected{};
  if (!was_traced) {
    std::vector<key::PassReport> reports = {result.report};
    // One pass is all there is for a host unit, and nvcc's depfile is of all its passes.
    if (!unit.archs.empty() && !unit.host_compiler) {
      StepResult failure;
      std::optional<std::vector<key::PassReport>> all = report_dependencies(request, unit, bench, failure);
      if (!all) {
        return failure;
      }
      reports.insert(reports.end(), all->begin(), all->end());
    }
    key::Collected reported = key::collect_reported(part, reports, request.base, bench.memo);
    collected =
        trace ? key::unite(std::move(collected), std::move(reported), request.base) : std::move(reported);
  }
  take_inputs(step, std::move(collected), "compiled");
  note_changes(request, was_traced ? std::nullopt : std::optional(start), "compiled", step);
  const std::vector<std::string> hidden = hidden_inputs(step.inputs, request.base, was_traced);
  step.uncacheable.insert(step.uncacheable.end(), hidden.begin(), hidden.end());
  if (names_a_date(result.process.diagnostics)) {
    step.uncacheable.emplace_back("it names __DATE__, __TIME__ or __TIMESTAMP__ (-Wdate-time)");
  }
  check_abi_none(request, step);
  return step;
}

StepResult ask_dependencies(const key::Request& request, const key::UnitRequest& unit, const Bench& bench) {
  const std::int64_t start = fresh_coarse_tick();
  StepResult step;
  const std::optional<std::vector<key::PassReport>> reports = report_dependencies(request, unit, bench, step);
  if (!reports) {
    return step;
  }
  step.ok = true;
  take_inputs(step,
              key::collect_reported({unit.name(), bench.directory, {}}, *reports, request.base, bench.memo),
              "read");
  note_changes(request, start, "read", step);
  const std::vector<std::string> hidden = hidden_inputs(step.inputs, request.base, false);
  step.uncacheable.insert(step.uncacheable.end(), hidden.begin(), hidden.end());
  return step;
}

StepResult link_objects(const key::Request& request, const std::vector<fs::path>& objects,
                        const Bench& bench) {
  const std::int64_t start = fresh_coarse_tick();
  Pass pass{"link",
            {request.link.compiler.program.string()},
            bench.directory / "link.d",
            bench.directory / request.artifact};
  const auto append = [&](const Words& words) {
    pass.argv.insert(pass.argv.end(), words.begin(), words.end());
  };
  append(request.link.flags);
  append({"-v", "-Wl,--dependency-file=" + pass.depfile.string(), "-o", pass.output.string()});
  for (const fs::path& object : objects) {
    pass.argv.push_back(object.string());
  }
  append(request.link.libraries);
  PassResult result = run_pass(request, pass, bench);
  reach_step();
  if (!result.process.ok()) {
    return failed("link", pass, std::move(result));
  }
  StepResult step = succeeded(pass, result.process);
  const key::Part part{"link", bench.directory, objects};
  result.report.sought_names = names_of_libraries(request.link, result.report.files);
  result.report.search_directories =
      key::parse_library_directories(result.process.diagnostics, request.op.directory);
  const std::optional<Trace>& trace = result.process.trace;
  const bool was_traced = trace && !trace->asked_a_server;
  key::Collected collected =
      trace ? key::collect_traced(part, *trace, request.base, bench.memo) : key::Collected{};
  if (!was_traced) {
    key::Collected reported = key::collect_reported(part, {result.report}, request.base, bench.memo);
    collected =
        trace ? key::unite(std::move(collected), std::move(reported), request.base) : std::move(reported);
  }
  take_inputs(step, std::move(collected), "linked");
  note_changes(request, was_traced ? std::nullopt : std::optional(start), "linked", step);
  return step;
}

Words compile_command(const key::Request& request, const key::UnitRequest& unit, const fs::path& output) {
  Words argv = base_command(request, unit, unit.flags);
  argv.insert(argv.end(), {"-c", "-o", output.string()});
  return with_source(std::move(argv), unit);
}

} // namespace dcuop::build
