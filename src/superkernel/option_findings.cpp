#include "option_findings.hpp"

#include <algorithm>

#include "dcuop/superkernel/plan.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::superkernel {

namespace {

using finding::Finding;
using finding::Values;
using Kind = BuildError::Kind;

Finding with_phrase(const char* rule, Values values, const std::string& name, const Phrase& phrase) {
  values[name] = phrase.en;
  values[name + ":zh"] = phrase.zh;
  return finding::make_finding(rule, values);
}

void set_fix(Finding& finding, const std::string& en, const std::string& zh = {}) {
  finding.fix = en;
  finding.chinese.fix = zh.empty() ? en : zh;
}

Phrase value_text(const OptionProblem& problem) {
  if (problem.value.empty()) {
    return {"has no value", "没有值"};
  }
  return {"is '" + problem.value + "' and must be " + problem.wanted,
          "的值为 '" + problem.value + "'，应为 " + problem.wanted};
}

Finding finding_of(const OptionProblem& problem, Backend backend) {
  const std::string& key = problem.key;
  switch (problem.kind) {
  case OptionProblem::Kind::unknown:
  case OptionProblem::Kind::other_end: {
    Phrase meant;
    if (problem.kind == OptionProblem::Kind::other_end) {
      meant = {": it is one of the other back end", "：这是另一后端的选项"};
    } else if (!problem.wanted.empty()) {
      meant = {"; it is " + problem.wanted, "；应为 " + problem.wanted};
    }
    Finding finding = with_phrase("DCU820", {{"key", key}, {"backend", to_string(backend)}}, "meant", meant);
    if (!problem.wanted.empty()) {
      set_fix(finding, problem.wanted + (backend == Backend::ge ? "=" : " = ") + problem.value);
    }
    return finding;
  }
  case OptionProblem::Kind::bad_value:
    return with_phrase("DCU821", {{"key", key}}, "problem", value_text(problem));
  case OptionProblem::Kind::duplicate:
    return with_phrase("DCU821", {{"key", key}}, "problem", {"is given twice", "出现两次"});
  case OptionProblem::Kind::bad_place:
    return with_phrase("DCU821", {{"key", key}}, "problem",
                       {"belongs to " + problem.wanted, "应放在 " + problem.wanted + " 中"});
  case OptionProblem::Kind::default_for:
    return with_phrase("DCU822", {{"key", key}}, "problem",
                       {"'" + problem.value + "' is not " + problem.wanted + ", so the default is taken",
                        "'" + problem.value + "' 不是 " + problem.wanted + "，因此使用默认值"});
  case OptionProblem::Kind::ignored:
    return with_phrase("DCU822", {{"key", "'" + problem.seen_where + "'"}}, "problem",
                       {"it has no '=', and ge passes over it with a warning", "缺少 '='，ge 仅警告并忽略"});
  case OptionProblem::Kind::odd_value:
    break;
  }
  return with_phrase("DCU822", {{"key", key}}, "problem",
                     {"'" + problem.value + "' is taken, and documented is " + problem.wanted,
                      "'" + problem.value + "' 会被接受，但文档中只有 " + problem.wanted});
}

// Lists of operators ---------------------------------------------------------------------------------------------

class ListFindings {
 public:
  ListFindings(const Scope& scope, const Judgement& judgement, std::vector<Finding>& into)
      : scope_(scope), options_(judgement.options), judgement_(judgement), into_(into) {}

  void add() {
    const bool ge = scope_.backend == Backend::ge;
    check_list(ge ? "dcci-before-kernel-start" : "dcci_before_kernel_start", options_.dcci_before);
    check_list(ge ? "dcci-after-kernel-end" : "dcci_after_kernel_end", options_.dcci_after);
    check_list(ge ? "dcci-disable-on-kernel" : "dcci_disable_on_kernel", options_.dcci_disable);
    check_disabled();
    const bool fuses_streams =
        std::any_of(judgement_.segments.begin(), judgement_.segments.end(),
                    [](const Segment& segment) { return segment.is_fused && segment.two_queues; });
    const bool has_calls =
        std::any_of(scope_.operators.begin(), scope_.operators.end(), [](const Operator& op) {
          return op.set_next != Call::none || op.wait_previous != Call::none;
        });
    if (ge && fuses_streams && has_calls) {
      conflict("stream-fusion",
               {"stream-fusion=1 turns early start off, which operators of the scope call for",
                "stream-fusion=1 会关闭 early start，而 scope 中有算子使用它"});
    }
    if (!ge && !options_.stream_fusion && has_streams()) {
      conflict("stream_fusion",
               {"stream_fusion is 0 and the scope has several streams: they are fused all the same, "
                "with a warning",
                "stream_fusion 为 0 而 scope 有多条流：仍会融合，仅给出警告"});
    }
  }

