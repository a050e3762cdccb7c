#pragma once
// Which functions wait for others: the threads of their block, or the blocks of the grid.

#include <functional>
#include <map>
#include <string>

#include "dcuop/source/paths.hpp"
#include "sources.hpp"

namespace dcuop::check {

/// A wait for every block that is written by hand: an atomic arrival, and a loop that reads until all have arrived.
struct HandBarrier {
  Node arrival, loop;
  std::string counter;        ///< the first name of what is counted in
  std::string waited;         ///< of what the loop reads: the counter, or another
  bool reads_plainly = false; ///< neither volatile nor atomic
};

/// How the parameters of a device function differ among threads and blocks, by what its callers hand over.
[[nodiscard]] std::map<std::string, source::Variance> given_variance(const Sources& sources,
                                                                     const Function& function);

class Barriers {
 public:
  explicit Barriers(const Sources& sources);

  [[nodiscard]] bool is_block_barrier(const Call& call, const Function& in) const;
  /// Of the grid: by cooperative groups, by hand, or by a function that does so.
  [[nodiscard]] bool is_grid_barrier(const Call& call, const Function& in) const;
  [[nodiscard]] const std::map<const Function*, HandBarrier>& by_hand() const { return by_hand_; }
  [[nodiscard]] bool waits_for_grid(const Function& function) const { return grid_.contains(&function); }

 private:
  /// Whether that holds for every function that the call may mean, of which there is one at least: names are all that
  /// is known of methods.
  [[nodiscard]] bool are_all(const Call& call, const Function& in,
                             const std::function<bool(const Function&)>& wanted) const;
  [[nodiscard]] bool is_cooperative_sync(const Call& call, const Function& in) const;
  const Sources& sources_;
  std::map<const Function*, HandBarrier> by_hand_;
  std::set<const Function*> grid_, block_;
};

} // namespace dcuop::check
