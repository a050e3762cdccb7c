#pragma once
// A scope, run: its cores as state machines that execute what the generated kernel would have them do, over flags that
// count as the hardware's do. No rule of judge.hpp is in it: kernels and core counts are worked out anew, and a core
// waits because nobody set what it waits for. A property test compares the two.

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "dcuop/superkernel/judge.hpp"

namespace dcuop::superkernel {

/// Cores of one side, by index, ascending.
struct CoreSet {
  Side side = Side::aic;
  std::vector<std::uint32_t> cores;
};

/// An operator that does not get on when those before it have. Counts as in FaultAt.
struct SimulatedFault {
  std::size_t op = 0;
  FaultAt what;
  CoreSet waiting;
  CoreSet missing; ///< that did not come; empty where the answer is not one of cores
};

/// A core at work, or not getting on.
struct Span {
  enum class What { pre, mid, post, stuck };
  std::size_t op = 0;
  Side side = Side::aic;
  std::uint32_t core = 0;
  What what = What::mid;
  double start = 0,
         end = 0; ///< microseconds; of stuck ones the end is the time at which nothing moves any more
};

/// All cores of a side met there.
struct SyncPoint {
  enum class What { barrier, sync_all, mode0 };
  What what = What::barrier;
  std::size_t op = 0; ///< of a barrier: the operator before it
  Side side = Side::aic;
  double time = 0;
};

/// Cores that wait when nothing moves any more.
struct Blocked {
  std::size_t op = 0;
  std::string at; ///< "SyncAll", "CrossCoreWaitFlag mode 0", "Matmul", "flag 3", "barrier", "no core"
  CoreSet cores;
};

/// One kernel, with all its operators under way at once.
struct Run {
  std::uint32_t aic = 0, aiv = 0; ///< launched
  std::vector<std::size_t> operators;
  bool is_started = true; ///< false behind a kernel that did not end
  bool is_finished = false;
  double start = 0, end = 0;
  std::vector<Span> spans;
  std::vector<SyncPoint> sync_points;
  std::vector<Blocked> blocked; ///< of one that did not end
};

struct Simulation {
  std::vector<SimulatedFault> faults; ///< operator by operator, each as if those before it had ended
  std::vector<std::size_t> not_reached;
  std::vector<Run> runs; ///< one a kernel; the second part, with times
  std::vector<Clash> clashes;
  bool has_all_times = true; ///< false: operators without times are drawn with some
};

enum class Detail {
  verdicts, ///< operator by operator; runs have their cores and operators alone
  runs,     ///< also who is blocked when all operators are under way
  timeline, ///< also spans and sync_points
};
[[nodiscard]] Simulation simulate(const Scope& scope, Detail detail);

/// Whether both say the same of each operator, and of kernels that hold each other's cores; else what they differ in.
[[nodiscard]] std::string disagreement(const Scope& scope, const Judgement& judgement,
                                       const Simulation& simulation);

/// "0-19, 46".
[[nodiscard]] std::string ranges_text(const std::vector<std::uint32_t>& cores);

} // namespace dcuop::superkernel