 private:
  [[nodiscard]] bool has_streams() const {
    return std::any_of(scope_.operators.begin(), scope_.operators.end(),
                       [&](const Operator& op) { return op.stream != scope_.operators.front().stream; });
  }

  void conflict(const std::string& key, const Phrase& problem) {
    into_.push_back(with_phrase("DCU823", {{"key", key}}, "problem", problem));
  }

  /// A list that has no effect on `name`.
  void no_effect(const std::string& key, const std::string& name, const Phrase& problem) {
    into_.push_back(with_phrase("DCU822", {{"key", key + " for " + name}}, "problem", problem));
  }

  void unknown_entry(const std::string& key, const std::string& entry) {
    std::vector<std::string> known;
    known.reserve(scope_.operators.size());
    for (const Operator& op : scope_.operators) {
      known.push_back(scope_.backend == Backend::ge ? op.op_type : op.kernel);
    }
    Phrase problem{"no operator of the scope is called so", "scope 中没有这个算子"};
    if (const auto near = nearest(entry, known)) {
      problem.en += "; did you mean " + *near + "?";
      problem.zh += "；是否为 " + *near + "？";
    }
    no_effect(key, entry, problem);
  }

  void check_list(const std::string& key, const std::vector<std::string>& list) {
    for (const std::string& entry : list) {
      bool is_found = false;
      for (const Operator& op : scope_.operators) {
        const bool is_named = names_operator(entry, op, scope_.backend);
        is_found = is_found || is_named;
        if (is_named && (op.task == Task::tiling_sink || op.task == Task::collective)) {
          const std::string task = to_string(op.task);
          no_effect(key, op.name,
                    {"the documentation says that dcci options do nothing for a " + task + " operator",
                     "文档称 dcci 选项对 " + task + " 算子不生效"});
        }
      }
      if (!is_found) {
        unknown_entry(key, entry);
      }
    }
  }

  [[nodiscard]] bool is_in(const std::vector<std::string>& list, const Operator& op) const {
    return std::any_of(list.begin(), list.end(),
                       [&](const std::string& entry) { return names_operator(entry, op, scope_.backend); });
  }

  void check_disabled() {
    const Operator* before = nullptr;
    for (const Operator& op : scope_.operators) {
      const bool disabled = is_in(options_.dcci_disable, op);
      if (disabled && (is_in(options_.dcci_before, op) || is_in(options_.dcci_after, op))) {
        conflict(
            "dcci-disable-on-kernel",
            {op.name +
                 " is named in dcci-disable-on-kernel and in another dcci list: nothing is flushed for it",
             op.name + " 同时列在 dcci-disable-on-kernel 与其他 dcci 列表中：不会为其刷新"});
      }
      if (disabled && before != nullptr) {
        conflict("dcci-disable-on-kernel",
                 {before->name + " and " + op.name +
                      " follow one another and nothing flushes the data cache for either",
                  before->name + " 与 " + op.name + " 相邻，且都不刷新数据缓存"});
      }
      before = disabled ? &op : nullptr;
    }
  }

