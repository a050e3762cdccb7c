// DCU857 to DCU862: scalars of global memory go through the data cache of each core, which nothing flushes at the end of
// an operator inside a SuperKernel.
#include "ascend.hpp"

namespace dcuop::check::ascend {
namespace {

using finding::Severity;
using EventKind = Event::Kind;

/// Writes that no flush has followed yet.
using Pending = std::map<const Event*, std::string>;

struct Written {
  Pending assigned; ///< gm(i) = v, *p = v
  Pending set;      ///< SetValue, which is flushed when another line is touched
};

/// Follows writes to the flush behind them.
class Follower {
 public:
  Follower(const Subject& subject, const Kernel& kernel) : subject_(subject), kernel_(kernel) {}

  void event(const Event& event, const std::string& object, Written& written, const Way&) {
    switch (event.kind) {
    case EventKind::assign:
    case EventKind::store:
      written.assigned[&event] = object;
      break;
    case EventKind::write_value:
      written.set[&event] = object;
      break;
    case EventKind::flush:
      flush(object, written.assigned);
      flush(object, written.set);
      break;
    case EventKind::sync_all:
    case EventKind::soft_sync:
    case EventKind::set_flag:
      for (const auto& [write, name] : written.set) {
        finding::Values values = {{"object", write->object}};
        put(values, "reader", "another core", "另一个核");
        subject_.add("DCU860", *write, values);
      }
      written.set.clear();
      break;
    case EventKind::copy_in:
      judge_copy(object, written.set);
      break;
    default:
      break;
    }
  }

  static Written joined(Written a, const Written& b) {
    a.assigned.insert(b.assigned.begin(), b.assigned.end());
    a.set.insert(b.set.begin(), b.set.end());
    return a;
  }

  void end(const Written& written) {
    for (const auto& [write, name] : written.assigned) {
      const bool stores = write->kind == EventKind::store;
      auto& added = subject_.add(stores ? "DCU858" : "DCU857", *write, {{"object", write->object}});
      if (!kernel_.is_entry) {
        added.severity = std::min(added.severity, Severity::warning); // whoever calls it may flush
      }
    }
  }

 private:
  static void flush(const std::string& object, Pending& pending) {
    std::erase_if(pending, [&object](const auto& one) {
      return object.empty() || one.second.empty() || one.second == object;
    });
  }

  /// A DMA that reads what a scalar write may still have in the cache.
  void judge_copy(const std::string& object, Pending& pending) {
    for (auto one = pending.begin(); one != pending.end();) {
      if (object.empty() || one->second != object) {
        ++one;
        continue;
      }
      finding::Values values = {{"object", one->first->object}};
      put(values, "reader", "a copy of this core", "本核的一次搬运");
      subject_.add("DCU860", *one->first, values);
      one = pending.erase(one);
    }
  }

  const Subject& subject_;
  const Kernel& kernel_;
};

/// Loops: what is polled, and what costs a flush each time round.
class LoopCheck {
 public:
  LoopCheck(const Subject& subject, const Kernel& kernel) : subject_(subject), kernel_(kernel) {}

  void run() {
    for (const Sides side : each_side) {
      if ((kernel_.sides & side) != 0) {
        each_event(subject_.program, kernel_, side,
                   [this](const Event& event, const std::string&, const Way& way) { take(event, way); });
      }
    }
    if (!scalar_sites_.empty()) {
      const Event& first = *scalar_sites_.begin()->second;
      subject_.add("DCU861", first,
                   {{"count", std::to_string(scalar_sites_.size())}, {"kernel", kernel_.function->name}});
    }
  }

 private:
  void take(const Event& event, const Way& way) {
    if (way.loops == 0) {
      return;
    }
    if (event.kind == EventKind::read_value || event.kind == EventKind::write_value) {
      scalar_sites_.emplace(std::pair(event.in, event.node.begin()), &event);
    } else if (event.kind == EventKind::flush && event.whole) {
      subject_.add("DCU862", event);
    }
  }

  const Subject& subject_;
  const Kernel& kernel_;
  std::map<std::pair<const Function*, Offset>, const Event*> scalar_sites_;
};

/// while (flag.GetValue(0) != 1): the second read of a line by one object is not refreshed.
class PollCheck {
 public:
  PollCheck(const Subject& subject, const Function& function) : subject_(subject), function_(function) {}

  void run() {
    function_.body.each([this](Node node) {
      if (node.is("while_statement") || node.is("do_statement") || node.is("for_statement")) {
        judge(node);
      }
    });
  }

