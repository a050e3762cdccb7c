#include "findings.hpp"

#include <algorithm>
#include <array>
#include <map>

#include "cache.hpp"
#include "dcuop/support/text.hpp"
#include "dcuop/support/toml_file.hpp"
#include "fixes.hpp"
#include "launch.hpp"
#include "option_findings.hpp"

namespace dcuop::superkernel {

namespace {

using finding::Evidence;
using finding::Finding;
using finding::Values;

void put(Values& values, const std::string& name, const Phrase& phrase) {
  values[name] = phrase.en;
  values[name + ":zh"] = phrase.zh;
}

struct FaultRow {
  Fault fault;
  const char* rule;
  const char* where; ///< the key of Operator::where that says where in the sources its cause is
};
constexpr std::array fault_rows = {
    FaultRow{Fault::sync_all_short, "DCU801", "sync_all"},
    FaultRow{Fault::sync_all_one_sided, "DCU802", "sync_all"},
    FaultRow{Fault::sync_all_skipped, "DCU803", "sync_all"},
    FaultRow{Fault::mode0_short, "DCU804", "mode0"},
    FaultRow{Fault::pair_guarded, "DCU805", "pair_guarded"},
    FaultRow{Fault::matmul_unguarded, "DCU806", "matmul_unguarded"},
    FaultRow{Fault::set_next_uneven, "DCU807", "set_next"},
    FaultRow{Fault::wait_previous_uneven, "DCU808", "wait_previous"},
    FaultRow{Fault::flag_short, "DCU809", "flags"},
    FaultRow{Fault::flag_early, "DCU810", "flags"},
    FaultRow{Fault::vector_missing, "DCU811", ""},
    FaultRow{Fault::device_short, "DCU812", ""},
};

const FaultRow& row_of(Fault fault) {
  const auto is_it = [&](const FaultRow& row) { return row.fault == fault; };
  return *std::find_if(fault_rows.begin(), fault_rows.end(), is_it);
}

Phrase core_words(Side side) {
  return side == Side::aic ? Phrase{"cube cores", " Cube 核"} : Phrase{"vector cores", " Vector 核"};
}

std::string call_text(const Operator& op) {
  return op.sync.all == SyncAll::mix ? "SyncAll<false>()" : "SyncAll()";
}

/// "AIV_ONLY x 20 enters with 0 AIC + 20 AIV of MIX_AIC_1_2 x 24 (24 AIC + 48 AIV)".
std::string entering_text(const Scope& scope, const Judgement& judgement, std::size_t index) {
  const Verdict& verdict = judgement.operators[index];
  const Operator& op = scope.operators[index];
  const std::string blocks = std::to_string(op.block_num);
  const std::string enter = std::to_string(verdict.aic) + " AIC + " + std::to_string(verdict.aiv) + " AIV";
  return to_string(op.type) + " x " + blocks + ": " + enter + " of " +
         launch_text(judgement.segments[verdict.segment].launch);
}

std::string place_text(const Scope& scope, const Operator& op) {
  if (op.place.line == 0) {
    return op.name;
  }
  return shown_path(scope.file).string() + ":" + std::to_string(op.place.line) + ": " + op.name;
}

Values fault_values(const Scope& scope, const Judgement& judgement, std::size_t index, const FaultAt& fault) {
  const Operator& op = scope.operators[index];
  const Segment& segment = judgement.segments[judgement.operators[index].segment];
  Values values = {{"op", op.name},
                   {"waiting", std::to_string(fault.waiting)},
                   {"expected", std::to_string(fault.expected)},
                   {"call", call_text(op)},
                   {"type", to_string(op.type)},
                   {"flag", std::to_string(fault.flag)},
                   {"blocks", std::to_string(segment.launch.blocks)},
                   {"resident", std::to_string(resident_blocks(segment.launch, scope.platform))}};
  // The side that the operator lacks is what SyncAll<false>() waits for.
  const bool other = fault.fault == Fault::sync_all_one_sided;
  put(values, "cores", core_words(other ? opposite(fault.side) : fault.side));
  const auto place = std::find(segment.operators.begin(), segment.operators.end(), index);
  values["next"] = place + 1 != segment.operators.end() ? scope.operators[*(place + 1)].name : op.name;
  values["before"] = place != segment.operators.begin() ? scope.operators[*(place - 1)].name : op.name;
  const bool own = op.sync.all != SyncAll::none || op.sync.mode0[0] || op.sync.mode0[1];
  put(values, "place",
      own ? Phrase{"at its synchronisation", "在其同步处"} : Phrase{"behind it", "在其之后"});
  return values;
}

class Findings {
 public:
  Findings(const Scope& scope, const Plan& plan) : scope_(scope), plan_(plan), judgement_(plan.judgement) {}

