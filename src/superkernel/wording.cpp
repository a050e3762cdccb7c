// A plan in clauses: what a line of the report and the picture say of operators, launches and splits.
#include "findings.hpp"

namespace dcuop::superkernel {

std::string short_text(const Operator& op) {
  const std::string blocks = std::to_string(op.block_num);
  if (is_mix(op.type)) {
    return (op.type == KernelType::mix_aic_1_1 ? "1:1 " : "1:2 ") + blocks;
  }
  return to_string(uses(op.type, Side::aic) ? Side::aic : Side::aiv) + " " + blocks;
}

std::string launch_text(const Launch& launch) {
  std::string text = to_string(launch.type) + " x " + std::to_string(launch.blocks) + " (";
  if (launch.aic > 0) {
    text += std::to_string(launch.aic) + " AIC";
  }
  if (launch.aiv > 0) {
    text += (launch.aic > 0 ? " + " : "") + std::to_string(launch.aiv) + " AIV";
  }
  return text + ")";
}

Phrase fault_text(const Scope& scope, const Judgement& judgement, std::size_t op) {
  const Verdict& verdict = judgement.operators[op];
  if (!verdict.is_reached) {
    return {"is not reached", "不会执行到"};
  }
  if (verdict.faults.empty()) {
    return {"fits", "正常"};
  }
  const FaultAt& at = verdict.faults.front();
  const finding::Finding finding = fault_finding(scope, judgement, op, at);
  const std::string source = source_of(scope.operators[op], at.fault);
  const bool hangs = waits_for_ever(at.fault);
  return {(hangs ? "HANGS: " : "WRONG: ") + finding.summary + (source.empty() ? "" : " (" + source + ")"),
          (hangs ? "卡住：" : "出错：") + finding.chinese.summary +
              (source.empty() ? "" : "（" + source + "）")};
}

Phrase split_text(const Scope& scope, const Judgement& judgement, std::size_t segment) {
  const Segment& ended = judgement.segments[segment];
  const Segment& next = judgement.segments[segment + 1];
  const std::string begins = scope.operators[next.operators.front()].name;
  switch (ended.ended_by) {
  case Segment::Why::core_drop:
    return {begins + " is in batch mode and has fewer cores than those before it",
            begins + " 为 batch 模式，且核数少于之前的算子"};
  case Segment::Why::core_rise:
    return {begins + " needs more cores than a batch-mode operator before it has",
            begins + " 需要的核多于之前的 batch 模式算子"};
  case Segment::Why::each_alone:
    return {"debug_per_op_max_core_num makes a SuperKernel of each operator",
            "debug_per_op_max_core_num 使每个算子单独成为 SuperKernel"};
  case Segment::Why::unfusible:
  case Segment::Why::end:
    break;
  }
  const std::string name = next.is_fused ? scope.operators[ended.operators.back()].name : begins;
  return {name + " cannot be fused", name + " 不可融合"};
}

} // namespace dcuop::superkernel
