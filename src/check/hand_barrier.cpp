// Waits for every block that are written by hand.
#include <set>

#include "barriers.hpp"

namespace dcuop::check {
namespace {

bool is_arrival(std::string_view name) {
  return is_any_of(name, {"atomicAdd", "atomicInc", "atomicSub", "atomicDec", "atomicAdd_system",
                          "__hip_atomic_fetch_add", "__atomic_fetch_add", "__atomic_add_fetch", "fetch_add",
                          "atomicAggInc", "__hip_atomic_fetch_sub", "__sync_fetch_and_add"});
}

/// Reads in memory that others write: a load, or an atomic that adds nothing.
bool is_atomic_read(const source::Model& model, Node call) {
  const std::string name = source::last_name(call.child("function"));
  if (is_any_of(name, {"atomicAdd", "atomicOr", "atomicSub", "atomicMax", "__hip_atomic_fetch_add",
                       "__hip_atomic_fetch_or", "__atomic_fetch_add"})) {
    const auto arguments = call.child("arguments").children();
    return arguments.size() > 1 && model.fold(arguments[1]) == 0;
  }
  return is_any_of(name, {"__hip_atomic_load", "__atomic_load_n", "load", "atomicCAS", "atomicLoad",
                          "__builtin_nontemporal_load", "ld_acquire"});
}

/// A loop in which nothing is done but waiting until what is counted changes.
class WaitingLoop {
 public:
  WaitingLoop(const source::Model& model, Node loop, std::string_view counter)
      : model_(model), loop_(loop), counter_(counter) {}

  [[nodiscard]] bool waits() const { return is_idle() && decides(); }

  [[nodiscard]] bool reads_atomically() const {
    bool atomic = false;
    loop_.each([&](Node one) {
      atomic = atomic || (one.is("call_expression") && is_atomic_read(model_, one)) ||
               (one.is("type_qualifier") && one.text() == "volatile");
    });
    return atomic;
  }

 private:
  [[nodiscard]] bool is_idle() const {
    bool idle = true;
    loop_.each([&](Node node) {
      if (node.is("call_expression")) {
        const std::string name = source::last_name(node.child("function"));
        idle = idle && (contains_any(name, {"sleep", "yield", "fence", "wait", "_cast"}) ||
                        is_atomic_read(model_, node));
      }
      const Node written = node.is("assignment_expression") ? node.child("left") : Node();
      idle = idle && !node.is("update_expression") && !node.is("return_statement") &&
             !written.is("subscript_expression") && !written.is("pointer_expression");
    });
    return idle;
  }

  [[nodiscard]] bool mentions_counter(Node node) const {
    bool found = false;
    node.each([&](Node one) {
      found = found || ((one.is("identifier") || one.is("field_identifier")) && one.text() == counter_);
    });
    return found;
  }

  /// Whether it goes on is decided by the counter, or by a variable that is read from it in the loop.
  [[nodiscard]] bool decides() const {
    std::set<std::string, std::less<>> read;
    loop_.each([&](Node node) {
      const Node value = node.is("assignment_expression") ? node.child("right")
                         : node.is("init_declarator")     ? node.child("value")
                                                          : Node();
      if (value && mentions_counter(value)) {
        read.insert(node.is("init_declarator") ? std::string(source::declared_name(node).text())
                                               : source::base_name(node.child("left")));
      }
    });
    const auto by_counter = [&](Node condition) {
      bool found = mentions_counter(condition);
      for (const Node name : source::identifiers(condition)) {
        found = found || read.contains(name.text());
      }
      return found;
    };
    bool decided = by_counter(loop_.child("condition"));
    loop_.child("body").each([&](Node node) {
      decided = decided || (node.is("if_statement") && contains(node.text(), "break") &&
                            by_counter(node.child("condition")));
    });
    return decided;
  }

  const source::Model& model_;
  Node loop_;
  std::string_view counter_;
};

/// Declared __shared__ here: only threads of one block count in it.
bool is_shared(const Function& function, std::string_view name) {
  bool shared = false;
  for (const source::Mark& mark : function.variants.front()->marks) {
    if (mark.name != "__shared__" || mark.at < function.body.begin() || mark.at >= function.body.end()) {
      continue;
    }
    function.body.each([&](Node node) {
      if (node.is("declaration") && mark.at < node.end() && mark.at + 60 > node.begin()) {
        for (Node one = node.first(); one; one = one.next()) {
          shared = shared || (one.field() == "declarator" && source::declared_name(one).text() == name);
        }
      }
    });
  }
  return shared;
}

/// if (atomicAdd(count, 1) == blocks - 1) { *generation += 1; } else { while (*generation == before) {} }: the loop waits
/// for another variable than what was counted in.
bool is_on_either_side(Node arrival, Node loop) {
  for (Node above = arrival.parent(); above; above = above.parent()) {
    if (above.is("if_statement")) {
      const Node condition = above.child("condition");
      const bool decides = arrival.begin() >= condition.begin() && arrival.begin() < condition.end();
      return decides && contains_any(condition.text(), {"==", "!="}) && loop.begin() >= condition.end() &&
             loop.begin() < above.end();
    }
  }
  return false;
}

/// What a loop may wait for: the counter, or memory that is neither a local variable nor the block's.
std::vector<std::string> waited_for(const Function& function, Node arrival, Node loop,
                                    const std::string& counter) {
  std::vector<std::string> names = {counter};
  if (!is_on_either_side(arrival, loop)) {
    return names;
  }
  for (const Node name : source::identifiers(loop)) {
    const std::string text(name.text());
    const source::Parameter* parameter = function.parameter(text);
    bool local = false;
    function.body.each([&](Node node) {
      local = local || (node.is("init_declarator") && source::declared_name(node).text() == text);
    });
    const bool memory = parameter != nullptr ? contains(parameter->type, "*") : !local;
    if (memory && !is_shared(function, text)) {
      names.push_back(text);
    }
  }
  return names;
}

} // namespace

std::optional<HandBarrier> hand_barrier(const source::Model& model, const Function& function) {
  for (const Call& call : function.calls) {
    const Node counted = call.name == "fetch_add" ? call.receiver
                         : call.arguments.empty() ? Node()
                                                  : call.arguments.front();
    if (!is_arrival(call.name) || !counted) {
      continue;
    }
    const std::string counter = source::base_name(counted);
    if (counter.empty() || is_shared(function, counter)) {
      continue;
    }
    std::optional<HandBarrier> found;
    function.body.each([&](Node node) {
      const bool is_loop = node.is("while_statement") || node.is("do_statement") || node.is("for_statement");
      const bool inside = call.at() >= node.begin() && call.at() < node.end();
      if (found || !is_loop || inside || node.begin() < call.at()) {
        return;
      }
      for (const std::string& name : waited_for(function, call.node, node, counter)) {
        const WaitingLoop loop(model, node, name);
        if (!found && loop.waits()) {
          const bool atomic = contains(model.type_of(name, function), "volatile") || loop.reads_atomically();
          found = HandBarrier{call.node, node, counter, name, !atomic};
        }
      }
    });
    if (found) {
      return found;
    }
  }
  return std::nullopt;
}

} // namespace dcuop::check