  std::vector<Finding> all() {
    for (std::size_t op = 0; op < scope_.operators.size(); ++op) {
      for (const FaultAt& at : judgement_.operators[op].faults) {
        add_fault(op, at);
      }
    }
    add_option_findings(scope_, judgement_, found_);
    add_build_findings(scope_, judgement_, found_);
    for (const CacheFault& fault : plan_.cache_faults) {
      add_cache_fault(fault);
    }
    add_clashes();
    add_splits();
    for (const Operator& op : scope_.operators) {
      add_notes(op);
    }
    const std::string file = scope_.file.string();
    for (Finding& finding : found_) {
      finding.subject = file;
    }
    finding::sort_findings(found_);
    return std::move(found_);
  }

 private:
  [[nodiscard]] const Operator& at(std::size_t op) const { return scope_.operators[op]; }

  void locate(Finding& finding, const Operator& op) const {
    finding.evidence.push_back({"operator", place_text(scope_, op)});
    finding.line = op.place.line;
    finding.column = op.place.column;
  }

  void add_fault(std::size_t op, const FaultAt& fault) {
    Finding finding = fault_finding(scope_, judgement_, op, fault);
    locate(finding, at(op));
    finding.evidence.push_back({"enters", entering_text(scope_, judgement_, op)});
    if (const std::string source = source_of(at(op), fault.fault); !source.empty()) {
      finding.evidence.push_back({"source", source});
    }
    if (fault == judgement_.operators[op].faults.front()) {
      set_fix(finding, plan_.operators[op].fixes);
    }
    found_.push_back(std::move(finding));
  }

  static void set_fix(Finding& finding, const std::vector<Fix>& fixes) {
    std::vector<std::string> en, zh;
    for (const Fix& fix : fixes) {
      en.push_back(fix.text.en);
      zh.push_back(fix.text.zh);
    }
    finding.fix = join(en, ", or ");
    finding.chinese.fix = join(zh, "，或 ");
  }

  void add_cache_fault(const CacheFault& fault) {
    Values values = {{"op", at(fault.is_unflushed ? fault.writer : fault.reader).name},
                     {"buffer", fault.buffer},
                     {"reader", at(fault.reader).name},
                     {"writer", at(fault.writer).name}};
    put(values, "problem",
        fault.by_assignment
            ? Phrase{"gm(i) = x is flushed by nothing", "gm(i) = x 不会被刷新"}
            : Phrase{"its dcci option turns the flush in SetValue off and puts none behind it",
                     "其 dcci 选项关闭了 SetValue 中的刷新，且之后没有刷新"});
    Finding finding = finding::make_finding(fault.is_unflushed ? "DCU830" : "DCU831", values);
    const std::size_t named = fault.is_unflushed ? fault.writer : fault.reader;
    locate(finding, at(named));
    if (const auto where = at(named).where.find("gm"); where != at(named).where.end()) {
      finding.evidence.push_back({"source", where->second});
    }
    const char* key = scope_.backend == Backend::ge
                          ? (fault.is_unflushed ? "dcci-after-kernel-end=" : "dcci-before-kernel-start=")
                          : (fault.is_unflushed ? "dcci_after_kernel_end: " : "dcci_before_kernel_start: ");
    finding.fix = key + dcci_entry(scope_, at(named));
    finding.chinese.fix = finding.fix;
    found_.push_back(std::move(finding));
  }

  [[nodiscard]] std::string kernel_name(const Segment& segment) const {
    return segment.operators.size() == 1
               ? at(segment.operators.front()).name
               : at(segment.operators.front()).name + ".." + at(segment.operators.back()).name;
  }

  [[nodiscard]] static std::string cores_text(std::uint32_t aic, std::uint32_t aiv) {
    return std::to_string(aic) + " AIC + " + std::to_string(aiv) + " AIV";
  }

  [[nodiscard]] Evidence kernel_evidence(const Segment& segment) const {
    return {"operator", kernel_name(segment) + ": " + cores_text(segment.launch.aic, segment.launch.aiv) +
                            ", stream " + std::to_string(at(segment.operators.front()).stream)};
  }

  /// "b, c, d or 2 more".
  [[nodiscard]] Phrase kernel_names(const std::vector<std::size_t>& segments) const {
    constexpr std::size_t shown = 3;
    std::vector<std::string> names;
    for (std::size_t i = 0; i < std::min(segments.size(), shown); ++i) {
      names.push_back(kernel_name(judgement_.segments[segments[i]]));
    }
    Phrase text{join(names, ", "), join(names, ", ")};
    if (segments.size() > shown) {
      const std::string more = std::to_string(segments.size() - shown);
      text.en += " or " + more + " more";
      text.zh += " 等另外 " + more + " 个";
    }
    return text;
  }

