// All operators of a kernel under way at once, with times.
#include "dcuop/superkernel/simulate.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <utility>

#include "machine.hpp"
#include "program.hpp"
#include "simulate_shape.hpp"
#include "simulate_verdicts.hpp"

namespace dcuop::superkernel {

namespace {

std::string place_text(const Machine& machine, const Instruction& instruction) {
  if (instruction.what == Opcode::wait_count) {
    return "flag " + std::to_string(instruction.object / 2);
  }
  switch (machine.rendezvous(instruction.object).cause) {
  case Cause::matmul:
    return "Matmul";
  case Cause::pair:
    return "CrossCoreWaitFlag";
  case Cause::mode0:
    return "CrossCoreWaitFlag mode 0";
  case Cause::sync_all:
    return "SyncAll";
  case Cause::barrier:
    break;
  }
  return "barrier";
}

void add_blocked(Run& run, std::size_t op, const std::string& at, Side side, std::uint32_t core) {
  for (Blocked& one : run.blocked) {
    if (one.op == op && one.at == at && one.cores.side == side) {
      one.cores.cores.push_back(core);
      return;
    }
  }
  run.blocked.push_back({op, at, {side, {core}}});
}

void note_standstill(const Machine& machine, const Kernel& kernel, Run& run) {
  for (const Machine::Waiting& one : machine.waiting()) {
    const Instruction& instruction = *one.instruction;
    const std::size_t op =
        instruction.what == Opcode::wait_count ? instruction.op : machine.rendezvous(instruction.object).op;
    add_blocked(run, op, place_text(machine, instruction), one.side, one.core);
  }
  for (const Side side : {Side::aic, Side::aiv}) {
    for (std::uint32_t core = 0; core < machine.core_count(side); ++core) {
      if (!machine.has_started(side, core)) {
        add_blocked(run, kernel.operators.front(), "no core", side, core);
      }
    }
  }
}

/// From each blocked core's last work on.
void add_stuck_spans(Run& run, double end) {
  std::map<std::pair<Side, std::uint32_t>, double> busy_until;
  for (const Span& span : run.spans) {
    double& until = busy_until[{span.side, span.core}];
    until = std::max(until, span.end);
  }
  for (const Blocked& one : run.blocked) {
    for (const std::uint32_t core : one.cores.cores) {
      const auto busy = busy_until.find({one.cores.side, core});
      const double since = busy == busy_until.end() ? run.start : busy->second;
      run.spans.push_back({one.op, one.cores.side, core, Span::What::stuck, since, end});
    }
  }
}

Run timed_run(const Scope& scope, const Options& options, const Kernel& kernel, double start, Detail detail) {
  Run run;
  run.operators = kernel.operators;
  run.aic = kernel.shape.blocks * kernel.shape.cubes;
  run.aiv = kernel.shape.blocks * kernel.shape.vectors;
  run.start = start;
  Machine machine(kernel.shape, kernel.resident, start, detail);
  Program program(scope, options, kernel, machine);
  machine.supply_from([&program](Side side, std::uint32_t core) { return program.extend(side, core); });
  do {
    machine.run();
  } while (machine.waiting().empty() && machine.start_next_blocks());
  run.is_finished = machine.waiting().empty() && machine.all_started();
  run.end = machine.end();
  run.spans = machine.spans();
  run.sync_points = machine.sync_points();
  if (!run.is_finished) {
    note_standstill(machine, kernel, run);
    // As long again as has passed, so that a picture shows it.
    const double shown = std::max(run.end + (run.end - start) * 0.15, run.end + 1);
    if (detail == Detail::timeline) {
      add_stuck_spans(run, shown);
    }
    run.end = shown;
  }
  return run;
}

} // namespace

Simulation simulate(const Scope& scope, Detail detail) {
  const Options options = parse_options(scope);
  const std::vector<Kernel> kernels = kernels_of(scope, options);
  Simulation simulation;
  for (const Kernel& kernel : kernels) {
    simulate_verdicts(scope, options, kernel, simulation);
  }
  std::stable_sort(simulation.faults.begin(), simulation.faults.end(),
                   [](const SimulatedFault& a, const SimulatedFault& b) { return a.op < b.op; });
  simulation.clashes = simulated_clashes(scope, kernels);
  simulation.has_all_times = std::all_of(scope.operators.begin(), scope.operators.end(),
                                         [](const Operator& op) { return op.times.has_value(); });
  if (detail == Detail::verdicts) {
    for (const Kernel& kernel : kernels) {
      Run run;
      run.aic = kernel.shape.blocks * kernel.shape.cubes;
      run.aiv = kernel.shape.blocks * kernel.shape.vectors;
      run.operators = kernel.operators;
      simulation.runs.push_back(run);
    }
    return simulation;
  }
  double now = 0;
  bool stopped = false;
  for (const Kernel& kernel : kernels) {
    if (stopped) {
      Run run;
      run.operators = kernel.operators;
      run.is_started = false;
      simulation.runs.push_back(run);
      continue;
    }
    simulation.runs.push_back(timed_run(scope, options, kernel, now, detail));
    now = simulation.runs.back().end + scope.platform.launch_gap_us.value_or(0);
    stopped = !simulation.runs.back().is_finished;
  }
  return simulation;
}

std::string ranges_text(const std::vector<std::uint32_t>& cores) {
  std::string text;
  for (std::size_t i = 0; i < cores.size();) {
    std::size_t last = i;
    while (last + 1 < cores.size() && cores[last + 1] == cores[last] + 1) {
      ++last;
    }
    text += (text.empty() ? "" : ", ") + std::to_string(cores[i]);
    if (last > i) {
      text += "-" + std::to_string(cores[last]);
    }
    i = last + 1;
  }
  return text;
}

} // namespace dcuop::superkernel
