// DCU845 to DCU849, DCU872 to DCU875: CrossCoreSetFlag and CrossCoreWaitFlag.
#include <algorithm>

#include "ascend.hpp"
#include "ascend_count.hpp"

namespace dcuop::check::ascend {
namespace {

using finding::Severity;
using superkernel::Product;

// SyncAll and the barriers of a SuperKernel use these: impl/basic_api/dav_c220/kernel_operator_sync_impl.h of asc-devkit.
constexpr std::int64_t first_reserved = 11, last_reserved = 14;
constexpr std::int64_t most_flags = 16;

struct Use {
  Event event;
  Sides side = aiv;
};

class FlagCheck {
 public:
  FlagCheck(const Subject& subject, const Kernel& kernel) : subject_(subject), kernel_(kernel) {}

  void run() {
    for (const Sides side : each_side) {
      if ((kernel_.sides & side) == 0) {
        continue;
      }
      each_event(subject_.program, kernel_, side,
                 [&](const Event& event, const std::string&, const Way&) { take(event, side); });
    }
    for (const Use& use : uses_) {
      if (use.event.kind == Event::Kind::set_flag) {
        judge_mode(use.event);
      }
      judge_number(use.event);
    }
    judge_type();
    judge_balance();
  }

 private:
  using EventKind = Event::Kind;

  void take(const Event& event, Sides side) {
    switch (event.kind) {
    case EventKind::set_flag:
    case EventKind::wait_flag:
      uses_.push_back({event, side});
      break;
    case EventKind::sync_all:
      sync_ = event;
      break;
    case EventKind::early_set:
    case EventKind::early_wait:
      starts_early_ = true;
      break;
    case EventKind::matmul_made:
      matmuls_ = std::max(matmuls_, event.flag.value_or(0));
      break;
    default:
      break;
    }
  }

  [[nodiscard]] bool is_950() const { return subject_.request.product == Product::ascend_950; }

  void judge_mode(const Event& event) {
    if (!event.mode) {
      subject_.add("DCU846", event);
      return;
    }
    if (*event.mode == 0) {
      subject_.add("DCU845", event);
    }
    finding::Values values;
    if (*event.mode == 4 && !is_950()) {
      put(values, "what", "mode 4 is there on Ascend 950 alone", "模式 4 仅 Ascend 950 支持");
      auto& added = subject_.add("DCU873", event, values);
      added.severity = subject_.request.product ? Severity::error : Severity::warning;
    }
    if (*event.mode <= 2 && is_any_of(event.pipe, {"PIPE_S", "PIPE_ALL"})) {
      put(values, "what",
          "a flag of mode " + std::to_string(*event.mode) + " is set by " + event.pipe + ", which sets none",
          "模式 " + std::to_string(*event.mode) + " 的标志由 " + event.pipe + " 设置，而它不能设置");
      subject_.add("DCU873", event, values);
    }
  }

  void judge_number(const Event& event) {
    if (!event.flag) {
      return;
    }
    finding::Values values = {{"flag", std::to_string(*event.flag)}};
    if (*event.flag < 0 || (*event.flag >= most_flags && !is_950())) {
      put(values, "what", "flag " + values["flag"] + " is none of 0 to 15: its upper bits are lost",
          "标志 " + values["flag"] + " 不在 0 到 15 之间：高位被截断");
      auto& added = subject_.add("DCU873", event, values);
      const bool may_be_950 = !subject_.request.product && *event.flag >= 0 &&
                              std::any_of(uses_.begin(), uses_.end(),
                                          [](const Use& use) { return use.event.mode == std::int64_t{4}; });
      added.severity = may_be_950 ? Severity::warning : added.severity;
      return;
    }
    if (*event.flag >= first_reserved && *event.flag <= last_reserved) {
      const bool clashes = sync_ || starts_early_;
      const std::string with = sync_ ? "SyncAll()" : "SetNextTaskStart, WaitPreTaskEnd";
      put(values, "use",
          clashes ? "which " + with + " of this kernel uses too"
                  : "which SyncAll and SuperKernel barriers use",
          clashes ? "该核函数中的 " + with + " 也使用它" : "SyncAll 和 SuperKernel 的屏障也使用它");
      auto& added = subject_.add("DCU872", event, values);
      added.severity = clashes ? Severity::error : Severity::warning;
    } else if (*event.flag < 2 * matmuls_) {
      values["last"] = std::to_string(2 * matmuls_ - 1);
      subject_.add("DCU874", event, values);
    }
  }

