// Scalars of global memory in the data cache of a core. Rules: the adaptation page and TorchAir's option table
// (docs/superkernel.md has the links).
#include "cache.hpp"

#include <algorithm>
#include <set>

namespace dcuop::superkernel {

namespace {

bool is_named(const std::vector<std::string>& list, const Operator& op, Backend backend) {
  return std::any_of(list.begin(), list.end(),
                     [&](const std::string& entry) { return names_operator(entry, op, backend); });
}

/// What the options make of an operator. They have no effect on tiling-sink and collective operators, the documentation
/// says.
struct Handling {
  bool before = false, after = false, disabled = false;
  [[nodiscard]] bool is_automatic() const { return !before && !after && !disabled; }
  [[nodiscard]] bool flushes_behind() const { return after && !disabled; }
  [[nodiscard]] bool refreshes_before() const { return before && !disabled; }
};

Handling handling_of(const Scope& scope, const Options& options, const Operator& op) {
  if (op.task == Task::tiling_sink || op.task == Task::collective) {
    return {};
  }
  return {is_named(options.dcci_before, op, scope.backend), is_named(options.dcci_after, op, scope.backend),
          is_named(options.dcci_disable, op, scope.backend)};
}

std::vector<std::string> common(const std::set<std::string>& one, const std::set<std::string>& other) {
  std::vector<std::string> both;
  std::set_intersection(one.begin(), one.end(), other.begin(), other.end(), std::back_inserter(both));
  return both;
}

/// Else an earlier operator may write what it reads.
bool reads_known(const Operator& op) {
  return !op.gm.reads.empty() && op.gm.unplaced.empty();
}

/// It may be any buffer that it writes.
bool writes_unknown(const Operator& op) {
  return !op.gm.writes.empty() && !op.gm.unplaced.empty();
}

bool takes_advice(const Operator& op) {
  return op.task == Task::fixed;
}

/// One kernel, and what each operator of it wants.
class Adviser {
 public:
  Adviser(const Scope& scope, const Options& options) : scope_(scope), options_(options) {}

  void look_at(const Segment& segment) {
    std::set<std::string> written;
    for (std::size_t at = 0; at < segment.operators.size(); ++at) {
      const Operator& op = scope_.operators[segment.operators[at]];
      const bool reads_written = !common(op.gm.reads, written).empty();
      written.insert(op.gm.writes.begin(), op.gm.writes.end());
      if (!takes_advice(op)) {
        continue;
      }
      const std::string entry = dcci_entry(scope_, op);
      if (op.gm.assigns || (op.gm.frequent && !op.gm.writes.empty())) {
        after_.insert(entry);
      }
      if (op.gm.frequent && reads_written) {
        before_.insert(entry);
      }
      // Once flushes inside are off, what an earlier operator wrote must come in some other way.
      if (after_.count(entry) != 0 && reads_written) {
        before_.insert(entry);
      }
    }
  }

  /// Those that read, and nothing but what nobody writes. Never two in a row: the generator warns of that.
  void disable_constant_readers(const Segment& segment) {
    bool neighbour_is_disabled = false;
    bool writes_are_known = true; // of those before
    for (const std::size_t index : segment.operators) {
      const Operator& op = scope_.operators[index];
      const std::string entry = dcci_entry(scope_, op);
      const bool is_given = handling_of(scope_, options_, op).disabled;
      const bool wants = takes_advice(op) && op.gm.frequent && writes_are_known && reads_known(op) &&
                         op.gm.writes.empty() && !op.gm.assigns && before_.count(entry) == 0 &&
                         after_.count(entry) == 0;
      if (!is_given && wants && !neighbour_is_disabled && !is_disabled_next(segment, index)) {
        disable_.insert(entry);
      }
      neighbour_is_disabled = is_given || disable_.count(entry) != 0;
      writes_are_known = writes_are_known && !writes_unknown(op);
    }
  }

  [[nodiscard]] CacheAdvice advice() const {
    return {joined(options_.dcci_before, before_), joined(options_.dcci_after, after_),
            joined(options_.dcci_disable, disable_)};
  }

 private:
  [[nodiscard]] bool is_disabled_next(const Segment& segment, std::size_t index) const {
    const auto at = std::find(segment.operators.begin(), segment.operators.end(), index);
    if (at + 1 == segment.operators.end()) {
      return false;
    }
    const Operator& next = scope_.operators[*(at + 1)];
    return handling_of(scope_, options_, next).disabled ||
           dcci_entry(scope_, next) == dcci_entry(scope_, scope_.operators[index]);
  }

  /// What was given stays; a list that disables must not hold what needs a flush.
  [[nodiscard]] std::vector<std::string> joined(const std::vector<std::string>& given,
                                                const std::set<std::string>& added) const {
    std::vector<std::string> all;
    const bool disables = &given == &options_.dcci_disable;
    for (const std::string& entry : given) {
      if (!disables || (before_.count(entry) == 0 && after_.count(entry) == 0)) {
        all.push_back(entry);
      }
    }
    for (const std::string& entry : added) {
      if (std::find(all.begin(), all.end(), entry) == all.end()) {
        all.push_back(entry);
      }
    }
    return all;
  }

  const Scope& scope_;
  const Options& options_;
  std::set<std::string> before_, after_, disable_;
};

} // namespace

std::string dcci_entry(const Scope& scope, const Operator& op) {
  if (scope.backend == Backend::ge) {
    return op.op_type;
  }
  return op.given.count("kernel") != 0 ? op.kernel : ".*" + op.op_type + ".*";
}

std::vector<CacheFault> cache_faults_of(const Scope& scope, const Judgement& judgement) {
  std::vector<CacheFault> faults;
  for (const Segment& segment : judgement.segments) {
    for (std::size_t j = 1; j < segment.operators.size() && segment.is_fused; ++j) {
      const std::size_t reader = segment.operators[j];
      const Operator& reads = scope.operators[reader];
      const Handling handling = handling_of(scope, judgement.options, reads);
      for (std::size_t i = 0; i < j; ++i) {
        const std::size_t writer = segment.operators[i];
        const Operator& writes = scope.operators[writer];
        const Handling its = handling_of(scope, judgement.options, writes);
        for (const std::string& buffer : common(writes.gm.writes, reads.gm.reads)) {
          const bool is_flushed = its.flushes_behind() || (its.is_automatic() && !writes.gm.assigns);
          if (!is_flushed) {
            faults.push_back({true, writer, reader, buffer, writes.gm.assigns});
          } else if (!handling.is_automatic() && !handling.refreshes_before()) {
            faults.push_back({false, writer, reader, buffer, false});
          }
        }
      }
    }
  }
  return faults;
}

CacheAdvice cache_advice_of(const Scope& scope, const Judgement& judgement) {
  Adviser adviser(scope, judgement.options);
  for (const Segment& segment : judgement.segments) {
    if (segment.is_fused) {
      adviser.look_at(segment);
    }
  }
  for (const Segment& segment : judgement.segments) {
    if (segment.is_fused) {
      adviser.disable_constant_readers(segment);
    }
  }
  return adviser.advice();
}

} // namespace dcuop::superkernel
