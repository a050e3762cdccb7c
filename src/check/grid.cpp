// DCU93x: barriers across a grid. A kernel that waits for all blocks needs all of them on the device at once.
#include <algorithm>

#include "barriers.hpp"
#include "device_walk.hpp"

namespace dcuop::check {
namespace {

using source::Guard;
using source::Guards;

bool is_fence(std::string_view name) {
  return is_any_of(name,
                   {"__threadfence", "__threadfence_system", "__atomic_thread_fence",
                    "__builtin_amdgcn_fence", "atomic_thread_fence", "__sync_synchronize", "thread_fence"});
}

/// An atomic that orders what is around it: the argument names an order stronger than relaxed.
bool is_ordered(Node call) {
  return contains_any(call.text(), {"__ATOMIC_ACQ_REL", "__ATOMIC_ACQUIRE", "__ATOMIC_RELEASE",
                                    "__ATOMIC_SEQ_CST", "memory_order_acq_rel", "memory_order_acquire",
                                    "memory_order_release", "memory_order_seq_cst"});
}

/// Blocks that leave, or are led around, before a grid barrier.
class ReachCheck {
 public:
  ReachCheck(const Sources& sources, const Barriers& barriers, const Function& function, Findings& findings)
      : barriers_(barriers), function_(function), findings_(findings), walk_(sources, function) {}

  void run() {
    walk_.run([this](const Call& call, const Guards& guards) {
      if (!guards.empty() && barriers_.is_grid_barrier(call, function_)) {
        judge(call, call.name == "sync" ? "grid.sync()" : call.name, guards);
      }
    });
  }

 private:
  void judge(const Call& barrier, const std::string& name, const Guards& guards) {
    for (const Guard& guard : guards) {
      // A barrier of cooperative groups is for every thread.
      const source::Variance variance = guard.condition ? walk_.of(guard.condition) : source::Variance();
      if (variance.block || (variance.thread && name == "grid.sync()")) {
        findings_.add("DCU932", *function_.file, walk_.place(barrier).begin(),
                      {{"function", function_.name},
                       {"barrier", name},
                       {"condition", std::string(guard.condition.text())}});
        return;
      }
    }
  }

  const Barriers& barriers_;
  const Function& function_;
  Findings& findings_;
  DeviceWalk walk_;
};

class GridCheck {
 public:
  GridCheck(const Sources& sources, Findings& findings)
      : sources_(sources), findings_(findings), barriers_(sources) {}

  void run() {
    for (const LaunchSite& site : sources_.launches) {
      plain_launch(site);
    }
    for (const auto& function : sources_.model.functions()) {
      if ((function->has_mark("__global__") || function->has_mark("__device__")) &&
          barriers_.waits_for_grid(*function)) {
        ReachCheck(sources_, barriers_, *function, findings_).run();
      }
      if (function->has_mark("__global__") || function->has_mark("__device__")) {
        last_block(*function);
      }
    }
    for (const auto& [function, barrier] : barriers_.by_hand()) {
      state(*function, barrier);
      fences(*function, barrier);
    }
  }

 private:
  void plain_launch(const LaunchSite& site) {
    if (site.is_cooperative || one_block(site)) {
      return;
    }
    for (const Function* kernel : sources_.model.named(site.kernel, site.in->file)) {
      if (kernel->has_mark("__global__") && barriers_.waits_for_grid(*kernel)) {
        findings_.add("DCU931", *site.in->file, site.call->at(),
                      {{"kernel", kernel->name}, {"function", site.in->name}});
      }
    }
  }

  [[nodiscard]] bool one_block(const LaunchSite& site) const {
    if (!site.grid) {
      return false;
    }
    if (sources_.model.fold(site.grid) == 1) {
      return true;
    }
    const Node arguments = site.grid.is("call_expression") ? site.grid.child("arguments") : Node();
    bool all_one = bool(arguments.first());
    for (Node one = arguments.first(); one; one = one.next()) {
      all_one = all_one && sources_.model.fold(one) == 1;
    }
    return all_one;
  }

  /// One counter for every launch and stream.
  void state(const Function& function, const HandBarrier& barrier) {
    for (const auto& declared : sources_.model.declared()) {
      const bool global = std::any_of(declared.marks.begin(), declared.marks.end(),
                                      [](const auto& mark) { return mark.name == "__device__"; });
      if (global && counts_in(function, barrier, declared.name)) {
        findings_.add("DCU933", *declared.file, declared.node.begin(),
                      {{"counter", declared.name}, {"function", function.name}});
        return;
      }
    }
  }

