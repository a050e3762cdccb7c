// DCU918: barriers of a block that not all of its threads reach.
#include <algorithm>

#include "barriers.hpp"
#include "device_walk.hpp"

namespace dcuop::check {
namespace {

using finding::Severity;
using source::Guard;
using source::Guards;

/// Follows one kernel or device function.
class BlockBarrierCheck {
 public:
  BlockBarrierCheck(const Sources& sources, const Barriers& barriers, const Function& function,
                    Findings& findings)
      : barriers_(barriers), function_(function), findings_(findings), walk_(sources, function) {}

  void run() {
    walk_.run([this](const Call& call, const Guards& guards) {
      if (guards.empty()) {
        return;
      }
      if (const Waits waits = barriers_.block_waits(call, function_); waits.ever) {
        judge(call, guards, waits);
      }
    });
  }

 private:
  void judge(const Call& call, const Guards& guards, Waits waits) {
    for (const Guard& guard : guards) {
      if (!guard.condition || !walk_.of(guard.condition).thread || reached_on_both_sides(guard, call) ||
          (guard.is_loop && is_rounded(guard.condition))) {
        continue;
      }
      auto& added = findings_.add("DCU918", *function_.file, walk_.place(call).begin(),
                                  {{"function", function_.name},
                                   {"barrier", call.name},
                                   {"condition", std::string(guard.condition.text())}});
      const bool surrounds = guard.left == Guard::Left::nothing || goes_on_at(guard);
      if (guard.is_loop || !surrounds || !waits.always || is_collective(guard.condition)) {
        // Wavefronts that have ended are not waited for on today's hardware, and trip counts may be equal after all.
        added.severity = Severity::warning;
      }
      return;
    }
  }

  /// `goto` over a barrier, to where something is done.
  [[nodiscard]] bool goes_on_at(const Guard& guard) const {
    bool goes_on = false;
    function_.body.each([&](Node node) {
      if (guard.left == Guard::Left::label && node.is("labeled_statement") &&
          node.child("label").text() == guard.label) {
        const Node next = node.child("label").next();
        goes_on = next && !next.is("return_statement") && (!next.is("expression_statement") || next.first());
      }
    });
    return goes_on;
  }

  /// Its value comes from a function that all threads of the block run through, and may be the same for all.
  [[nodiscard]] bool is_collective(Node condition) const {
    bool collective = false;
    each_value(condition, [&](Node value) {
      value.each([&](Node one) {
        collective =
            collective ||
            (one.is("call_expression") &&
             (barriers_.block_waits(source::call_of(one, *function_.variants.front()), function_).ever ||
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

  /// if (lane) { ...; __syncthreads(); } else { ...; __syncthreads(); }: every thread waits somewhere; AMD's s_barrier
  /// counts arrivals, not places.
  [[nodiscard]] bool reached_on_both_sides(const Guard& guard, const Call& call) const {
    const Node above = guard.condition.parent();
    const bool is_choice = above.is("if_statement") || above.is("conditional_expression");
    if (!is_choice || guard.is_loop) {
      return false;
    }
    const bool beside = guard.condition.tree() == call.node.tree();
    const std::string wanted = beside ? source::last_name(call.node.child("function")) : walk_.name_at(call);
    const auto barriers_in = [&](Node node) {
      std::size_t count = 0;
      node.each([&](Node one) {
        const bool is_call = one.is("call_expression") && source::last_name(one.child("function")) == wanted;
        const bool is_macro =
            one.is("identifier") && one.parent().is("expression_statement") && one.text() == wanted;
        count += is_call || is_macro ? 1U : 0U;
      });
      return count;
    };
    const std::size_t yes = barriers_in(above.child("consequence"));
    return yes > 0 && yes == barriers_in(above.child("alternative"));
  }

  const Barriers& barriers_;
  const Function& function_;
  Findings& findings_;
  DeviceWalk walk_;
};

} // namespace

void check_barriers(const Sources& sources, Findings& findings) {
  const Barriers barriers(sources);
  for (const auto* all : {&sources.model.functions(), &sources.model.lambdas()}) {
    for (const auto& function : *all) {
      if (function->has_mark("__global__") || function->has_mark("__device__")) {
        BlockBarrierCheck(sources, barriers, *function, findings).run();
      }
    }
  }
}

} // namespace dcuop::check
