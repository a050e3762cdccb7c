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

bool is_atomic_read(std::string_view name) {
  return is_any_of(name,
                   {"__hip_atomic_load", "__atomic_load_n", "load", "atomicAdd", "atomicOr", "atomicCAS",
                    "atomicMax", "__hip_atomic_fetch_add", "__builtin_nontemporal_load", "ld_acquire"});
}

/// Nothing but waiting.
bool is_idle(Node body) {
  bool idle = true;
  body.each([&idle](Node node) {
    if (node.is("call_expression")) {
      const std::string name = source::last_name(node.child("function"));
      idle = idle && (contains_any(name, {"sleep", "yield", "fence", "wait"}) || is_atomic_read(name));
    }
    idle = idle && !node.is("update_expression") && !node.is("return_statement") && !node.is("declaration");
  });
  return idle;
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
    std::optional<HandBarrier> found;
    function.body.each([&](Node node) {
      if (found || !(node.is("while_statement") || node.is("do_statement") || node.is("for_statement"))) {
        return;
      }
      const Node condition = node.child("condition");
      const Node body = node.child("body");
      const bool inside = call.at() >= node.begin() && call.at() < node.end();
      if (inside || node.begin() < call.at() || !is_idle(body) || counter.empty()) {
        return;
      }
      bool reads = false;
      bool atomic =
          contains(model.type_of(counter, function), "volatile") || contains(node.text(), "volatile");
      node.each([&](Node one) {
        reads = reads || (one.is("identifier") && one.text() == counter);
        atomic =
            atomic || (one.is("call_expression") && is_atomic_read(source::last_name(one.child("function"))));
      });
      if (reads && condition) {
        found = HandBarrier{call.node, node, counter, !atomic};
      }
    });
    if (found) {
      return found;
    }
  }
  return std::nullopt;
}

/// Follows one kernel or device function.
class Walk {
 public:
  Walk(const Sources& sources, const Barriers& barriers, const Function& function, Findings& findings)
      : sources_(sources), barriers_(barriers), function_(function), findings_(findings),
        variance_(function, source::hip_seeds()) {}

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
      if (!guard.condition || !variance_.of(guard.condition).thread || reached_on_both_sides(guard, call)) {
        continue;
      }
      // One that surrounds the barrier, or one that some threads left at before it.
      const Node branch = enclosing_statement(guard.condition);
      const bool surrounds = branch && call.at() >= branch.begin() && call.at() < branch.end();
      auto& added = findings_.add("DCU918", *function_.file, call.at(),
                                  {{"function", function_.name},
                                   {"barrier", call.name},
                                   {"condition", std::string(guard.condition.text())}});
      if (guard.is_loop || !surrounds) {
        // Wavefronts that have ended are not waited for on today's hardware, and trip counts may be equal after all.
        added.severity = finding::Severity::warning;
      }
      return;
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
  const Node receiver = call.name == "sync"                              ? call.receiver
                        : !call.arguments.empty() && call.name == "sync" ? call.arguments[0]
                                                                         : Node();
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
  const auto& callees = sources_.model.callees(call);
  return std::any_of(callees.begin(), callees.end(), [&](const Function* one) {
    return one != &in && grid_.contains(one) && !one->has_mark("__global__");
  });
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
  for (const Function* callee : sources_.model.callees(call)) {
    if (callee == &in || callee->has_mark("__global__")) {
      continue;
    }
    for (const Call& inner : callee->calls) {
      if (inner.name == "__syncthreads" && (callee->has_mark("__device__") || callee->is_macro)) {
        return true;
      }
    }
  }
  return false;
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
