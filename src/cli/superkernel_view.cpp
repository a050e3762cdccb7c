#include "superkernel_view.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <string>
#include <vector>

#include "dcuop/support/terminal.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {

namespace {

using finding::LanguageOfText;
using superkernel::Call;
using superkernel::Fault;
using superkernel::Operator;
using superkernel::Phrase;
using superkernel::Plan;
using superkernel::Scope;
using superkernel::Segment;
using superkernel::Simulation;

/// "11 us", "2.5 us".
std::string microseconds(double value) {
  char text[48];
  std::snprintf(text, sizeof text, value == std::floor(value) ? "%.0f us" : "%.1f us", value);
  return text;
}

std::string padded(const std::string& text, std::size_t width) {
  const std::size_t used = display_width(text);
  return used < width ? text + std::string(width - used, ' ') : text;
}

class PlanView {
 public:
  PlanView(Terminal& terminal, const Scope& scope, const Plan& plan, const ReportStyle& style)
      : terminal_(terminal), scope_(scope), plan_(plan), style_(style),
        zh_(style.language == LanguageOfText::zh) {
    for (const Operator& op : scope.operators) {
      name_width_ = std::max(name_width_, display_width(op.name));
      type_width_ = std::max(type_width_, display_width(short_text(op)));
    }
  }

  void print() {
    for (std::size_t segment = 0; segment < plan_.judgement.segments.size(); ++segment) {
      print_segment(segment);
    }
    print_options();
    print_overlap();
    print_launches();
    print_recipe();
    print_rest();
  }

 private:
  [[nodiscard]] std::string say(const char* en, const char* zh) const { return zh_ ? zh : en; }

  /// A remark behind a statement.
  [[nodiscard]] std::string remark(const std::string& text) const {
    return zh_ ? "（" + text + "）" : " (" + text + ")";
  }

  void print_segment(std::size_t index) {
    const Segment& segment = plan_.judgement.segments[index];
    const std::size_t count = plan_.judgement.segments.size();
    const std::string ordinal =
        count == 1 ? "" : " " + std::to_string(index + 1) + "/" + std::to_string(count);
    std::string text = say("launch", "启动") + ordinal + say(": ", "：") + launch_text(segment.launch);
    if (!segment.is_fused) {
      text += say(", not fused", "，未融合");
    } else {
      const std::string size = std::to_string(segment.operators.size());
      const std::string backend = to_string(scope_.backend);
      text += say(", ", "，") + backend;
      text += count == 1 ? say(", one scope of ", "，一个 scope，共 ") + size + say("", " 个算子")
                         : say(", ", "，融合 ") + size + say(" fused", " 个算子");
    }
    if (segment.launch.is_forced) {
      text += say(", forced by the options", "，由选项强制");
    }
    terminal_.answer(text);
    for (const std::size_t op : segment.operators) {
      print_operator(op);
    }
    if (index + 1 < count) {
      terminal_.answer("  " +
                       terminal_.styled(say("split: ", "断开：") +
                                            split_text(scope_, plan_.judgement, index).in(style_.language),
                                        Style::dim));
    }
  }

  void print_operator(std::size_t index) {
    const Operator& op = scope_.operators[index];
    const superkernel::Verdict& verdict = plan_.judgement.operators[index];
    std::string text = fault_text(scope_, plan_.judgement, index).in(style_.language);
    if (verdict.faults.size() > 1) {
      const std::string more = std::to_string(verdict.faults.size() - 1);
      text += remark(zh_ ? "另有 " + more + " 处，--verbose" : "and " + more + " more, --verbose");
    }
    const bool is_bad = !verdict.faults.empty() || !verdict.is_reached;
    std::vector<std::string> fixes;
    for (const superkernel::Fix& fix : plan_.operators[index].fixes) {
      fixes.push_back(fix.text.in(style_.language));
    }
    std::string line = "  " + padded(op.name, name_width_) + "  " + padded(short_text(op), type_width_) +
                       "  " + (is_bad ? terminal_.styled(text, Style::red) : text);
    if (!fixes.empty()) {
      line += "   -> " + join(fixes, say(", or ", "，或 "));
    }
    terminal_.answer(line);
  }

  void print_options() {
    const std::string text = written(plan_.options, scope_.backend);
    terminal_.answer(say("options: ", "选项：") + (text.empty() ? say("none needed", "无需") : text));
  }

