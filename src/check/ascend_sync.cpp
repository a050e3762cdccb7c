// DCU840 to DCU843: SyncAll(), which waits for every core of the launch.
#include "ascend.hpp"
#include "ascend_count.hpp"

namespace dcuop::check::ascend {
namespace {

using finding::Severity;

class SyncAllCheck {
 public:
  SyncAllCheck(const Subject& subject, const Kernel& kernel) : subject_(subject), kernel_(kernel) {}

  void run() {
    const Event* first = nullptr;
    for (const Sides side : each_side) {
      if ((kernel_.sides & side) == 0) {
        continue;
      }
      const auto waits = [side](const Event& event) {
        return event.kind == Event::Kind::sync_all && (side == aiv || event.mix);
      };
      Counter counter(subject_.program, side, waits, [&](const Split& split) { judge(split); });
      const Count count = counter.of(*kernel_.function);
      first = first != nullptr ? first : count.first;
      each_event(subject_.program, kernel_, side,
                 [&](const Event& event, const std::string&, const Way& way) { judge_form(event, way); });
    }
    if (first != nullptr && kernel_.is_entry) {
      subject_.add("DCU841", *first, {{"kernel", kernel_.function->name}});
    }
  }

 private:
  void judge(const Split& split) {
    if (!split.condition->by_core) {
      return; // every core takes the same way
    }
    const Event* at = split.yes.most >= split.no.most ? split.yes.first : split.no.first;
    if (at == nullptr) {
      return;
    }
    // Rounds in which some cores wait and others do not may add up to the same number.
    const bool in_rounds = split.is_loop || split.loops > 0;
    if (!in_rounds && !never_equal(split.yes, split.no)) {
      return;
    }
    auto& added = subject_.add("DCU840", *at, {{"condition", split.condition->text()}});
    if (split.loops > 0 && !split.is_loop) {
      added.severity = Severity::note;
    } else if (split.is_loop || !kernel_.is_entry) {
      added.severity = std::min(added.severity, Severity::warning);
    }
  }

  void judge_form(const Event& event, const Way& way) {
    if (event.kind != Event::Kind::sync_all) {
      return;
    }
    if (event.has_config) {
      subject_.add("DCU842", event);
    }
    finding::Values values;
    const bool vector_only = kernel_.has_type() && kernel_.sides == aiv;
    if (event.mix && vector_only) {
      put(values, "what",
          "SyncAll<false>() waits for cube cores too, and the kernel runs on vector cores alone",
          "SyncAll<false>() 也等待 cube 核，而该核函数只在 vector 核上运行");
      subject_.add("DCU843", event, values);
      return;
    }
    const bool cube_alone =
        way.side == aic && (way.is_on_this_side_alone() || (kernel_.has_type() && kernel_.sides == aic));
    if (!event.mix && cube_alone) {
      put(values, "what", "SyncAll() waits for vector cores, and only cube cores come here",
          "SyncAll() 等待 vector 核，而只有 cube 核到达此处");
      subject_.add("DCU843", event, values).severity = Severity::warning;
    }
  }

  const Subject& subject_;
  const Kernel& kernel_;
};

} // namespace

void check_sync_all(const Subject& subject) {
  for (const Kernel& kernel : subject.kernels) {
    SyncAllCheck(subject, kernel).run();
  }
}

} // namespace dcuop::check::ascend
