#pragma once
// Cores that execute programs of work, sets and waits. A core has its own time; a wait ends at the time of the set that
// ends it, so the order in which cores are looked at changes nothing.

#include <cstdint>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <set>
#include <utility>
#include <vector>

#include "dcuop/superkernel/simulate.hpp"

namespace dcuop::superkernel {

/// What a kernel is launched with, as the simulation works it out.
struct Shape {
  std::uint32_t blocks = 0;
  std::uint32_t cubes = 0;   ///< in a block: 0 or 1
  std::uint32_t vectors = 0; ///< in a block: 0, 1 or 2
};

/// What a rendezvous is for, and so what a wait that never ends is called. Barriers are between operators.
enum class Cause { barrier, matmul, pair, mode0, sync_all };

enum class Opcode : std::uint8_t {
  work,
  join_all, ///< mode 0: sets; done when every core of the side has
  wait_all,
  set_down, ///< mode 2, cube to its vectors
  wait_down,
  set_up, ///< mode 2, vectors to their cube: done when all vectors of the block have
  wait_up,
  ask,   ///< the first vector core's request, which the cube core of its block serves
  serve, ///< the cube core: waits for the request, then answers the vector core that asked
  wait_reply,
  pass_by,   ///< a path on which the core does not wait for the operator before
  set_count, ///< a flag whose counter outlives the operator
  wait_count,
};

struct Instruction {
  Opcode what = Opcode::work;
  std::uint32_t object = 0; ///< of the machine; for flags the number of the counter
  std::uint32_t phase = 0;  ///< the order of what an operator synchronises with
  std::uint32_t op = 0;
  Span::What span = Span::What::mid;
  double duration = 0;
};

/// A rendezvous that happens once.
struct Rendezvous {
  Cause cause = Cause::barrier;
  std::uint32_t op = 0;
  Side side = Side::aic; ///< of join_all
  double delay = 0;      ///< from the last set to the first wait's end
  /// The join_all whose end a set of this hands to the other side: it happens then.
  std::optional<std::uint32_t> handed_on;
  std::uint32_t came = 0;     ///< of join_all
  double time = 0;            ///< of join_all: the latest that came
  std::vector<char> has_come; ///< of join_all: by core of the side
  struct Sets {
    std::vector<std::uint8_t> count; ///< by block
    std::vector<double> time;        ///< of the latest
  };
  Sets up, down;                   ///< of the others; `up` takes requests too
  std::vector<std::uint8_t> asked; ///< of ask: by vector core
};

class Machine {
 public:
  /// `resident` blocks have cores; the others start when those are done. For verdicts operators do not overlap; else a
  /// flag that a later operator sets answers a wait of an earlier one, as it can where the two are not kept in order.
  /// For a timeline, spans and synchronisations are kept.
  Machine(const Shape& shape, std::uint32_t resident, double start, Detail detail);

  [[nodiscard]] std::uint32_t core_count(Side side) const {
    return static_cast<std::uint32_t>(cores(side).size());
  }
  [[nodiscard]] std::uint32_t block_of(Side side, std::uint32_t core) const {
    return side == Side::aic ? core : core / shape_.vectors;
  }
  [[nodiscard]] std::uint32_t add_rendezvous(Cause cause, std::uint32_t op, Side side, double delay = 0);
  /// A set of `object` happens when all have come to `joined`, whatever else the setting core has begun meanwhile: it
  /// waits in a queue of the core, and the work behind SetNextTaskStart runs in the others.
  void hand_on(std::uint32_t object, std::uint32_t joined) { rendezvous_[object].handed_on = joined; }
  /// What a core has executed is forgotten: a kernel of many operators need not be in memory as a whole.
  void append(Side side, std::uint32_t core, const Instruction& instruction);
  /// Called for a core that is at the end of its program: appends to it, and returns false when there is no more.
  using Supply = std::function<bool(Side, std::uint32_t)>;
  void supply_from(Supply supply) { supply_ = std::move(supply); }

  /// Until nothing moves.
  void run();
  /// Those that have begun are at the end of their programs: the next blocks get their cores. False when all have begun.
  bool start_next_blocks();
  [[nodiscard]] bool all_started() const { return started_ == shape_.blocks; }
  [[nodiscard]] bool has_started(Side side, std::uint32_t core) const;

  struct Waiting {
    Side side = Side::aic;
    std::uint32_t core = 0;
    const Instruction* instruction = nullptr;
  };
  [[nodiscard]] std::vector<Waiting> waiting() const;
  /// The wait counts as over, with all further ones for the same counter in the same operator.
  void release(const Waiting& waiting);

  [[nodiscard]] const Rendezvous& rendezvous(std::uint32_t object) const { return rendezvous_[object]; }
  [[nodiscard]] double end() const; ///< of the latest core
  [[nodiscard]] const std::vector<Span>& spans() const { return spans_; }
  [[nodiscard]] const std::vector<SyncPoint>& sync_points() const { return sync_points_; }

  /// A counter's waits that were answered by an earlier operator: (counter, op) -> cores.
  using EarlyWaits = std::map<std::pair<std::uint32_t, std::uint32_t>, std::set<std::uint32_t>>;
  [[nodiscard]] const EarlyWaits& early_waits() const { return early_waits_; }
  /// Operators that a core went on with without having waited for the one before.
  [[nodiscard]] const std::set<std::uint32_t>& passed_by() const { return passed_by_; }

 private:
  struct Core {
    std::vector<Instruction> program;
    std::size_t next = 0;
    double time = 0;
  };
  /// Of one flag in one direction: the operators of the sets, by setting core; how many a waiting core has used.
  struct Counter {
    std::vector<std::vector<std::uint32_t>> sets;
    std::vector<std::vector<double>> times;
    std::vector<std::uint32_t> used;
  };

  [[nodiscard]] std::vector<Core>& cores(Side side) { return side == Side::aic ? aic_ : aiv_; }
  [[nodiscard]] const std::vector<Core>& cores(Side side) const { return side == Side::aic ? aic_ : aiv_; }
  bool advance(Side side, std::uint32_t index);
  bool execute(Side side, std::uint32_t index, const Instruction& instruction);
  bool execute_set(Side side, std::uint32_t index, const Instruction& instruction);
  bool execute_wait(Side side, std::uint32_t index, const Instruction& instruction);
  bool wait_count(Side side, std::uint32_t index, const Instruction& instruction);
  void join_all(Side side, std::uint32_t index, Rendezvous& rendezvous);
  Counter& counter(std::uint32_t number, Side from);
  void until(Side side, std::uint32_t index, double time);

  Shape shape_;
  std::uint32_t started_ = 0;
  std::uint32_t wave_ = 0; ///< blocks that run at once
  double start_ = 0;
  bool overlaps_ = false;
  bool keeps_spans_ = false;
  Supply supply_;
  std::vector<Core> aic_, aiv_;
  std::deque<Rendezvous> rendezvous_;
  std::map<std::uint32_t, Counter> counters_;
  EarlyWaits early_waits_;
  std::set<std::uint32_t> passed_by_;
  std::vector<Span> spans_;
  std::vector<SyncPoint> sync_points_;
};

/// The number of a flag's counter: those of cube and of vector cores are apart.
[[nodiscard]] constexpr std::uint32_t counter_number(std::uint32_t flag, Side from) {
  return flag * 2 + (from == Side::aic ? 0 : 1);
}

} // namespace dcuop::superkernel
