// The predicates against the simulation.
#include <algorithm>

#include "dcuop/superkernel/simulate.hpp"

namespace dcuop::superkernel {

namespace {

std::string fault_text(const FaultAt& at, bool with_counts) {
  std::string text = to_string(at.fault) + " " + to_string(at.side) + " flag " + std::to_string(at.flag);
  const bool is_counted = at.fault != Fault::device_short && at.fault != Fault::set_next_uneven &&
                          at.fault != Fault::wait_previous_uneven;
  if (with_counts && is_counted) {
    text += " " + std::to_string(at.waiting) + " of " + std::to_string(at.expected);
  }
  return text;
}

std::string joined(std::vector<std::string> parts) {
  std::sort(parts.begin(), parts.end());
  std::string text;
  for (const std::string& part : parts) {
    text += (text.empty() ? "" : "; ") + part;
  }
  return text.empty() ? "nothing" : text;
}

std::string launch_text(std::uint32_t aic, std::uint32_t aiv) {
  return std::to_string(aic) + " AIC + " + std::to_string(aiv) + " AIV";
}

} // namespace

std::string disagreement(const Scope& scope, const Judgement& judgement, const Simulation& simulation) {
  if (judgement.segments.size() != simulation.runs.size()) {
    return std::to_string(judgement.segments.size()) +
           " kernels, simulated: " + std::to_string(simulation.runs.size());
  }
  for (std::size_t i = 0; i < judgement.segments.size(); ++i) {
    const Segment& segment = judgement.segments[i];
    const Run& run = simulation.runs[i];
    const std::string ruled = launch_text(segment.launch.aic, segment.launch.aiv);
    if (segment.operators != run.operators || (run.is_started && ruled != launch_text(run.aic, run.aiv))) {
      return "kernel " + std::to_string(i) + ": " + ruled + " for " +
             std::to_string(segment.operators.size()) +
             " operators, simulated: " + launch_text(run.aic, run.aiv) + " for " +
             std::to_string(run.operators.size());
    }
  }
  for (std::size_t op = 0; op < scope.operators.size(); ++op) {
    const Verdict& verdict = judgement.operators[op];
    const Segment& segment = judgement.segments[verdict.segment];
    // Of a kernel that the device cannot hold at once, blocks that have not begun are not counted.
    const bool counts = resident_blocks(segment.launch, scope.platform) == segment.launch.blocks;
    std::vector<std::string> ruled, simulated;
    for (const FaultAt& at : verdict.faults) {
      ruled.push_back(fault_text(at, counts));
    }
    for (const SimulatedFault& found : simulation.faults) {
      if (found.op == op) {
        simulated.push_back(fault_text(found.what, counts));
      }
    }
    if (!verdict.is_reached) {
      ruled.emplace_back("not reached");
    }
    if (std::count(simulation.not_reached.begin(), simulation.not_reached.end(), op) != 0) {
      simulated.emplace_back("not reached");
    }
    if (joined(ruled) != joined(simulated)) {
      return scope.operators[op].name + ": " + joined(ruled) + ", simulated: " + joined(simulated);
    }
  }
  const auto clashes = [](const std::vector<Clash>& all) {
    std::vector<std::string> parts;
    parts.reserve(all.size());
    for (const Clash& clash : all) {
      parts.push_back(std::to_string(clash.first) + " with " + std::to_string(clash.second));
    }
    return joined(parts);
  };
  if (clashes(judgement.clashes) != clashes(simulation.clashes)) {
    return "kernels that hold each other's cores: " + clashes(judgement.clashes) +
           ", simulated: " + clashes(simulation.clashes);
  }
  return {};
}

} // namespace dcuop::superkernel
