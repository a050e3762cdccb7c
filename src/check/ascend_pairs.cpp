// DCU850 to DCU852: kernels of one vector core a cube core, in a launch of two.
#include "ascend.hpp"
#include "ascend_count.hpp"

namespace dcuop::check::ascend {
namespace {

using finding::Severity;

class PairCheck {
 public:
  PairCheck(const Subject& subject, const Kernel& kernel) : subject_(subject), kernel_(kernel) {}

  void run() {
    if (!kernel_.may_be(KernelType::mix_aic_1_1)) {
      return; // a type that is not said is not guessed
    }
    check_flags();
    check_matmul();
    check_split();
  }

 private:
  void lower(finding::Finding& added) const {
    if (!kernel_.is_only(KernelType::mix_aic_1_1)) {
      added.severity = std::min(added.severity, Severity::warning); // of some tiling keys
    }
  }

  void check_flags() {
    const auto wanted = [](const Event& event) {
      return event.kind == Event::Kind::wait_flag ||
             (event.kind == Event::Kind::set_flag && event.mode == std::int64_t{2});
    };
    Counter counter(subject_.program, aiv, wanted, [&](const Split& split) {
      const Event* at = split.yes.most >= split.no.most ? split.yes.first : split.no.first;
      if (split.condition->by_pair && at != nullptr && never_equal(split.yes, split.no)) {
        const bool sets = at->kind == Event::Kind::set_flag;
        lower(subject_.add("DCU850", *at,
                           {{"call", sets ? "CrossCoreSetFlag" : "CrossCoreWaitFlag"},
                            {"condition", split.condition->text()}}));
      }
    });
    (void)counter.of(*kernel_.function);
  }

  void check_matmul() {
    std::set<std::string> seen;
    each_event(subject_.program, kernel_, aiv,
               [&](const Event& event, const std::string& object, const Way& way) {
                 if (event.kind == Event::Kind::matmul && way.guard_by_pair() == nullptr &&
                     seen.insert(object).second) {
                   lower(subject_.add("DCU851", event, {{"object", event.object}}));
                 }
               });
  }

  /// Work that is divided by GetBlockIdx() of GetBlockNum(), with nothing that minds the second vector core.
  void check_split() {
    std::vector<const Function*> all = {kernel_.function};
    std::set<const Function*> seen = {kernel_.function};
    const Function* in = nullptr;
    Node index;
    bool has_count = false;
    for (std::size_t next = 0; next < all.size(); ++next) {
      for (const Call& call : all[next]->calls) {
        if (is_any_of(call.name, {"GetTaskRatio", "GetTaskRation", "GetSubBlockIdx", "GetSubBlockNum",
                                  "get_subblockid", "get_subblockdim"})) {
          return;
        }
        if (call.name == "GetBlockIdx" && is_halved(call, *all[next])) {
          return;
        }
        if (call.name == "GetBlockIdx" && !index && !is_for_cube(call.node)) {
          index = call.node;
          in = all[next];
        }
        has_count = has_count || call.name == "GetBlockNum";
        for (const Function* callee : subject_.names.callees(call, *all[next])) {
          if (seen.insert(callee).second) {
            all.push_back(callee);
          }
        }
      }
    }
    if (index && has_count) {
      lower(subject_.add("DCU852", *in, index));
    }
  }

  /// Its index is divided by two, or asked for its lowest bit, somewhere in the function.
  bool is_halved(const Call&, const Function& function) const {
    bool halved = false;
    function.body.each([&](Node node) {
      halved = halved ||
               (node.is("binary_expression") && subject_.cores.is_block_index(node.child("left"), function) &&
                is_any_of(node.child("operator").text(), {"/", "%", ">>", "&"}));
    });
    return halved;
  }

  static bool is_for_cube(Node node) {
    for (Node above = node.parent(); above; above = above.parent()) {
      if (above.is("if_statement") && contains(above.child("condition").text(), "AIC_ASCEND_")) {
        return true;
      }
    }
    return false;
  }

  const Subject& subject_;
  const Kernel& kernel_;
};

} // namespace

void check_pairs(const Subject& subject) {
  for (const Kernel& kernel : subject.kernels) {
    PairCheck(subject, kernel).run();
  }
}

} // namespace dcuop::check::ascend