  const Scope& scope_;
  const Options& options_;
  const Judgement& judgement_;
  std::vector<Finding>& into_;
};

// What is not built ------------------------------------------------------------------------------------------------

std::string name_of(const Scope& scope, std::size_t op) {
  return scope.operators[op].name;
}

Finding event_finding(const Scope& scope, const BuildError& error) {
  const std::string op = name_of(scope, error.op);
  const std::string other = name_of(scope, error.other);
  Phrase problem;
  switch (error.kind) {
  case Kind::first_receives:
    problem = {op + " is the first of its SuperKernel and waits for event " + error.event,
               op + " 是其 SuperKernel 的第一个算子，却等待事件 " + error.event};
    break;
  case Kind::last_sends:
    problem = {op + " is the last of its SuperKernel and sends event " + error.event,
               op + " 是其 SuperKernel 的最后一个算子，却发送事件 " + error.event};
    break;
  case Kind::event_in_operator:
    problem = {op + " sends event " + error.event + " and waits for it",
               op + " 既发送又等待事件 " + error.event};
    break;
  default:
    problem = {other + " sends event " + error.event + " to " + op + " in the same stream",
               other + " 在同一条流中向 " + op + " 发送事件 " + error.event};
    break;
  }
  return with_phrase("DCU826", {{"event", error.event}}, "problem", problem);
}

Finding debug_num_finding(const BuildError& error) {
  const std::string key = error.side == Side::aic ? "debug-aic-num" : "debug-aiv-num";
  const std::string wanted = std::to_string(error.wanted);
  const std::string has = std::to_string(error.has);
  Phrase problem;
  if (error.kind == Kind::debug_num_ratio) {
    problem = {"debug-aic-num " + wanted + " to debug-aiv-num " + has + " is none of 1:0, 0:1, 1:1, 1:2",
               "debug-aic-num " + wanted + " 与 debug-aiv-num " + has + " 的比例不是 1:0、0:1、1:1 或 1:2"};
  } else if (error.kind == Kind::debug_num_platform) {
    problem = {key + " is " + wanted + ", and the device has " + has,
               key + " 为 " + wanted + "，而设备只有 " + has};
  } else {
    problem = {key + " is " + wanted + ", and the operators need " + has,
               key + " 为 " + wanted + "，而算子需要 " + has};
  }
  return with_phrase("DCU824", {}, "problem", problem);
}

Finding stream_finding(const Scope& scope, const BuildError& error) {
  const Operator& op = scope.operators[error.op];
  const Operator& other = scope.operators[error.other];
  Finding finding = finding::make_finding("DCU825", {{"op", op.name},
                                                     {"other", other.name},
                                                     {"stream", std::to_string(op.stream)},
                                                     {"streams", std::to_string(other.stream)}});
  set_fix(finding, "stream-fusion=1");
  return finding;
}

} // namespace

std::vector<Finding> findings_of_options(const std::vector<OptionProblem>& problems, Backend backend) {
  std::vector<Finding> findings;
  for (const OptionProblem& problem : problems) {
    findings.push_back(finding_of(problem, backend));
    findings.back().evidence.push_back({"option", problem.seen_where});
  }
  return findings;
}

void add_option_findings(const Scope& scope, const Judgement& judgement, std::vector<Finding>& into) {
  for (Finding& finding : findings_of_options(judgement.options.problems, scope.backend)) {
    into.push_back(std::move(finding));
  }
  ListFindings(scope, judgement, into).add();
}

void add_build_findings(const Scope& scope, const Judgement& judgement, std::vector<Finding>& into) {
  for (const BuildError& error : judgement.build_errors) {
    switch (error.kind) {
    case Kind::streams:
      into.push_back(stream_finding(scope, error));
      break;
    case Kind::first_receives:
    case Kind::last_sends:
    case Kind::event_in_stream:
    case Kind::event_in_operator:
      into.push_back(event_finding(scope, error));
      break;
    case Kind::dynamic_early:
      into.push_back(with_phrase("DCU827", {{"op", name_of(scope, error.op)}}, "problem",
                                 {"and is a tiling-sink operator", "而它是 Tiling 下沉算子"}));
      break;
    case Kind::early_start_off:
      into.push_back(with_phrase("DCU827", {{"op", name_of(scope, error.op)}}, "problem",
                                 {"and the options have early-start=0", "而选项为 early-start=0"}));
      break;
    case Kind::debug_num_ratio:
    case Kind::debug_num_platform:
    case Kind::debug_num_less:
      into.push_back(debug_num_finding(error));
      break;
    }
  }
}

} // namespace dcuop::superkernel
