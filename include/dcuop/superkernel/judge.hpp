#pragma once
// What a scope becomes, and which of its operators cannot run in it: launches, scope splits, a verdict an operator, and
// what the back end refuses to build. Computed by rules; simulate.hpp finds the verdicts in another way.

#include <cstdint>
#include <string>
#include <vector>

#include "dcuop/superkernel/options.hpp"
#include "dcuop/superkernel/scope.hpp"

namespace dcuop::superkernel {

/// What goes wrong in an operator of a fused scope.
enum class Fault {
  // It waits for ever:
  sync_all_short,     ///< SyncAll waits for all cores of the launch, and fewer enter the operator
  sync_all_one_sided, ///< SyncAll<false> in an operator that has one side only
  sync_all_skipped,   ///< a core of the operator does not come to SyncAll
  mode0_short,        ///< as sync_all_short, CrossCoreSetFlag in mode 0
  pair_guarded,       ///< a cube core waits for both its vector cores, and one of them sets
  matmul_unguarded,   ///< the second vector core of a pair waits for a Matmul that serves the first
  set_next_uneven,    ///< a core does not call SetNextTaskStart: the next operator waits for it
  flag_short,         ///< more waits than sets
  device_short,       ///< the launch has more cores than the device, and synchronises them
  // It goes on, and what it computes is wrong:
  wait_previous_uneven, ///< a core does not call WaitPreTaskEnd: it does not wait for the operator before
  flag_early,           ///< a wait is answered by what an earlier operator left in the flag's counter
  vector_missing,       ///< a 1:2 operator under a 1:1 launch: its second vector cores do not exist
};
[[nodiscard]] bool waits_for_ever(Fault fault);
[[nodiscard]] std::string to_string(Fault fault); ///< "sync-all-short"

struct FaultAt {
  Fault fault = Fault::sync_all_short;
  Side side = Side::aiv;
  std::uint32_t waiting = 0; ///< cores of `side` that wait, or are wrong
  std::uint32_t expected =
      0;                  ///< cores of `side` that all have to come; 0 where that is no question of a side
  std::uint32_t flag = 0; ///< of flag_short and flag_early
  bool operator==(const FaultAt&) const = default;
};

/// What one kernel is launched with.
struct Launch {
  KernelType type = KernelType::mix_aiv_1_0;
  std::uint32_t blocks = 0;
  std::uint32_t aic = 0, aiv = 0; ///< cores
  bool is_forced = false;         ///< by debug-aic-num, debug-aiv-num or debug_per_op_max_core_num
};
/// Vector cores with a cube core; 0 without cube cores.
[[nodiscard]] std::uint32_t ratio(const Launch& launch);
[[nodiscard]] std::uint32_t cores(const Launch& launch, Side side);
/// Blocks that the device can run at once.
[[nodiscard]] std::uint32_t resident_blocks(const Launch& launch, const Platform& platform);

/// One kernel: a SuperKernel, or an operator that is not fused.
struct Segment {
  enum class Why {
    end,        ///< of the scope
    unfusible,  ///< it, or the operator behind it, is not fused
    core_drop,  ///< a batch-mode operator with fewer cores follows
    core_rise,  ///< an operator that needs more cores than a batch-mode one before it has follows
    each_alone, ///< debug_per_op_max_core_num
  };
  std::vector<std::size_t> operators; ///< indices, in order
  bool is_fused = true;
  Why ended_by = Why::end;
  Launch launch;
  bool two_queues =
      false; ///< cube and vector cores each have a list of operators, kept in step where one needs another
  bool early_start = false; ///< SetNextTaskStart and WaitPreTaskEnd do something
};

struct Verdict {
  std::size_t segment = 0;
  std::uint32_t aic = 0, aiv = 0; ///< cores that enter
  bool is_reached = true;         ///< false behind device_short
  std::vector<FaultAt> faults;
};

/// Why the back end does not build a scope.
struct BuildError {
  enum class Kind {
    streams,            ///< adjacent operators on two streams, no event between them, no stream-fusion=1
    first_receives,     ///< the first operator of a SuperKernel waits for an event
    last_sends,         ///< the last one sends an event
    event_in_stream,    ///< an event is sent and received in one stream
    event_in_operator,  ///< and in one operator
    dynamic_early,      ///< a tiling-sink operator with SetNextTaskStart or WaitPreTaskEnd
    early_start_off,    ///< early-start=0, and an operator compiled with those calls
    debug_num_ratio,    ///< debug-aic-num and debug-aiv-num are not 1:0, 0:1, 1:1, 1:2
    debug_num_platform, ///< more than the device has
    debug_num_less,     ///< fewer than the operators need
  };
  Kind kind = Kind::streams;
  std::size_t op = 0;    ///< index
  std::size_t other = 0; ///< index, of those with two operators
  std::string event;
  std::uint32_t wanted = 0, has = 0; ///< of debug_num_*
  Side side = Side::aic;             ///< of debug_num_*
};

/// Two kernels on two streams that may each hold cores that the other waits for.
struct Clash {
  std::size_t first = 0, second = 0; ///< segments
};

struct Judgement {
  Options options;
  std::vector<Segment> segments;
  std::vector<Verdict> operators; ///< as many as the scope has
  std::vector<BuildError> build_errors;
  std::vector<Clash> clashes;
};

[[nodiscard]] Judgement judge(const Scope& scope);

/// Operators of a judgement that have a fault.
[[nodiscard]] std::size_t faulty_operators(const Judgement& judgement);

} // namespace dcuop::superkernel
