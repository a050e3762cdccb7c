// What kernels say of themselves, for the operators of a scope that `dcuop superkernel plan` judges.
#include <algorithm>
#include <cctype>

#include "ascend.hpp"
#include "ascend_count.hpp"
#include "dcuop/support/error.hpp"

namespace dcuop::check {

namespace ascend {
namespace {

using superkernel::Operator;
using superkernel::Side;
using superkernel::SyncAll;

/// HcPre and hc_pre are one name.
std::string plain(std::string_view name) {
  std::string letters;
  for (const char c : name) {
    if (c != '_') {
      letters += static_cast<char>(std::tolower(static_cast<unsigned char>(c)));
    }
  }
  return letters;
}

class FactReader {
 public:
  FactReader(const Subject& subject, const Kernel& kernel, Operator& op)
      : subject_(subject), kernel_(kernel), op_(op) {}

  /// Returns whether scalars are used in loops and the file does not say who else uses them.
  bool fill() {
    read_type();
    kernel_sides_ = sides_of(op_.type);
    for (const Sides side : each_side) {
      if ((kernel_sides_ & side) != 0) {
        read_events(side);
      }
    }
    read_sync();
    read_pair();
    read_flags();
    op_.set_next = given("early_start") ? op_.set_next : early(Event::Kind::early_set, "set_next");
    op_.wait_previous =
        given("early_start") ? op_.wait_previous : early(Event::Kind::early_wait, "wait_previous");
    if (!given("batch_mode")) {
      op_.batch_mode = kernel_.schedules || sets_batch_mode(subject_, kernel_);
    }
    return asks_for_buffers_;
  }

 private:
  using EventKind = Event::Kind;

  [[nodiscard]] bool given(const std::string& key) const { return op_.given.contains(key); }

  void read_type() {
    const auto types = kernel_.types();
    const bool known = !types.empty() && kernel_.is_only(types.front());
    if (known && !given("kernel_type")) {
      op_.type = types.front();
    } else if (!given("kernel_type")) {
      throw Error(ExitCode::usage,
                  op_.name + " has no kernel_type, and " + kernel_.function->name +
                      (types.empty() ? " does not say one" : " has several, by tiling key"),
                  "give the type of the key that is used as kernel_type");
    }
  }

  void note(const std::string& key, const Event& event) {
    const File& file = *event.in->file;
    op_.where.emplace(key, file.path.filename().string() + ":" +
                               std::to_string(file.place(event.node.begin()).line));
  }

  void read_events(Sides side) {
    each_event(subject_.program, kernel_, side, [&](const Event& event, const std::string&, const Way& way) {
      switch (event.kind) {
      case EventKind::sync_all:
        syncs_.push_back(event);
        break;
      case EventKind::set_flag:
        if (event.mode == std::int64_t{0} && !given("sync.mode0")) {
          op_.sync.mode0[side == aic ? 0 : 1] = true;
          note("mode0", event);
        }
        [[fallthrough]];
      case EventKind::wait_flag:
        if (event.flag) {
          flags_.insert(*event.flag);
        }
        has_all_flags_ = has_all_flags_ && event.flag && (event.kind == EventKind::wait_flag || event.mode);
        break;
      case EventKind::matmul:
        if (side == aiv && way.guard_by_pair() == nullptr && is_pair() && !given("sync.matmul_unguarded")) {
          op_.sync.matmul_unguarded = true;
          note("matmul_unguarded", event);
        }
        break;
      case EventKind::read_value:
      case EventKind::write_value:
        if (way.loops > 0 && !given("gm.frequent")) {
          note("gm", event);
          // Which option helps hangs on who else reads and writes them, which a kernel alone does not say.
          op_.gm.frequent = given("gm.reads") || given("gm.writes");
          asks_for_buffers_ = asks_for_buffers_ || !op_.gm.frequent;
        }
        break;
      case EventKind::assign:
        if (!given("gm.assigns") && is_unflushed(event)) {
          op_.gm.assigns = true;
          note("gm", event);
        }
        break;
      default:
        break;
      }
    });
  }

  /// DCU857 says it of the same kernel.
  [[nodiscard]] bool is_unflushed(const Event& event) const {
    const source::Place place = event.in->file->place(event.node.begin());
    return std::any_of(subject_.findings.all.begin(), subject_.findings.all.end(), [&](const auto& finding) {
      return finding.rule == "DCU857" && finding.line == place.line &&
             finding.subject == event.in->file->path.string();
    });
  }

  [[nodiscard]] bool is_pair() const { return superkernel::is_mix(op_.type); }

  Count count(Sides side, const Counter::Wanted& wanted, const Counter::Report& report) {
    return Counter(subject_.program, side, wanted, report).of(*kernel_.function);
  }

  void read_sync() {
    if (given("sync.all") || syncs_.empty()) {
      return;
    }
    auto& sync = op_.sync;
    const auto mix = std::find_if(syncs_.begin(), syncs_.end(), [](const Event& one) { return one.mix; });
    const Event& first = mix == syncs_.end() ? syncs_.front() : *mix;
    sync.all = mix == syncs_.end() ? SyncAll::plain : SyncAll::mix;
    sync.all_is_counted = !first.has_config;
    sync.all_on_every_core = true;
    note("sync_all", first);
    const Sides side = (kernel_sides_ & aiv) != 0 ? aiv : aic;
    const Count all = count(
        side, [](const Event& event) { return event.kind == EventKind::sync_all; },
        [&](const Split& split) {
          sync.all_on_every_core =
              sync.all_on_every_core && !(split.condition->by_core && never_equal(split.yes, split.no));
        });
    const bool counted = all.is_number() && all.least > 0;
    sync.all_count =
        counted ? std::min<std::uint32_t>(static_cast<std::uint32_t>(all.least), superkernel::most_syncs) : 1;
  }

