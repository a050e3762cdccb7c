// DCU865 to DCU868: SetNextTaskStart and WaitPreTaskEnd, which let operators of a SuperKernel overlap.
#include "ascend.hpp"
#include "ascend_count.hpp"

namespace dcuop::check::ascend {
namespace {

using finding::Severity;
using EventKind = Event::Kind;

std::string call_text(EventKind kind) {
  return kind == EventKind::early_set ? "SetNextTaskStart" : "WaitPreTaskEnd";
}

/// Global memory before the wait and behind the set, and SyncAll() there.
struct Passage {
  std::set<const Event*> before, syncs_before;
  bool has_waited = false; ///< on every path
  bool has_set = false;
};

class Order {
 public:
  explicit Order(const Subject& subject) : subject_(subject) {}

  void event(const Event& event, const std::string&, Passage& passage, const Way&) {
    switch (event.kind) {
    case EventKind::early_wait:
      for (const Event* one : passage.before) {
        put_order(*one, "WaitPreTaskEnd", "before WaitPreTaskEnd", "在 WaitPreTaskEnd 之前");
      }
      for (const Event* one : passage.syncs_before) {
        subject_.add("DCU867", *one, {{"call", "WaitPreTaskEnd"}});
      }
      passage.before.clear();
      passage.syncs_before.clear();
      passage.has_waited = true;
      break;
    case EventKind::early_set:
      passage.has_set = true;
      break;
    case EventKind::sync_all:
      if (passage.has_set) {
        subject_.add("DCU867", event, {{"call", "SetNextTaskStart"}});
      } else if (!passage.has_waited) {
        passage.syncs_before.insert(&event);
      }
      break;
    case EventKind::copy_in:
    case EventKind::read_value:
      if (!passage.has_waited) {
        passage.before.insert(&event);
      }
      break;
    case EventKind::copy_out:
    case EventKind::write_value:
    case EventKind::assign:
    case EventKind::store:
      if (passage.has_set) {
        put_order(event, "SetNextTaskStart", "after SetNextTaskStart", "在 SetNextTaskStart 之后");
      } else if (!passage.has_waited) {
        passage.before.insert(&event);
      }
      break;
    default:
      break;
    }
  }

  static Passage joined(Passage a, const Passage& b) {
    a.before.insert(b.before.begin(), b.before.end());
    a.syncs_before.insert(b.syncs_before.begin(), b.syncs_before.end());
    a.has_waited = a.has_waited && b.has_waited;
    a.has_set = a.has_set || b.has_set;
    return a;
  }

 private:
  void put_order(const Event& event, const std::string& call, const std::string& when,
                 const std::string& when_zh) {
    const bool reads = event.kind == EventKind::copy_in || event.kind == EventKind::read_value;
    finding::Values values = {{"object", event.object.empty() ? "global memory" : event.object},
                              {"call", call}};
    put(values, "what", (reads ? "is read " : "is written ") + when, when_zh + (reads ? "被读取" : "被写入"));
    subject_.add("DCU866", event, values);
  }

  const Subject& subject_;
};

class EarlyCheck {
 public:
  EarlyCheck(const Subject& subject, const Kernel& kernel) : subject_(subject), kernel_(kernel) {}

  void run() {
    std::map<Sides, Count> counts;
    for (const EventKind kind : {EventKind::early_set, EventKind::early_wait}) {
      counts.clear();
      for (const Sides side : each_side) {
        if ((kernel_.sides & side) != 0) {
          counts[side] = count(kind, side);
        }
      }
      judge_sides(kind, counts);
    }
    if (first_ == nullptr) {
      return;
    }
    for (const Sides side : each_side) {
      if ((kernel_.sides & side) != 0) {
        Order order(subject_);
        Flow<Passage, Order>(subject_.program, order, side).run(*kernel_.function, {});
      }
    }
    if (subject_.request.product == superkernel::Product::a2) {
      subject_.add("DCU868", *first_, {{"call", call_text(first_->kind)}});
    }
  }

 private:
  Count count(EventKind kind, Sides side) {
    Counter counter(
        subject_.program, side, [kind](const Event& event) { return event.kind == kind; },
        [&](const Split& split) { judge(kind, split); });
    Count total = counter.of(*kernel_.function);
    if (total.first == nullptr) {
      return total;
    }
    first_ = first_ != nullptr ? first_ : total.first;
    finding::Values values;
    if (total.most >= Count::no_bound) {
      put(values, "what", "is called in a loop", "在循环中被调用");
      put_finding(kind, *total.first, values);
    } else if (total.least > 1) {
      put(values, "what", "is called " + std::to_string(total.least) + " times on one path",
          "在同一路径上被调用 " + std::to_string(total.least) + " 次");
      put_finding(kind, *total.first, values);
    }
    return total;
  }

  finding::Finding& put_finding(EventKind kind, const Event& at, finding::Values& values) {
    values["call"] = call_text(kind);
    auto& added = subject_.add("DCU865", at, values);
    if (!kernel_.is_entry) {
      added.severity = std::min(added.severity, Severity::warning);
    }
    return added;
  }

  void judge(EventKind kind, const Split& split) {
    const Event* at = split.yes.most >= split.no.most ? split.yes.first : split.no.first;
    if (at == nullptr || split.is_loop || !never_equal(split.yes, split.no)) {
      return;
    }
    const std::string condition = split.condition->text();
    const bool by_key = !split.condition->tiling_key.empty();
    finding::Values values;
    if (by_key) {
      put(values, "what", "is called for some tiling keys and not for others: " + condition,
          "只在部分 tiling key 下被调用：" + condition);
    } else if (split.condition->by_core) {
      put(values, "what", "is not called on every core: " + condition, "不是每个核都会调用：" + condition);
    } else {
      put(values, "what", "is not called on every path: " + condition, "不是每条路径都会调用：" + condition);
    }
    auto& added = put_finding(kind, *at, values);
    if (!by_key && !split.condition->by_core) {
      added.severity = std::min(added.severity, Severity::warning); // all cores take the same path
    }
  }

  void judge_sides(EventKind kind, const std::map<Sides, Count>& counts) {
    if (counts.size() < 2 || !kernel_.has_type()) {
      return;
    }
    const Count& cube = counts.at(aic);
    const Count& vector = counts.at(aiv);
    if (cube.is_none() == vector.is_none()) {
      return;
    }
    const Sides lacks = cube.is_none() ? aic : aiv;
    finding::Values values;
    put(values, "what", "is not called on " + to_text(lacks) + ", and the kernel runs on both sides",
        "在 " + to_text(lacks) + " 上没有被调用，而核函数在两侧运行");
    put_finding(kind, cube.is_none() ? *vector.first : *cube.first, values);
  }

  const Subject& subject_;
  const Kernel& kernel_;
  const Event* first_ = nullptr;
};

} // namespace

void check_early_start(const Subject& subject) {
  for (const Kernel& kernel : subject.kernels) {
    EarlyCheck(subject, kernel).run();
  }
}

} // namespace dcuop::check::ascend
