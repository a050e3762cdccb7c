#include "compile.hpp"

#include <time.h>

#include <algorithm>
#include <future>

#include "dcuop/key/compiler_report.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/steps.hpp"
#include "dcuop/support/text.hpp"

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

Words base_command(const key::Request& request, const key::UnitRequest& unit, const Words& flags) {
  Words argv = {unit.compiler.program.string()};
  argv.insert(argv.end(), flags.begin(), flags.end());
  if (unit.compiler.family != probe::Family::unknown) {
    argv.push_back(prefix_map(request));
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
  // -Wno-error=...: a note to dcuop must not fail a build that the user runs with -Werror.
  pass.argv.insert(pass.argv.end(), {"-Wdate-time", "-Wno-error=date-time", "-v", "-MD", "-MF",
                                     pass.depfile.string(), "-c", "-o", pass.output.string()});
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

PassResult run_pass(const key::Request& request, const Pass& pass, const fs::path& directory,
                    ProcessRunner& processes) {
  Environment environment = request.environment;
  environment.set("TMPDIR", directory.string());
  PassResult result;
  result.process = processes.run({pass.argv, request.op.directory, environment, std::nullopt, {}});
  if (result.process.ok()) {
    const std::string depfile = read_file(pass.depfile).value_or("");
    result.report.files = pass.name == "link" ? key::parse_link_depfile(depfile, request.op.directory)
                                              : key::parse_depfile(depfile, request.op.directory);
    result.report.search_directories =
        key::parse_search_directories(result.process.diagnostics, request.op.directory);
  }
  return result;
}

/// What people want to read of a -v run: without the driver's own talk.
std::string diagnostics_for_people(const std::string& diagnostics) {
  std::string kept;
  bool in_list = false;
  for (const std::string& line : split(diagnostics, '\n')) {
    const bool starts_list = line.find("search starts here:") != std::string::npos;
    const bool ends_list = line.starts_with("End of search list.");
    const auto is = [&](std::string_view prefix) { return line.starts_with(prefix); };
    const bool talk =
        starts_list || ends_list || in_list || is(" \"/") || is(" /") || is("ignoring ") || is("Target: ") ||
        is("Thread model: ") || is("InstalledDir: ") || is("Found ") || is("Selected ") || is("Candidate ") ||
        is("clang -cc1 version ") || is("Using built-in specs") || is("COLLECT_") || is("OFFLOAD_TARGET") ||
        is("Configured with:") || is("Supported LTO") || is("gcc version ") || is("GNU C") ||
        is("\tcompiled by GNU") || is("GGC heuristics") || is("Compiler executable checksum") ||
        is("COMPILER_PATH=") || is("LIBRARY_PATH=") || is("GNU assembler version") || is("warning: ") ||
        is("Debian clang version") || is("clang version ") || is("AMD clang version") || is("hipcc-cmd:");
    in_list = (in_list || starts_list) && !ends_list;
    if (!talk) {
      kept += line + "\n";
    }
  }
  return kept;
}

std::string log_of(const Pass& pass, const ProcessResult& process) {
  return "$ " + shell_quoted(pass.argv) + "\n" + process.output + diagnostics_for_people(process.diagnostics);
}

bool names_a_date(const std::string& diagnostics) {
  return diagnostics.find("[-Wdate-time]") != std::string::npos;
}

/// -Wdate-time says nothing in system headers, under -w or under a pragma, so the texts are looked through as well.
/// A line comment that names one does not count.
bool names_a_date_in(const std::string& text) {
  for (const char* macro : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
    for (std::size_t at = text.find(macro); at != std::string::npos; at = text.find(macro, at + 1)) {
      const std::size_t line = text.rfind('\n', at) + 1; // npos + 1 is 0
      if (text.substr(line, at - line).find("//") == std::string::npos) {
        return true;
      }
    }
  }
  return false;
}

/// What a unit's inputs hold that a depfile does not tell of.
void find_hidden_inputs(const key::Request& request, StepResult& step) {
  for (const key::Input& input : step.inputs.inputs) {
    const fs::path path = request.base.absolute(input.path);
    const std::optional<std::string> text = read_file(path);
    if (!text) {
      continue;
    }
    if (text->find(".incbin") != std::string::npos) {
      step.uncacheable.push_back(input.path + " has .incbin: the file that it takes in is not followed");
    }
    if (names_a_date_in(*text)) {
      step.uncacheable.push_back(input.path + " names __DATE__, __TIME__ or __TIMESTAMP__");
    }
  }
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

void take_inputs(StepResult& step, key::Collected&& collected) {
  step.inputs = std::move(collected.set);
  for (const std::string& file : collected.unreadable) {
    step.uncacheable.push_back("input " + file + " could not be read again");
  }
  if (step.inputs.inputs.empty()) {
    step.uncacheable.emplace_back("the compiler did not say what it read");
  }
}

StepResult collect(const key::Request& request, const key::UnitRequest& unit, const fs::path& directory,
                   std::vector<PassResult>& passes) {
  StepResult step;
  step.ok = true;
  std::vector<key::PassReport> reports;
  for (PassResult& pass : passes) {
    step.wall = std::max(step.wall, pass.process.wall);
    step.peak_memory = std::max(step.peak_memory, pass.process.peak_memory);
    reports.push_back(std::move(pass.report));
  }
  DigestMemo nothing_known{fs::path{}};
  take_inputs(step, key::collect_inputs(unit.name(), reports, request.base, directory, nothing_known));
  find_hidden_inputs(request, step);
  check_abi_none(request, step);
  return step;
}

std::string step_name(const key::UnitRequest& unit) {
  return unit.archs.empty() ? unit.name() : unit.name() + " (" + join(unit.archs, ", ") + ")";
}

StepResult failed(const std::string& step, const Pass& pass, PassResult&& result) {
  StepResult failure;
  failure.log = log_of(pass, result.process);
  failure.failure = {step, pass.argv, std::move(result.process), {}};
  failure.failure.log =
      failure.failure.result.output + diagnostics_for_people(failure.failure.result.diagnostics);
  failure.wall = failure.failure.result.wall;
  return failure;
}

/// What changed since `start` may be in the result, or not: it must not be published.
void note_changes(const key::Request& request, std::int64_t start, const char* doing, StepResult& step) {
  for (const std::string& changed :
       {key::changed_since(step.inputs, request.base, start), key::changed_fixed_file(request)}) {
    if (!changed.empty()) {
      step.uncacheable.push_back(std::string(changed).append(" changed while it was being ").append(doing));
    }
  }
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

StepResult compile_unit(const key::Request& request, const key::UnitRequest& unit, const fs::path& directory,
                        ProcessRunner& processes) {
  const std::int64_t start = fresh_coarse_tick();
  std::vector<Pass> passes = {compile_pass(request, unit, directory)};
  if (!unit.archs.empty()) { // one pass is all there is for a host unit: its own depfile is complete
    for (Pass& pass : dependency_passes(request, unit, directory)) {
      passes.push_back(std::move(pass));
    }
  }
  // The dependency passes run in the compile's shadow, one after another.
  std::vector<PassResult> results(passes.size());
  std::future<void> shadow = std::async(std::launch::async, [&] {
    for (std::size_t index = 1; index < passes.size(); ++index) {
      results[index] = run_pass(request, passes[index], directory, processes);
    }
  });
  results[0] = run_pass(request, passes[0], directory, processes);
  shadow.get();
  reach_step();
  for (std::size_t index = 0; index < passes.size(); ++index) {
    if (!results[index].process.ok()) {
      return failed(step_name(unit), passes[index], std::move(results[index]));
    }
  }
  const bool dated = names_a_date(results[0].process.diagnostics);
  const std::string log = log_of(passes[0], results[0].process);
  const std::chrono::milliseconds wall = results[0].process.wall;
  StepResult step = collect(request, unit, directory, results);
  step.log = log;
  step.wall = wall;
  if (dated) {
    step.uncacheable.emplace_back("it names __DATE__, __TIME__ or __TIMESTAMP__ (-Wdate-time)");
  }
  note_changes(request, start, "compiled", step);
  for (const Pass& pass : passes) {
    std::error_code ignored;
    fs::remove(pass.depfile, ignored);
  }
  return step;
}

StepResult ask_dependencies(const key::Request& request, const key::UnitRequest& unit,
                            const fs::path& directory, ProcessRunner& processes) {
  const std::int64_t start = fresh_coarse_tick();
  std::vector<Pass> passes = dependency_passes(request, unit, directory);
  std::vector<PassResult> results;
  for (const Pass& pass : passes) {
    results.push_back(run_pass(request, pass, directory, processes));
    if (!results.back().process.ok()) {
      return failed(step_name(unit), pass, std::move(results.back()));
    }
  }
  StepResult step = collect(request, unit, directory, results);
  note_changes(request, start, "read", step);
  return step;
}

StepResult link_objects(const key::Request& request, const std::vector<fs::path>& objects,
                        const fs::path& directory, ProcessRunner& processes, DigestMemo& memo) {
  const std::int64_t start = fresh_coarse_tick();
  Pass pass{
      "link", {request.link.compiler.program.string()}, directory / "link.d", directory / request.artifact};
  const auto append = [&](const Words& words) {
    pass.argv.insert(pass.argv.end(), words.begin(), words.end());
  };
  append(request.link.flags);
  append({"-v", "-Wl,--dependency-file=" + pass.depfile.string(), "-o", pass.output.string()});
  for (const fs::path& object : objects) {
    pass.argv.push_back(object.string());
  }
  append(request.link.libraries);
  PassResult result = run_pass(request, pass, directory, processes);
  reach_step();
  if (!result.process.ok()) {
    return failed("link", pass, std::move(result));
  }
  StepResult step;
  step.ok = true;
  step.log = log_of(pass, result.process);
  step.wall = result.process.wall;
  step.peak_memory = result.process.peak_memory;
  result.report.sought_names = names_of_libraries(request.link, result.report.files);
  std::erase_if(result.report.files, [&](const fs::path& file) {
    return std::find(objects.begin(), objects.end(), file) != objects.end();
  });
  result.report.search_directories =
      key::parse_library_directories(result.process.diagnostics, request.op.directory);
  take_inputs(step, key::collect_inputs("link", {result.report}, request.base, directory, memo));
  note_changes(request, start, "linked", step);
  std::error_code ignored;
  fs::remove(pass.depfile, ignored);
  return step;
}

Words compile_command(const key::Request& request, const key::UnitRequest& unit, const fs::path& output) {
  Words argv = base_command(request, unit, unit.flags);
  argv.insert(argv.end(), {"-c", "-o", output.string()});
  return with_source(std::move(argv), unit);
}

} // namespace dcuop::build
