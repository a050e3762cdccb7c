#pragma once
// What differs among the cores of a launch, and which side (cube or vector cores) runs what.

#include <cstdint>
#include <deque>
#include <map>
#include <memory>
#include <set>
#include <string>

#include "ascend_names.hpp"
#include "dcuop/source/variance.hpp"

namespace dcuop::check::ascend {

/// Bits: cube cores (AIC), vector cores (AIV).
using Sides = std::uint8_t;
inline constexpr Sides aic = 1, aiv = 2, both_sides = 3;

/// A condition on the way through a kernel.
struct Condition {
  Node node;
  const Function* in = nullptr;
  Sides yes = both_sides, no = both_sides; ///< the sides on which it can hold, and fail
  bool by_core = false;                    ///< it differs among cores
  bool by_pair = false;                    ///< between the two vector cores of one cube core
  std::string tiling_key;                  ///< of TILING_KEY_IS(key)

  [[nodiscard]] std::string text() const; ///< as it stands in the source
};

class Cores {
 public:
  explicit Cores(const Names& names);

  [[nodiscard]] Condition condition(Node node, const Function& function) const;
  /// The core's own index, as GetBlockIdx() gives it or a variable that holds nothing else.
  [[nodiscard]] bool is_block_index(Node node, const Function& function) const;
  [[nodiscard]] bool varies(Node node, const Function& function) const;

 private:
  using Known = source::Variances;

  [[nodiscard]] source::Variance variance(Node node, const Function& function) const;
  void find_indices(const Function& function);
  void take(const Function& function);
  void ask_again(const Function& function);
  void process(const Function& function);
  void spread_assignments(const Function& function);
  void spread_arguments(const Function& function);
  [[nodiscard]] Known members_in(const Function& function) const;
  [[nodiscard]] bool add(Known& known, const std::string& name, source::Variance variance) const;
  [[nodiscard]] Known known_in(const Function& function) const;
  [[nodiscard]] bool picks_of_pair(Node node, const Function& function) const;
  [[nodiscard]] bool holds_for_all(Node node, const Function& function) const;
  [[nodiscard]] bool differs(Node node, const Function& function) const;

  const Names& names_;
  source::Results results_;
  std::set<const Function*> device_;
  std::map<const Function*, std::set<const Function*>> users_; ///< callers, and who names a macro
  std::map<std::string, std::vector<const Function*>>
      methods_; ///< of a class and of those that derive from it
  std::deque<const Function*> waiting_;
  std::set<const Function*> is_waiting_;
  std::map<std::string, Known> members_;    ///< by class
  std::map<const Function*, Known> locals_; ///< parameters, and indices in a pair
  std::map<const Function*, std::unique_ptr<source::VarianceTable>> tables_;
  std::map<std::string, std::set<std::string>> index_members_, other_members_;
  std::map<const Function*, std::set<std::string>> index_locals_, other_locals_;
};

/// The files that device code is in.
[[nodiscard]] bool is_device_file(const File& file);

} // namespace dcuop::check::ascend
