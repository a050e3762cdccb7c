// DCU918: barriers of a block that not all of its threads reach.
#include "barriers.hpp"

#include <algorithm>

namespace dcuop::check {
namespace {

using source::Guard;
using source::Guards;
using source::Variance;
using source::VarianceTable;

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

/// Under no condition of its function; a loop is taken to run.
bool is_unconditional(Node call, Node body) {
  for (Node above = call.parent(); above && above != body; above = above.parent()) {
    if (above.is("if_statement") || above.is("switch_statement") || above.is("conditional_expression") ||
        above.is("lambda_expression")) {
      return false;
    }
  }
  return true;
}

/// How a device function's parameters differ, as the kernels and functions that call it say.
std::map<std::string, Variance> given(const Sources& sources, const Function& function, int depth) {
  std::map<std::string, Variance> parameters;
  if (function.has_mark("__global__") || depth > 3) {
    return parameters;
  }
  for (const Function* caller : sources.callers_of(function)) {
    if (caller == &function || !(caller->has_mark("__global__") || caller->has_mark("__device__"))) {
      continue;
    }
    const VarianceTable variance(*caller, source::hip_seeds(), given(sources, *caller, depth + 1));
    for (const Call& call : caller->calls) {
      const auto& callees = sources.model.callees(call);
      if (callees.size() != 1 || callees.front() != &function) {
        continue; // another of that name may be meant
      }
      for (std::size_t index = 0; index < call.arguments.size(); ++index) {
        const std::size_t position = source::parameter_index(call, function, index);
        if (position < function.parameters.size()) {
          parameters[function.parameters[position].name] |= variance.of(call.arguments[index]);
        }
      }
    }
  }
  return parameters;
}

/// Follows one kernel or device function.
class Walk {
 public:
  Walk(const Sources& sources, const Barriers& barriers, const Function& function, Findings& findings)
      : sources_(sources), barriers_(barriers), function_(function), findings_(findings),
        variance_(function, source::hip_seeds(), given_variance(sources, function)) {}

  void run() { source::PathWalk<bool, Walk>(*this).run(function_.body, false); }

  void visit(Node node, bool&, const Guards& guards) {
    node.each([&](Node one) {
      if (!one.is("call_expression")) {
        return;
      }
      const Call call = source::call_of(one, *function_.variants.front());
      if (barriers_.is_block_barrier(call, function_)) {
        judge(call, guards);
      }
    });
  }
  static bool joined(bool a, bool) { return a; }
  void leaves(Node, bool, const Guards&) {}

 private:
  void judge(const Call& call, const Guards& guards) {
    for (const Guard& guard : guards) {
      if (!guard.condition || !variance_.of(guard.condition).thread || reached_on_both_sides(guard, call) ||
          (guard.is_loop && is_rounded(guard.condition))) {
        continue;
      }
      // One that surrounds the barrier, or one that some threads left at before it.
      const Node branch = enclosing_statement(guard.condition);
      const bool surrounds = branch && call.at() >= branch.begin() && call.at() < branch.end();
      auto& added = findings_.add("DCU918", *function_.file, call.at(),
                                  {{"function", function_.name},
                                   {"barrier", call.name},
                                   {"condition", std::string(guard.condition.text())}});
      if (guard.is_loop || !surrounds || is_collective(guard.condition)) {
        // Wavefronts that have ended are not waited for on today's hardware, and trip counts may be equal after all.
        added.severity = finding::Severity::warning;
      }
      return;
    }
  }

  /// Its value comes from a function that all threads of the block run through, and may be the same for all.
  [[nodiscard]] bool is_collective(Node condition) const {
    bool collective = false;
    each_value(condition, [&](Node value) {
      value.each([&](Node one) {
        collective =
            collective ||
            (one.is("call_expression") &&
             (barriers_.is_block_barrier(source::call_of(one, *function_.variants.front()), function_) ||
              contains_any(one.text(),
                           {"BlockReduce", "BlockScan", "block_reduce", "BlockLoad", "blockReduce"})));
      });
    });
    return collective;
  }

  /// for (i = threadIdx.x; i < round_up(n, blockDim.x); i += blockDim.x): as many rounds for every thread.
  [[nodiscard]] bool is_rounded(Node condition) const {
    bool rounded = false;
    each_value(condition, [&](Node value) {
      rounded = rounded || contains_any(value.text(),
                                        {"round", "Round", "ROUND", "align", "Align", "ALIGN", "padded",
                                         "ceil", "DIV_UP", "div_up", "CEIL", "% blockDim", "* blockDim.x"});
    });
    return rounded;
  }

  /// The expression, and what its variables were made from.
  template <class Visit> void each_value(Node expression, Visit visit) const {
    visit(expression);
    for (const Node name : source::identifiers(expression)) {
      function_.body.each([&](Node node) {
        if (node.is("init_declarator") && source::declared_name(node).text() == name.text() &&
            !contains(node.child("value").text(), "threadIdx")) {
          visit(node.child("value"));
        }
      });
    }
  }

