#include <nlohmann/json.hpp>

#include "dcuop/superkernel/plan.hpp"

namespace dcuop::superkernel {

namespace {

using nlohmann::json;

json phrase_json(const Phrase& phrase) {
  return phrase.en;
}

std::string why_text(Segment::Why why) {
  switch (why) {
  case Segment::Why::end:
    return "end";
  case Segment::Why::unfusible:
    return "unfusible";
  case Segment::Why::core_drop:
    return "core_drop";
  case Segment::Why::core_rise:
    return "core_rise";
  case Segment::Why::each_alone:
    break;
  }
  return "each_alone";
}

std::string kind_text(Fix::Kind kind) {
  switch (kind) {
  case Fix::Kind::option:
    return "option";
  case Fix::Kind::block_count:
    return "block_count";
  case Fix::Kind::tiling:
    return "tiling";
  case Fix::Kind::source:
    return "source";
  case Fix::Kind::own_scope:
    break;
  }
  return "own_scope";
}

json launch_json(const Launch& launch) {
  return {{"type", to_string(launch.type)},
          {"blocks", launch.blocks},
          {"aic", launch.aic},
          {"aiv", launch.aiv},
          {"forced", launch.is_forced}};
}

json kernel_json(const Scope& scope, const Plan& plan, std::size_t index) {
  const Segment& segment = plan.judgement.segments[index];
  json names = json::array();
  for (const std::size_t op : segment.operators) {
    names.push_back(scope.operators[op].name);
  }
  const bool is_last = index + 1 == plan.judgement.segments.size();
  return {{"operators", names},
          {"fused", segment.is_fused},
          {"launch", launch_json(segment.launch)},
          {"several_streams", segment.two_queues && scope.backend == Backend::ge},
          {"early_start", segment.early_start},
          {"ended_by", is_last ? json(nullptr) : json(why_text(segment.ended_by))},
          {"why", is_last ? json(nullptr) : phrase_json(split_text(scope, plan.judgement, index))}};
}

json fault_json(const FaultAt& at) {
  const bool is_flag = at.fault == Fault::flag_short || at.fault == Fault::flag_early;
  return {{"fault", to_string(at.fault)},
          {"waits_for_ever", waits_for_ever(at.fault)},
          {"side", at.fault == Fault::device_short ? json(nullptr) : json(to_string(at.side))},
          {"waiting", at.waiting},
          {"expected", at.expected == 0 ? json(nullptr) : json(at.expected)},
          {"flag", is_flag ? json(at.flag) : json(nullptr)}};
}

std::string verdict_text(const Verdict& verdict) {
  if (!verdict.is_reached) {
    return "not_reached";
  }
  if (verdict.faults.empty()) {
    return "fits";
  }
  for (const FaultAt& at : verdict.faults) {
    if (waits_for_ever(at.fault)) {
      return "hangs";
    }
  }
  return "wrong";
}

json operator_json(const Scope& scope, const Plan& plan, std::size_t index) {
  const Operator& op = scope.operators[index];
  const Verdict& verdict = plan.judgement.operators[index];
  json faults = json::array();
  for (const FaultAt& at : verdict.faults) {
    faults.push_back(fault_json(at));
  }
  json fixes = json::array();
  for (const Fix& fix : plan.operators[index].fixes) {
    fixes.push_back({{"kind", kind_text(fix.kind)}, {"text", fix.text.en}});
  }
  const std::string& recipe = plan.operators[index].recipe;
  return {{"name", op.name},
          {"op_type", op.op_type},
          {"kernel_type", to_string(op.type)},
          {"block_num", op.block_num},
          {"stream", op.stream},
          {"task", to_string(op.task)},
          {"line", op.place.line},
          {"kernel", verdict.segment},
          {"aic", verdict.aic},
          {"aiv", verdict.aiv},
          {"verdict", verdict_text(verdict)},
          {"says", fault_text(scope, plan.judgement, index).en},
          {"faults", faults},
          {"fixes", fixes},
          {"gm",
           {{"frequent", op.gm.frequent},
            {"assigns", op.gm.assigns},
            {"reads", op.gm.reads},
            {"writes", op.gm.writes}}},
          {"verify_alone", recipe.empty() ? json(nullptr) : json(recipe)}};
}

json overlap_json(const Scope& scope, const Overlap& overlap) {
  json parts = json::array();
  for (const Overlap::Part& part : overlap.parts) {
    const Operator& first = scope.operators[part.first];
    const Operator& second = scope.operators[part.second];
    parts.push_back({{"first", first.name},
                     {"second", second.name},
                     {"set_next_task_start", first.set_next != Call::none},
                     {"wait_pre_task_end", second.wait_previous != Call::none},
                     {"post_us", first.times->post},
                     {"skew_us", first.times->skew},
                     {"pre_us", second.times->pre},
                     {"at_most_us", part.at_most_us}});
  }
  return {{"at_most_us", overlap.at_most_us ? json(*overlap.at_most_us) : json(nullptr)},
          {"barrier_us", scope.platform.barrier_us},
          {"total_us", overlap.at_most_us ? json(overlap.total_us) : json(nullptr)},
          {"parts", parts},
          {"why_none", overlap.why_none.en.empty() ? json(nullptr) : json(overlap.why_none.en)}};
}

json cores_json(const CoreSet& set) {
  return {{"side", to_string(set.side)}, {"cores", ranges_text(set.cores)}};
}

json simulation_json(const Scope& scope, const Plan& plan, const Simulation& simulation) {
  json faults = json::array();
  for (const SimulatedFault& found : simulation.faults) {
    json entry = fault_json(found.what);
    entry["operator"] = scope.operators[found.op].name;
    entry["waiting_cores"] = ranges_text(found.waiting.cores);
    entry["missing_cores"] = found.missing.cores.empty() ? json(nullptr) : cores_json(found.missing);
    faults.push_back(entry);
  }
  json runs = json::array();
  for (const Run& run : simulation.runs) {
    json blocked = json::array();
    for (const Blocked& one : run.blocked) {
      json entry = cores_json(one.cores);
      entry["operator"] = scope.operators[one.op].name;
      entry["at"] = one.at;
      blocked.push_back(entry);
    }
    runs.push_back({{"started", run.is_started},
                    {"finished", run.is_finished},
                    {"start_us", run.start},
                    {"end_us", run.end},
                    {"blocked", blocked}});
  }
  const std::string difference = disagreement(scope, plan.judgement, simulation);
  return {{"faults", faults},
          {"runs", runs},
          {"times_given", simulation.has_all_times},
          {"disagreement", difference.empty() ? json(nullptr) : json(difference)}};
}

} // namespace

json to_json(const Scope& scope, const Plan& plan, const Simulation* simulation) {
  json kernels = json::array();
  for (std::size_t index = 0; index < plan.judgement.segments.size(); ++index) {
    kernels.push_back(kernel_json(scope, plan, index));
  }
  json operators = json::array();
  for (std::size_t index = 0; index < scope.operators.size(); ++index) {
    operators.push_back(operator_json(scope, plan, index));
  }
  json findings = json::array();
  for (const finding::Finding& finding : plan.findings) {
    findings.push_back(finding::to_json(finding));
  }
  json options = json::object();
  for (const auto& [key, value] : plan.options) {
    options[key] = value;
  }
  return {{"schema", 1},
          {"scope", scope.name},
          {"file", scope.file.string()},
          {"backend", to_string(scope.backend)},
          {"platform",
           {{"product", to_string(scope.platform.product)},
            {"aic", scope.platform.aic},
            {"aiv", scope.platform.aiv}}},
          {"kernels", kernels},
          {"operators", operators},
          {"options", {{"text", written(plan.options, scope.backend)}, {"values", options}}},
          {"overlap", overlap_json(scope, plan.overlap)},
          {"launches",
           {{"before", plan.kernels_before},
            {"after", plan.kernels_after},
            {"saved_us", plan.launches_save_us ? json(*plan.launches_save_us) : json(nullptr)}}},
          {"findings", findings},
          {"simulation", simulation == nullptr ? json(nullptr) : simulation_json(scope, plan, *simulation)}};
}

} // namespace dcuop::superkernel