  /// "SetNextTaskStart in hc_pre; assumes post 11 us, given".
  [[nodiscard]] std::string inputs_of(const superkernel::Overlap::Part& part) const {
    const Operator& first = scope_.operators[part.first];
    const Operator& second = scope_.operators[part.second];
    std::vector<std::string> calls, inputs;
    if (first.set_next != Call::none) {
      calls.push_back((zh_ ? first.name + " 中的 SetNextTaskStart" : "SetNextTaskStart in " + first.name));
      inputs.push_back("post " + microseconds(first.times->post));
    }
    if (second.wait_previous != Call::none) {
      calls.push_back((zh_ ? second.name + " 中的 WaitPreTaskEnd" : "WaitPreTaskEnd in " + second.name));
      inputs.push_back("pre " + microseconds(second.times->pre));
      if (first.times->skew > 0) {
        inputs.push_back("skew " + microseconds(first.times->skew));
      }
      if (scope_.platform.barrier_us > 0) {
        inputs.push_back("barrier " + microseconds(scope_.platform.barrier_us));
      }
    }
    return join(calls, say(" and ", "、")) + say("; assumes ", "；假定已给出的 ") +
           join(inputs, say(", ", "、")) + say(", given", "");
  }

  void print_overlap() {
    const superkernel::Overlap& overlap = plan_.overlap;
    if (!overlap.at_most_us || overlap.parts.empty()) {
      terminal_.answer(say("overlap: ", "重叠：") +
                       (overlap.at_most_us ? say("none: ", "无：") : std::string()) +
                       overlap.why_none.in(style_.language));
      return;
    }
    std::string text =
        zh_ ? "重叠：至多 " + microseconds(*overlap.at_most_us) + "，共 " + microseconds(overlap.total_us)
            : "overlap: at most " + microseconds(*overlap.at_most_us) + " of " +
                  microseconds(overlap.total_us);
    if (overlap.parts.size() == 1) {
      terminal_.answer(text + remark(inputs_of(overlap.parts.front())));
      return;
    }
    terminal_.answer(text);
    for (const superkernel::Overlap::Part& part : overlap.parts) {
      terminal_.answer("  " + padded(microseconds(part.at_most_us), 8) + "  " + inputs_of(part));
    }
  }

  void print_launches() {
    if (plan_.kernels_before == plan_.kernels_after) {
      return;
    }
    const std::string counts =
        std::to_string(plan_.kernels_before) + " -> " + std::to_string(plan_.kernels_after);
    std::string saved = say("launch_gap_us is not given", "未给出 launch_gap_us");
    if (plan_.launches_save_us) {
      saved = zh_ ? "节省 " + microseconds(*plan_.launches_save_us) + "，按已给出的每个间隙 " +
                        microseconds(*scope_.platform.launch_gap_us)
                  : "saves " + microseconds(*plan_.launches_save_us) + ", " +
                        microseconds(*scope_.platform.launch_gap_us) + " a gap, given";
    }
    terminal_.answer(say("launches: ", "启动次数：") + counts + remark(saved));
  }

  void print_recipe() {
    std::vector<std::string> names;
    std::string recipe;
    for (std::size_t op = 0; op < scope_.operators.size(); ++op) {
      if (!plan_.operators[op].recipe.empty()) {
        names.push_back(scope_.operators[op].name);
        recipe = plan_.operators[op].recipe; // the same for all: the full device
      }
    }
    if (names.empty()) {
      return;
    }
    constexpr std::size_t shown = 8;
    std::string more;
    if (names.size() > shown) {
      const std::string count = std::to_string(names.size() - shown);
      more = zh_ ? " 等另外 " + count + " 个" : " and " + count + " more";
      names.resize(shown);
    }
    terminal_.answer(say("verify alone: ", "单算子验证：") + join(names, say(", ", "、")) + more +
                     say(" with ", "，选项 ") + recipe);
  }

  /// The operators' lines show DCU801 to DCU812, the launches' DCU814.
  [[nodiscard]] bool is_shown(const finding::Finding& finding) const {
    return !style_.notes && finding.rule <= "DCU814" && finding.rule != "DCU813";
  }

  void print_rest() {
    std::vector<finding::Finding> rest;
    std::copy_if(plan_.findings.begin(), plan_.findings.end(), std::back_inserter(rest),
                 [&](const finding::Finding& finding) { return !is_shown(finding); });
    print_findings(terminal_, rest, style_);
    if (!plan_.findings.empty()) {
      terminal_.answer("  " + count_line(plan_.findings, style_));
    }
  }