 private:
  void judge(Node loop) {
    const Node condition = loop.child("condition");
    const Node body = loop.child("body");
    std::set<std::string> changing;
    bool flushes = false;
    const auto look = [&](const Steps& steps) { flushes = flushes || has_flush(steps, 0); };
    look(steps_of_expression(subject_.program, function_, condition));
    look(steps_of_expression(subject_.program, function_, body));
    if (flushes) {
      return;
    }
    loop.each([&](Node node) {
      if (node.is("update_expression")) {
        changing.insert(object_name(node.child("argument")));
      } else if (node.is("assignment_expression")) {
        changing.insert(object_name(node.child("left")));
      } else if (node.is("init_declarator")) {
        changing.insert(std::string(source::declared_name(node).text()));
      }
    });
    if (condition) {
      judge_reads(condition, changing);
    }
    // do { v = flag.GetValue(0); } while (v != 1), and in a loop without an end a break under such a condition
    const std::string test = one_line(condition.text());
    const bool is_endless = is_any_of(test, {"", "true", "1", "(true)", "(1)"});
    body.each([&](Node node) {
      const bool breaks = is_endless && node.is("if_statement") && leaves_loop(node, loop);
      if (breaks) {
        judge_reads(node.child("condition"), changing);
        judge_variables(node.child("condition"), body, changing);
      }
    });
    if (condition) {
      judge_variables(condition, body, changing);
    }
  }

  [[nodiscard]] bool has_flush(const Steps& steps, int depth) const {
    for (const Step& step : steps) {
      if (step.kind == Step::Kind::event && step.event.kind == EventKind::flush) {
        return true;
      }
      if (has_flush(step.yes, depth) || has_flush(step.no, depth)) {
        return true;
      }
      for (const Function* callee : step.callees) {
        if (callee != nullptr && depth < 4 && has_flush(subject_.program.steps_of(*callee), depth + 1)) {
          return true;
        }
      }
    }
    return false;
  }

  static bool leaves_loop(Node branch, Node loop) {
    bool leaves = false;
    branch.child("consequence").each([&](Node node) {
      leaves = leaves || node.is("break_statement") || node.is("return_statement");
    });
    for (Node above = branch.parent(); above && above != loop; above = above.parent()) {
      if (above.is("while_statement") || above.is("for_statement") || above.is("do_statement") ||
          above.is("switch_statement")) {
        return false; // out of another one
      }
    }
    return leaves;
  }

  void judge_reads(Node condition, const std::set<std::string>& changing) {
    for (const Step& step : steps_of_expression(subject_.program, function_, condition)) {
      if (step.kind != Step::Kind::event || step.event.kind != EventKind::read_value) {
        continue;
      }
      bool moves = false;
      const auto look = [&](Node node) {
        const bool names = node.is("identifier") || node.is("field_identifier");
        moves = moves || (names && changing.contains(std::string(node.text())));
      };
      step.event.node.child("arguments").each(look);
      step.event.node.child("function").each(look);
      if (!moves) {
        subject_.add("DCU859", step.event, {{"object", step.event.object}});
      }
    }
  }

  /// What the condition compares was read in the body.
  void judge_variables(Node condition, Node body, const std::set<std::string>& changing) {
    std::set<std::string> compared;
    condition.each([&](Node node) {
      if (node.is("identifier")) {
        compared.insert(std::string(node.text()));
      }
    });
    body.each([&](Node node) {
      const bool initial = node.is("init_declarator");
      if (!initial && !node.is("assignment_expression")) {
        return;
      }
      const std::string name =
          initial ? std::string(source::declared_name(node).text()) : object_name(node.child("left"));
      const Node value = node.child(initial ? "value" : "right");
      if (compared.contains(name) && value.is("call_expression")) {
        std::set<std::string> others = changing;
        others.erase(name);
        judge_reads(value, others);
      }
    });
  }

  const Subject& subject_;
  const Function& function_;
};

} // namespace

void check_cache(const Subject& subject) {
  std::set<const Function*> device;
  for (const Kernel& kernel : subject.kernels) {
    for (const Sides side : each_side) {
      if ((kernel.sides & side) == 0) {
        continue;
      }
      Follower follower(subject, kernel);
      Flow<Written, Follower> flow(subject.program, follower, side);
      if (const auto end = flow.run(*kernel.function, {})) {
        follower.end(*end);
      }
    }
    LoopCheck(subject, kernel).run();
    device.insert(kernel.function);
    device.insert(kernel.reached.begin(), kernel.reached.end());
  }
  for (const Function* function : device) {
    PollCheck(subject, *function).run();
  }
}

} // namespace dcuop::check::ascend
