#include "ascend_count.hpp"

#include <algorithm>

namespace dcuop::check::ascend {
namespace {

void add(Count& total, const Count& more) {
  total.least = std::min(total.least + more.least, Count::no_bound);
  total.most = std::min(total.most + more.most, Count::no_bound);
  for (const auto& [trips, times] : more.loops) {
    total.loops[trips] += times;
  }
  total.is_exact = total.is_exact && more.is_exact;
  total.first = total.first != nullptr ? total.first : more.first;
}

Count either(const Count& a, const Count& b) {
  Count count;
  count.least = std::min(a.least, b.least);
  count.most = std::max(a.most, b.most);
  count.is_exact = same(a, b);
  if (count.is_exact) {
    count.loops = a.loops;
  }
  count.first = a.first != nullptr ? a.first : b.first;
  return count;
}

/// Whether a way through the steps does not come out behind them.
bool may_leave(const Steps& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    switch (step.kind) {
    case Step::Kind::leaves:
    case Step::Kind::breaks:
    case Step::Kind::continues:
    case Step::Kind::jumps:
      return true;
    case Step::Kind::branch:
      return may_leave(step.yes) || may_leave(step.no);
    default:
      return false; // a loop keeps its breaks; returns in it are asked for by may_return()
    }
  });
}

bool may_return(const Steps& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.kind == Step::Kind::leaves || step.kind == Step::Kind::jumps || may_return(step.yes) ||
           may_return(step.no);
  });
}

} // namespace

bool same(const Count& a, const Count& b) {
  return a.is_exact && b.is_exact && a.least == b.least && a.loops == b.loops;
}

bool never_equal(const Count& a, const Count& b) {
  if (a.is_none() != b.is_none() || a.most < b.least || b.most < a.least) {
    return true;
  }
  return a.is_exact && b.is_exact && a.loops == b.loops && a.least != b.least;
}

Count Counter::of(const Function& function) {
  const auto known = known_.find(&function);
  if (known != known_.end()) {
    return known->second;
  }
  if (calls_ == Program::deepest) {
    program_.note_too_deep(function);
    Count unknown;
    unknown.is_exact = false;
    return unknown;
  }
  known_[&function] = {}; // when it calls itself
  ++calls_;
  const std::size_t loops = std::exchange(loops_, 0);
  Count count = from(program_.steps_of(function), 0, nullptr);
  loops_ = loops;
  --calls_;
  known_[&function] = count;
  return count;
}

Count Counter::merged(const Condition& condition, const Count& yes, const Count& no) {
  if (!same(yes, no)) {
    report_({&condition, yes, no, false, loops_});
  }
  return either(yes, no);
}

Count Counter::of_call(const Step& step) {
  std::optional<Count> count;
  for (const Function* callee : step.callees) {
    const Count one = callee == nullptr ? Count() : of(*callee);
    count = count ? either(*count, one) : one;
  }
  return count.value_or(Count());
}

Count Counter::of_loop(const Step& step) {
  ++loops_;
  const Count once = from(step.yes, 0, nullptr);
  --loops_;
  if (once.is_none()) {
    return {};
  }
  if (step.condition.by_core) {
    report_({&step.condition, once, {}, true, loops_});
  }
  Count count;
  count.first = once.first;
  count.most = Count::no_bound;
  count.least = step.runs_once ? once.least : 0;
  const bool breaks =
      std::any_of(step.yes.begin(), step.yes.end(), [](const Step& one) { return may_leave({one}); });
  count.is_exact = once.is_exact && !breaks && !step.is_endless && !step.runs_once;
  if (count.is_exact) {
    if (once.least > 0) {
      count.loops[step.trips] += once.least;
    }
    for (const auto& [trips, times] : once.loops) {
      count.loops[step.trips + " * " + trips] += times;
    }
  }
  return count;
}

/// Behind a label that comes later, here or further out.
std::optional<Count> Counter::from_label(const std::string& label, const Steps& steps, std::size_t index,
                                         const Rest* rest) {
  for (; index < steps.size(); ++index) {
    if (steps[index].kind == Step::Kind::label && steps[index].label == label) {
      return from(steps, index + 1, rest);
    }
  }
  return rest == nullptr ? std::nullopt : from_label(label, *rest->steps, rest->next, rest->outer);
}

Count Counter::from(const Steps& steps, std::size_t index, const Rest* rest) {
  Count total;
  for (; index < steps.size(); ++index) {
    if (steps_left_ == 0) {
      total.is_exact = false; // and said: ascend_flow.hpp walks no fewer
      return total;
    }
    --steps_left_;
    const Step& step = steps[index];
    const Rest after{&steps, index + 1, rest};
    if (step.kind == Step::Kind::event) {
      if (wanted_(step.event)) {
        add(total, {1, 1, {}, true, &step.event});
      }
    } else if (step.kind == Step::Kind::call) {
      add(total, of_call(step));
    } else if (step.kind == Step::Kind::loop) {
      add(total, of_loop(step));
      if (may_return(step.yes)) {
        const Count behind = from(steps, index + 1, rest);
        add(total, either(behind, {}));
        return total;
      }
    } else if (step.kind == Step::Kind::branch) {
      const bool can_hold = (step.condition.yes & side_) != 0;
      const bool can_fail = (step.condition.no & side_) != 0;
      if (!can_hold || !can_fail) {
        const Steps& taken = can_hold ? step.yes : step.no;
        if (may_leave(taken)) {
          add(total, from(taken, 0, &after));
          return total;
        }
        add(total, from(taken, 0, nullptr));
      } else if (!may_leave(step.yes) && !may_leave(step.no)) {
        add(total, merged(step.condition, from(step.yes, 0, nullptr), from(step.no, 0, nullptr)));
      } else {
        add(total, merged(step.condition, from(step.yes, 0, &after), from(step.no, 0, &after)));
        return total;
      }
    } else if (step.kind == Step::Kind::jumps) {
      const auto behind = from_label(step.label, steps, index + 1, rest);
      add(total, behind.value_or(Count{0, Count::no_bound, {}, false, nullptr})); // back: again and again
      return total;
    } else if (step.kind != Step::Kind::label) {
      return total; // out of the function, or of the round
    }
  }
  if (rest != nullptr) {
    add(total, from(*rest->steps, rest->next, rest->outer));
  }
  return total;
}

} // namespace dcuop::check::ascend
