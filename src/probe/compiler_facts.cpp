#include "compiler_facts.hpp"

#include "dcuop/support/files.hpp"
#include "memo_values.hpp"
#include "rocm_files.hpp"
#include "wrapper_scripts.hpp"

namespace dcuop::probe {

namespace {

/// Nothing is remembered of a driver that did not answer: the cause may be gone at the next call.
struct NoAnswer {
  CompilerFacts facts;
};

CompilerFacts facts_in(const DriverReport& report) {
  CompilerFacts facts{report.family, report.version, report.version_line, report.target, {}};
  if (const auto* step = host_compile_step(report)) {
    facts.real_compiler = step->argv.front();
  }
  return facts;
}

std::vector<fs::path> witnesses_of(const fs::path& program, const DriverReport& report,
                                   const Environment& environment) {
  std::vector<fs::path> witnesses = {program};
  if (is_script(program)) {
    const auto scripts = helper_scripts(program);
    witnesses.insert(witnesses.end(), scripts.begin(), scripts.end());
    const auto decisions = wrapper_decision_paths(installation_roots(program, environment));
    witnesses.insert(witnesses.end(), decisions.begin(), decisions.end());
  }
  for (const auto& step : report.steps) {
    if (role_of(step) == "compiler" && fs::path(step.argv.front()).is_absolute()) {
      witnesses.emplace_back(step.argv.front());
    }
  }
  if (report.collect_gcc.is_absolute()) {
    witnesses.push_back(report.collect_gcc);
  }
  return witnesses;
}

} // namespace

CompilerFacts compiler_facts(const Machine& machine, const fs::path& program,
                             const std::vector<std::string>& arguments) {
  const auto temporary = fs::path(machine.environment.get_nonempty("TMPDIR").value_or("/tmp"));
  const auto environment = compile_environment(machine.environment, temporary);
  const auto ask = [&] {
    const auto answer = ask_driver(machine, program, arguments, environment);
    auto facts = facts_in(answer.report);
    if (facts.real_compiler.empty()) {
      throw NoAnswer{std::move(facts)};
    }
    std::vector<fs::path> witnesses = witnesses_of(program, answer.report, environment);
    witnesses.insert(witnesses.end(), answer.listed.begin(), answer.listed.end());
    return Answer{memo_text(facts), std::move(witnesses)};
  };
  try {
    const auto text =
        machine.memos.recall("compiler", driver_question(machine, program, arguments, environment), ask);
    const auto remembered = compiler_facts_from(text);
    return remembered ? *remembered : compiler_facts_from(ask().value).value_or(CompilerFacts{});
  } catch (const NoAnswer& no_answer) {
    return no_answer.facts;
  }
}

} // namespace dcuop::probe