  /// The scheduler that keeps all cores of one launch together is off for the types of one side alone.
  void judge_type() {
    std::optional<Event> at = sync_;
    for (const Use& use : uses_) {
      if (!at && use.event.kind == EventKind::set_flag && use.event.mode && *use.event.mode <= 1) {
        at = use.event;
      }
    }
    const bool one_side = kernel_.is_only(KernelType::aiv_only) || kernel_.is_only(KernelType::aic_only);
    if (!at || !one_side) {
      return;
    }
    const bool vector = kernel_.is_only(KernelType::aiv_only);
    finding::Values values = {{"kernel", kernel_.function->name}};
    values["type"] = kernel_.by_qualifier ? (vector ? "__vector__" : "__cube__")
                                          : (vector ? "KERNEL_TYPE_AIV_ONLY" : "KERNEL_TYPE_AIC_ONLY");
    values["wanted"] = kernel_.by_qualifier
                           ? (vector ? "__mix__(0, 1)" : "__mix__(1, 0)")
                           : (vector ? "KERNEL_TYPE_MIX_AIV_1_0" : "KERNEL_TYPE_MIX_AIC_1_0");
    auto& added = subject_.add("DCU875", *at, values);
    if (kernel_.by_qualifier) {
      added.severity = std::min(added.severity, Severity::warning);
    }
  }

  [[nodiscard]] Count count(Sides side, const Counter::Wanted& wanted) {
    return Counter(subject_.program, side, wanted, [](const Split&) {}).of(*kernel_.function);
  }

  void judge_balance() {
    if (!kernel_.is_entry || uses_.empty()) {
      return;
    }
    for (const Use& use : uses_) {
      if (!use.event.flag || (use.event.kind == EventKind::set_flag && !use.event.mode)) {
        note(use.event, "its number or mode is not a constant that the sources show",
             "其编号或模式不是源码可见的常量");
        return;
      }
    }
    std::set<std::int64_t> flags;
    for (const Use& use : uses_) {
      flags.insert(*use.event.flag);
    }
    for (const Use& use : uses_) {
      if (use.event.kind == EventKind::set_flag && *use.event.mode > 2) {
        flags.erase(*use.event.flag); // of Ascend 950, where they are counted in another way
      }
    }
    for (const std::int64_t flag : flags) {
      for (const Sides side : each_side) {
        if ((kernel_.sides & side) != 0) {
          judge_balance(flag, side);
        }
      }
    }
  }

  void note(const Event& event, const std::string& why, const std::string& why_zh) {
    finding::Values values = {{"flag", event.flag ? std::to_string(*event.flag) : "?"}};
    put(values, "what", "is not followed: " + why, "未能核对：" + why_zh);
    subject_.add("DCU848", event, values).severity = Severity::note;
  }

  /// What a core of `side` is given of a flag, and what it waits for.
  void judge_balance(std::int64_t flag, Sides side) {
    const auto other = static_cast<Sides>(both_sides & ~side);
    const Count waits = count(side, [flag](const Event& event) {
      return event.kind == EventKind::wait_flag && event.flag == flag;
    });
    Count sets = count(side, [flag](const Event& event) {
      return event.kind == EventKind::set_flag && event.flag == flag && *event.mode < 2;
    });
    const Count others = (kernel_.sides & other) == 0 ? Count() : count(other, [flag](const Event& event) {
      return event.kind == EventKind::set_flag && event.flag == flag && *event.mode == 2;
    });
    if (others.first != nullptr) {
      sets = sets.is_none() ? others : Count{0, Count::no_bound, {}, false, others.first};
    }
    const Event* at = waits.is_none() ? sets.first : waits.first;
    if (at == nullptr || same(sets, waits)) {
      return;
    }
    if (!sets.is_number() || !waits.is_number()) {
      note(*at, "how often it is set and waited for hangs on loops or conditions",
           "设置与等待的次数取决于循环或条件");
      return;
    }
    finding::Values values = {{"flag", std::to_string(flag)}};
    const std::string set = std::to_string(sets.least);
    const std::string wait = std::to_string(waits.least);
    put(values, "what", "is set " + set + " and waited for " + wait + " times on each " + to_text(side),
        "在每个 " + to_text(side) + " 上设置 " + set + " 次、等待 " + wait + " 次");
    subject_.add("DCU848", *at, values);
  }

  const Subject& subject_;
  const Kernel& kernel_;
  std::vector<Use> uses_;
  std::optional<Event> sync_;
  bool starts_early_ = false;
  std::int64_t matmuls_ = 0;
};

} // namespace

void check_flags(const Subject& subject) {
  for (const Kernel& kernel : subject.kernels) {
    FlagCheck(subject, kernel).run();
  }
}

} // namespace dcuop::check::ascend