  Terminal& terminal_;
  const Scope& scope_;
  const Plan& plan_;
  const ReportStyle& style_;
  bool zh_;
  std::size_t name_width_ = 0;
  std::size_t type_width_ = 0;
};

// The simulation ---------------------------------------------------------------------------------------------------

std::string cores_text(const superkernel::CoreSet& set) {
  return to_string(set.side) + " " + superkernel::ranges_text(set.cores);
}

Phrase waits_at(const superkernel::SimulatedFault& found) {
  const std::string flag = std::to_string(found.what.flag);
  switch (found.what.fault) {
  case Fault::sync_all_short:
  case Fault::sync_all_skipped:
    return {"wait at SyncAll", "停在 SyncAll"};
  case Fault::sync_all_one_sided:
    return {"wait at SyncAll<false> for cores of the other side, which the operator has not got",
            "停在 SyncAll<false>，等待该算子没有的另一侧核"};
  case Fault::mode0_short:
    return {"wait at CrossCoreWaitFlag, mode 0", "停在模式 0 的 CrossCoreWaitFlag"};
  case Fault::pair_guarded:
    return {"wait for the second vector core of their block", "等待各自块的第二个 Vector 核"};
  case Fault::matmul_unguarded:
    return {"wait for a Matmul that serves the first vector core of their block",
            "等待只服务于第一个 Vector 核的 Matmul"};
  case Fault::flag_short:
    return {"wait for flag " + flag + ", which nobody sets again", "等待不再被置位的标志 " + flag};
  case Fault::flag_early:
    return {"go on at once: flag " + flag + " was left set by an earlier operator",
            "立即继续：标志 " + flag + " 由前面的算子留在置位状态"};
  case Fault::set_next_uneven:
    return {"a core does not set the flag for the operator behind it", "有核没有为后续算子置位"};
  case Fault::wait_previous_uneven:
    return {"a core goes on without having waited for the operator before", "有核未等待前一个算子就继续"};
  case Fault::vector_missing:
    return {"its second vector cores do not exist", "其第二个 Vector 核不存在"};
  case Fault::device_short:
    break;
  }
  return {"cores wait for blocks that have no core", "已启动的核等待尚未分配到核的块"};
}

class SimulationView {
 public:
  SimulationView(Terminal& terminal, const Scope& scope, const Simulation& simulation,
                 LanguageOfText language)
      : terminal_(terminal), scope_(scope), simulation_(simulation), language_(language),
        zh_(language == LanguageOfText::zh) {
    for (const Operator& op : scope.operators) {
      width_ = std::max(width_, display_width(op.name));
    }
  }

  void print(const superkernel::Judgement& judgement) {
    if (!simulation_.faults.empty()) {
      terminal_.answer(zh_ ? "模拟，逐个算子，假定之前的算子都已结束："
                           : "simulated, each operator as if those before it had ended:");
    }
    for (const superkernel::SimulatedFault& found : simulation_.faults) {
      print_fault(found);
    }
    for (std::size_t i = 0; i < simulation_.runs.size(); ++i) {
      print_run("kernel " + std::to_string(i + 1), simulation_.runs[i]);
    }
    print_agreement(disagreement(scope_, judgement, simulation_));
  }

 private:
  void print_fault(const superkernel::SimulatedFault& found) {
    std::string text = found.waiting.cores.empty() ? "" : cores_text(found.waiting) + " ";
    text += waits_at(found).in(language_);
    if (!found.missing.cores.empty()) {
      text += (zh_ ? "，等待 " : " for ") + cores_text(found.missing);
    }
    terminal_.answer("  " + padded(scope_.operators[found.op].name, width_) + "  " + text);
  }

  void print_run(const std::string& kernel, const superkernel::Run& run) {
    if (!run.is_started) {
      terminal_.answer(kernel + (zh_ ? "：未启动" : ": not started"));
    } else if (run.is_finished) {
      const std::string time = simulation_.has_all_times ? " (" + microseconds(run.end) + ")" : std::string();
      terminal_.answer(kernel + (zh_ ? "：全部同时运行，结束" : ": all under way at once, ends") + time);
    } else {
      terminal_.answer(kernel + (zh_ ? "：全部同时运行，停住不动：" : ": all under way at once, blocked:"));
    }
    for (const superkernel::Blocked& one : run.blocked) {
      terminal_.answer("  " + cores_text(one.cores) + "  " + place_of(one));
    }
  }

  [[nodiscard]] std::string place_of(const superkernel::Blocked& one) const {
    const std::string& name = scope_.operators[one.op].name;
    if (one.at == "no core") {
      return zh_ ? "没有可用的核" : "no core to run on";
    }
    if (one.at == "barrier") {
      return zh_ ? name + " 之后的同步" : "at the barrier behind " + name;
    }
    return zh_ ? name + " 的 " + one.at : "at " + one.at + " of " + name;
  }

  void print_agreement(const std::string& difference) {
    if (difference.empty()) {
      terminal_.answer(zh_ ? "规则与模拟一致" : "predicates and simulation agree");
      return;
    }
    const std::string text =
        zh_ ? "规则与模拟不一致，请报告：" : "predicates and simulation differ, please report it: ";
    terminal_.answer(terminal_.styled(text + difference, Style::red));
  }

  Terminal& terminal_;
  const Scope& scope_;
  const Simulation& simulation_;
  LanguageOfText language_;
  bool zh_;
  std::size_t width_ = 0;
};

} // namespace

void print_plan(Terminal& terminal, const Scope& scope, const Plan& plan, const ReportStyle& style) {
  PlanView(terminal, scope, plan, style).print();
}

void print_simulation(Terminal& terminal, const Scope& scope, const Plan& plan, const Simulation& simulation,
                      LanguageOfText language) {
  SimulationView(terminal, scope, simulation, language).print(plan.judgement);
}

} // namespace dcuop::cli