  void read_pair() {
    if (!is_pair() || given("sync.pair_guarded")) {
      return;
    }
    const auto wanted = [](const Event& event) {
      return event.kind == EventKind::wait_flag ||
             (event.kind == EventKind::set_flag && event.mode == std::int64_t{2});
    };
    (void)count(aiv, wanted, [&](const Split& split) {
      const Event* at = split.yes.most >= split.no.most ? split.yes.first : split.no.first;
      if (split.condition->by_pair && at != nullptr && never_equal(split.yes, split.no)) {
        op_.sync.pair_guarded = true;
        note("pair_guarded", *at);
      }
    });
  }

  /// Flags of mode 2 whose counts are numbers; what hangs on loops or conditions is left out.
  void read_flags() {
    if (!is_pair() || given("sync.flags") || !has_all_flags_ || op_.sync.pair_guarded) {
      return;
    }
    const auto ignore = [](const Split&) {};
    for (const std::int64_t flag : flags_) {
      for (const Sides from : each_side) {
        const auto other = static_cast<Sides>(both_sides & ~from);
        const Count sets = count(
            from,
            [flag](const Event& event) {
              return event.kind == EventKind::set_flag && event.flag == flag && event.mode == std::int64_t{2};
            },
            ignore);
        const Count waits = count(
            other,
            [flag](const Event& event) { return event.kind == EventKind::wait_flag && event.flag == flag; },
            ignore);
        const int most = static_cast<int>(superkernel::most_syncs);
        if (sets.is_none() || !sets.is_number() || !waits.is_number() || sets.least > most ||
            waits.least > most || flag < 0 || flag > 15) {
          continue;
        }
        op_.sync.flags.push_back({static_cast<std::uint32_t>(flag), from == aic ? Side::aic : Side::aiv,
                                  static_cast<std::uint32_t>(sets.least),
                                  static_cast<std::uint32_t>(waits.least)});
        note("flags", *sets.first);
      }
    }
  }

  superkernel::Call early(EventKind kind, const std::string& key) {
    superkernel::Call call = superkernel::Call::none;
    for (const Sides side : each_side) {
      if ((kernel_sides_ & side) == 0) {
        continue;
      }
      bool some = false;
      const Count all = count(
          side, [kind](const Event& event) { return event.kind == kind; },
          [&](const Split& split) {
            some = some || (split.condition->by_core && never_equal(split.yes, split.no));
          });
      if (all.first == nullptr) {
        continue;
      }
      note(key, *all.first);
      call = some || call == superkernel::Call::some_cores ? superkernel::Call::some_cores
                                                           : superkernel::Call::every_core;
    }
    return call;
  }

  const Subject& subject_;
  const Kernel& kernel_;
  Operator& op_;
  Sides kernel_sides_ = both_sides;
  std::vector<Event> syncs_;
  std::set<std::int64_t> flags_;
  bool has_all_flags_ = true;
  bool asks_for_buffers_ = false;
};

std::vector<const Kernel*> kernels_of(const std::vector<Kernel>& kernels, const Operator& op) {
  std::vector<const Kernel*> found;
  for (const std::string& name : {op.kernel, op.op_type, op.name}) {
    for (const Kernel& kernel : kernels) {
      if (kernel.is_entry && plain(kernel.function->name) == plain(name)) {
        found.push_back(&kernel);
      }
    }
    if (!found.empty()) {
      break;
    }
  }
  return found;
}

} // namespace
} // namespace ascend

FilledScope fill_from_sources(const SuperKernelRequest& request, superkernel::Scope& scope) {
  const source::Model model = read_model(request, source::ascend_dialect());
  const ascend::Names names(model);
  const ascend::Cores cores(names);
  ascend::Program program(names, cores);
  const std::vector<ascend::Kernel> kernels = ascend::find_kernels(program);
  Findings findings(request);
  const ascend::Subject subject{request, model, names, cores, program, kernels, findings};
  ascend::check_cache(subject);
  FilledScope filled;
  for (const auto& file : model.files()) {
    const std::string shown = findings.shown(file->path);
    if (!file->fault.empty()) {
      filled.doubts.push_back(shown + " was not read: " + file->fault);
    } else if (!file->not_understood.empty()) {
      filled.doubts.push_back(shown + " was not understood wholly (line " +
                              std::to_string(file->place(file->not_understood.front().first).line) + ")");
    }
  }
  for (superkernel::Operator& op : scope.operators) {
    const std::vector<const ascend::Kernel*> found = ascend::kernels_of(kernels, op);
    if (found.size() == 1) {
      if (ascend::FactReader(subject, *found.front(), op).fill()) {
        filled.scalars.push_back({op.name, op.where["gm"]});
      }
      const File& file = *found.front()->function->file;
      filled.read.push_back(
          {op.name, findings.shown(file.path) + ":" +
                        std::to_string(file.place(found.front()->function->node.begin()).line)});
    } else if (!op.given.contains("kernel_type")) {
      throw Error(
          ExitCode::usage,
          op.name + " has no kernel_type, and the sources have " +
              (found.empty() ? "no kernel" : "several kernels") + " of that name",
          "give kernel_type in the scope, or kernel = \"...\" with the name of one kernel; directories that "
          "hold the kernel once for --sources");
    } else {
      filled.unread.push_back(op.name);
    }
  }
  return filled;
}

} // namespace dcuop::check