  static Node enclosing_statement(Node condition) {
    Node above = condition.parent();
    return above;
  }

  /// if (lane) { ...; __syncthreads(); } else { ...; __syncthreads(); }: every thread waits somewhere; AMD's s_barrier
  /// counts arrivals, not places.
  [[nodiscard]] bool reached_on_both_sides(const Guard& guard, const Call& call) const {
    const Node statement = guard.condition.parent();
    if (!statement.is("if_statement") || guard.is_loop) {
      return false;
    }
    const auto barriers_in = [&](Node node) {
      std::size_t count = 0;
      node.each([&](Node one) {
        count += one.is("call_expression") && source::last_name(one.child("function")) == call.name ? 1U : 0U;
      });
      return count;
    };
    const std::size_t yes = barriers_in(statement.child("consequence"));
    return yes > 0 && yes == barriers_in(statement.child("alternative"));
  }

  const Sources& sources_;
  const Barriers& barriers_;
  const Function& function_;
  Findings& findings_;
  VarianceTable variance_;
};

} // namespace

std::map<std::string, Variance> given_variance(const Sources& sources, const Function& function) {
  return given(sources, function, 0);
}

Barriers::Barriers(const Sources& sources) : sources_(sources) {
  for (const auto& function : sources.model.functions()) {
    const bool device =
        function->has_mark("__device__") || function->has_mark("__global__") || function->is_macro;
    if (!device) {
      continue;
    }
    if (const auto found = hand_barrier(sources.model, *function)) {
      by_hand_.emplace(function.get(), *found);
      grid_.insert(function.get());
    }
  }
  for (bool changed = true; changed;) {
    changed = false;
    for (const auto& function : sources.model.functions()) {
      for (const Call& call : function->calls) {
        const bool host =
            !function->has_mark("__device__") && !function->has_mark("__global__") && !function->is_macro;
        if (!host && call.launch.empty() && is_grid_barrier(call, *function)) {
          changed = grid_.insert(function.get()).second || changed;
        }
      }
    }
  }
}

bool Barriers::is_cooperative_sync(const Call& call, const Function& in) const {
  if (call.name == "grid_sync" || call.name == "__ockl_grid_sync") {
    return true;
  }
  // grid.sync(), cg::sync(grid)
  const Node receiver = call.name != "sync"      ? Node()
                        : call.receiver          ? call.receiver
                        : call.arguments.empty() ? Node()
                                                 : call.arguments[0];
  if (!receiver) {
    return false;
  }
  if (contains_any(receiver.text(), {"this_grid", "this_multi_grid"})) {
    return true;
  }
  const std::string type = sources_.model.type_of(receiver, in);
  if (contains(type, "grid_group")) {
    return true;
  }
  bool is_grid = false;
  in.body.each([&](Node node) {
    if (node.is("init_declarator") && source::declared_name(node).text() == receiver.text()) {
      is_grid = is_grid || contains_any(node.child("value").text(), {"this_grid", "this_multi_grid"});
    }
  });
  return is_grid;
}

bool Barriers::is_grid_barrier(const Call& call, const Function& in) const {
  if (is_cooperative_sync(call, in)) {
    return true;
  }
  return are_all(call, in, [&](const Function& one) { return grid_.contains(&one); });
}

bool Barriers::are_all(const Call& call, const Function& in,
                       const std::function<bool(const Function&)>& wanted) const {
  bool any = false;
  for (const Function* one : sources_.model.callees(call)) {
    if (one == &in || one->has_mark("__global__")) {
      continue;
    }
    if (!wanted(*one)) {
      return false;
    }
    any = true;
  }
  return any;
}

bool Barriers::is_block_barrier(const Call& call, const Function& in) const {
  if (is_any_of(call.name, {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
                            "__builtin_amdgcn_s_barrier"})) {
    return true;
  }
  if (call.name == "sync" && call.receiver) {
    bool is_block = contains(call.receiver.text(), "this_thread_block") ||
                    contains(sources_.model.type_of(call.receiver, in), "thread_block");
    in.body.each([&](Node node) {
      if (node.is("init_declarator") && source::declared_name(node).text() == call.receiver.text()) {
        is_block = is_block || (contains(node.child("value").text(), "this_thread_block") &&
                                !contains(node.child("value").text(), "tiled_partition"));
      }
    });
    return is_block && !contains(sources_.model.type_of(call.receiver, in), "thread_block_tile");
  }
  // A device function that waits always makes its call a wait.
  return are_all(call, in, [](const Function& callee) {
    return (callee.has_mark("__device__") || callee.is_macro) &&
           std::any_of(callee.calls.begin(), callee.calls.end(), [&](const Call& inner) {
             return inner.name == "__syncthreads" && is_unconditional(inner.node, callee.body);
           });
  });
}

void check_barriers(const Sources& sources, Findings& findings) {
  const Barriers barriers(sources);
  for (const auto& function : sources.model.functions()) {
    if (function->has_mark("__global__") || function->has_mark("__device__")) {
      Walk(sources, barriers, *function, findings).run();
    }
  }
}

} // namespace dcuop::check