  /// One finding a kernel, however many others it clashes with.
  void add_clashes() {
    std::map<std::size_t, std::vector<std::size_t>> others;
    for (const Clash& clash : judgement_.clashes) {
      others[clash.first].push_back(clash.second);
    }
    for (const auto& [first, all] : others) {
      const std::string name = kernel_name(judgement_.segments[first]);
      Values values = {{"op", name}, {"has", cores_text(scope_.platform.aic, scope_.platform.aiv)}};
      put(values, "other", kernel_names(all));
      Finding finding = finding::make_finding("DCU813", values);
      finding.evidence.push_back(kernel_evidence(judgement_.segments[first]));
      finding.evidence.push_back(kernel_evidence(judgement_.segments[all.front()]));
      finding.fix = "SetScheduleMode(1) in the tiling of " + name;
      finding.chinese.fix = "在 " + name + " 的 tiling 中调用 SetScheduleMode(1)";
      found_.push_back(std::move(finding));
    }
  }

  void add_splits() {
    for (std::size_t i = 0; i + 1 < judgement_.segments.size(); ++i) {
      const Operator& begins = at(judgement_.segments[i + 1].operators.front());
      Values values = {{"op", begins.name}};
      put(values, "why", split_text(scope_, judgement_, i));
      Finding finding = finding::make_finding("DCU814", values);
      locate(finding, begins);
      found_.push_back(std::move(finding));
    }
  }

  void add_notes(const Operator& op) {
    if (op.task == Task::tiling_sink && !op.relocatable_binary) {
      Finding finding = finding::make_finding("DCU832", {{"op", op.name}});
      locate(finding, op);
      finding.fix =
          "npu_op_kernel_options(TARGET " + op.op_type + " OPTIONS --op_relocatable_kernel_binary=true)";
      finding.chinese.fix = finding.fix;
      found_.push_back(std::move(finding));
    }
    if (op.task == Task::tiling_sink && (!op.gm.reads.empty() || !op.gm.writes.empty())) {
      Finding finding = finding::make_finding("DCU834", {{"op", op.name}});
      locate(finding, op);
      found_.push_back(std::move(finding));
    }
    add_half_entered(op);
    const bool has_calls = op.set_next != Call::none || op.wait_previous != Call::none;
    const std::size_t index = static_cast<std::size_t>(&op - scope_.operators.data());
    const Segment& segment = judgement_.segments[judgement_.operators[index].segment];
    if (has_calls && segment.is_fused && !segment.early_start) {
      Values values = {{"op", op.name}};
      put(values, "problem", idle_text(segment));
      Finding finding = finding::make_finding("DCU833", values);
      locate(finding, op);
      found_.push_back(std::move(finding));
    }
  }

  void add_half_entered(const Operator& op) {
    const std::size_t index = static_cast<std::size_t>(&op - scope_.operators.data());
    const Verdict& verdict = judgement_.operators[index];
    const Segment& segment = judgement_.segments[verdict.segment];
    const bool is_vector_sink = op.task == Task::tiling_sink && !uses(op.type, Side::aic);
    if (is_vector_sink && segment.is_fused && verdict.aiv < segment.launch.aiv) {
      Finding finding = finding::make_finding("DCU835", {{"op", op.name},
                                                         {"entering", std::to_string(verdict.aiv)},
                                                         {"launched", std::to_string(segment.launch.aiv)}});
      locate(finding, op);
      finding.fix = "its own scope";
      finding.chinese.fix = "单独的 scope";
      found_.push_back(std::move(finding));
    }
  }

  [[nodiscard]] Phrase idle_text(const Segment& segment) const {
    if (scope_.platform.product == Product::a2) {
      return {"A2 compiles the calls and does nothing", "A2 仅保证编译，不生效"};
    }
    if (judgement_.options.early_start != 1) {
      return scope_.backend == Backend::ge
                 ? Phrase{"early-start is not 1", " early-start 不是 1"}
                 : Phrase{"early_start is off, as it is by default", " early_start 默认关闭"};
    }
    if (segment.two_queues && !judgement_.options.debug_sync_all) {
      return {"several streams in one SuperKernel turn early start off",
              "一个 SuperKernel 中有多条流时会关闭"};
    }
    return {"debug_sync_all turns early start off", " debug_sync_all 会关闭它"};
  }

  const Scope& scope_;
  const Plan& plan_;
  const Judgement& judgement_;
  std::vector<Finding> found_;
};

} // namespace

std::string source_of(const Operator& op, Fault fault) {
  const auto where = op.where.find(row_of(fault).where);
  return where == op.where.end() ? std::string() : where->second;
}

finding::Finding fault_finding(const Scope& scope, const Judgement& judgement, std::size_t op,
                               const FaultAt& at) {
  return finding::make_finding(row_of(at.fault).rule, fault_values(scope, judgement, op, at));
}

std::vector<finding::Finding> findings_of(const Scope& scope, const Plan& plan) {
  return Findings(scope, plan).all();
}

} // namespace dcuop::superkernel
