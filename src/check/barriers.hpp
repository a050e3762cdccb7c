#pragma once
// Which functions wait for others: the threads of their block, or the blocks of the grid.

#include <functional>
#include <map>
#include <optional>
#include <set>
#include <string>

#include "sources.hpp"

namespace dcuop::check {

/// A wait for every block that is written by hand: an atomic arrival, and a loop that reads until all have arrived.
struct HandBarrier {
  Node arrival, loop;
  std::string counter;        ///< the first name of what is counted in
  std::string waited;         ///< of what the loop reads: the counter, or another
  bool reads_plainly = false; ///< neither volatile nor atomic
};
[[nodiscard]] std::optional<HandBarrier> hand_barrier(const source::Model& model, const Function& function);

/// Whether a call or function waits for the threads of its block.
struct Waits {
  bool always = false; ///< on every way; a loop is taken to run
  bool ever = false;
  bool operator==(const Waits&) const = default;
};

class Barriers {
 public:
  explicit Barriers(const Sources& sources);

  [[nodiscard]] Waits block_waits(const Call& call, const Function& in) const;
  /// Of the grid: by cooperative groups, by hand, or by a function that does so.
  [[nodiscard]] bool is_grid_barrier(const Call& call, const Function& in) const;
  [[nodiscard]] const std::map<const Function*, HandBarrier>& by_hand() const { return by_hand_; }
  [[nodiscard]] bool waits_for_grid(const Function& function) const { return grid_.contains(&function); }

 private:
  struct Summary {
    Waits waits;                       ///< by itself, whatever its parameters hold
    std::map<std::string, bool> needs; ///< parameters (of templates too) that must be so for it to wait
    std::set<std::string> calls;       ///< parameters that it calls, or has called
    bool operator==(const Summary&) const = default;
  };
  /// Asks `update` of every device function, and again of those that call one for which it says that something changed.
  void settle(const std::function<bool(const Function&)>& update);
  [[nodiscard]] Summary summary_of(const Function& function) const;
  [[nodiscard]] const Summary& known(const Function& function) const;
  [[nodiscard]] bool is_own_block_barrier(const Call& call, const Function& in) const;
  [[nodiscard]] bool is_switched_off(const Call& call, const Function& callee, const Function& in) const;
  [[nodiscard]] Waits waits_of_callees(const Call& call, const Function& in) const;
  [[nodiscard]] Waits waits_of_handed(const Call& call) const;
  [[nodiscard]] bool is_cooperative_sync(const Call& call, const Function& in) const;

  const Sources& sources_;
  std::map<const Function*, HandBarrier> by_hand_;
  std::set<const Function*> grid_;
  std::map<const Function*, Summary> summaries_;
};

} // namespace dcuop::check