  /// The counter is that variable, here or as what a caller hands over.
  [[nodiscard]] bool counts_in(const Function& function, const HandBarrier& barrier,
                               const std::string& name) const {
    if (barrier.counter == name && function.parameter(name) == nullptr) {
      return true;
    }
    std::size_t position = 0;
    while (position < function.parameters.size() && function.parameters[position].name != barrier.counter) {
      ++position;
    }
    for (const Function* caller : sources_.callers_of(function)) {
      for (const Call& call : caller->calls) {
        const auto& callees = sources_.model.callees(call);
        if (position < call.arguments.size() &&
            std::find(callees.begin(), callees.end(), &function) != callees.end() &&
            source::base_name(call.arguments[position]) == name && caller->parameter(name) == nullptr) {
          return true;
        }
      }
    }
    return false;
  }

  void fences(const Function& function, const HandBarrier& barrier) {
    bool released = is_ordered(barrier.arrival);
    bool acquired = is_ordered(barrier.loop);
    for (const Call& call : function.calls) {
      released = released || (is_fence(call.name) && call.at() < barrier.arrival.begin());
      acquired = acquired || (is_fence(call.name) && call.at() >= barrier.loop.begin());
    }
    if (barrier.reads_plainly) {
      put_unfenced(function, barrier.loop, "the loop reads " + barrier.waited + " without an atomic load",
                   "循环没有用原子读取 " + barrier.waited);
    } else if (!released) {
      put_unfenced(function, barrier.arrival, "nothing releases what was written before the arrival",
                   "到达之前写入的数据没有释放（release）");
    } else if (!acquired) {
      put_unfenced(function, barrier.loop, "nothing acquires what other blocks have written",
                   "其他块写入的数据没有获取（acquire）");
    }
  }

  void put_unfenced(const Function& function, Node at, const std::string& what, const std::string& chinese) {
    findings_.add("DCU934", *function.file, at.begin(),
                  {{"function", function.name}, {"what", what}, {"what:zh", chinese}});
  }

  /// partial[blockIdx.x] = ...; if (atomicAdd(&count, 1) == gridDim.x - 1) { reads partial }: without a fence.
  void last_block(const Function& kernel) {
    if (barriers_.by_hand().contains(&kernel)) {
      return;
    }
    for (const Call& call : kernel.calls) {
      const bool counts =
          is_any_of(call.name, {"atomicAdd", "atomicInc", "__hip_atomic_fetch_add", "__atomic_fetch_add"});
      if (!counts || !compared_with_grid(kernel, call) || is_ordered(call.node)) {
        continue;
      }
      bool fenced = false;
      bool writes = false;
      for (const Call& other : kernel.calls) {
        fenced = fenced || (is_fence(other.name) && other.at() < call.at());
        for (const Function* callee : sources_.model.callees(other)) {
          fenced = fenced || (other.at() < call.at() &&
                              std::any_of(callee->calls.begin(), callee->calls.end(),
                                          [](const Call& inner) { return is_fence(inner.name); }));
        }
      }
      kernel.body.each([&](Node node) {
        if (node.is("assignment_expression") && node.begin() < call.at() &&
            node.child("left").is("subscript_expression")) {
          const auto* parameter = kernel.parameter(source::base_name(node.child("left")));
          writes = writes || (parameter != nullptr && contains(parameter->type, "*"));
        }
      });
      if (writes && !fenced) {
        put_unfenced(kernel, call.node,
                     "the last block reads what others wrote without a fence before the count",
                     "最后一个块读取其他块写入的数据，而计数之前没有栅栏");
      }
    }
  }

  static bool compared_with_grid(const Function& kernel, const Call& call) {
    std::string ticket;
    for (Node above = call.node.parent(); above && !above.type().ends_with("statement");
         above = above.parent()) {
      if (above.is("binary_expression") && contains(above.text(), "gridDim")) {
        return true;
      }
      if (above.is("init_declarator")) {
        ticket = std::string(source::declared_name(above).text());
      } else if (above.is("assignment_expression")) {
        ticket = source::base_name(above.child("left"));
      }
    }
    bool compared = false;
    kernel.body.each([&](Node node) {
      if (!ticket.empty() && node.is("binary_expression") &&
          is_any_of(node.child("operator").text(), {"==", ">="}) && contains(node.text(), "gridDim")) {
        for (const Node one : source::identifiers(node)) {
          compared = compared || one.text() == ticket;
        }
      }
    });
    return compared;
  }

  const Sources& sources_;
  Findings& findings_;
  Barriers barriers_;
};

} // namespace

void check_grid(const Sources& sources, Findings& findings) {
  GridCheck(sources, findings).run();
}

} // namespace dcuop::check
