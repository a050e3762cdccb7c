#pragma once
// What goes when space or order is wanted: first a plan that says why, then the doing.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/store/store.hpp"

namespace dcuop::store {

/// An entry or object as eviction sees it.
struct Candidate {
  Shelf shelf = Shelf::entries;
  Entry entry;
  std::vector<std::filesystem::path> origins; ///< directories that asked for it
  std::chrono::system_clock::time_point last_use;
  std::string reason; ///< "its origin is gone", "unused for 40 days"
};

/// All of one shelf, by key; one whose manifest cannot be read has no name and no artifact.
[[nodiscard]] std::vector<Candidate> candidates(const Store& store, Shelf shelf);

/// Why a candidate is stale, or nullopt when it is not.
using StaleTest = std::function<std::optional<std::string>(const Candidate&)>;

/// An op by name, by the directory that asked for it, or by both.
struct Target {
  std::optional<std::string> name;
  std::optional<std::filesystem::path> origin;
};

/// Which candidates go. The filters (targets, stale, older_than) hold together; max_size then takes the least
/// recently used of those that pass. Without any, nothing is selected unless `all`.
struct Selection {
  bool all = false;
  std::vector<Target> targets; ///< any of them; none: whatever it is
  StaleTest stale;
  std::optional<std::chrono::seconds> older_than; ///< since the last use
  /// Bytes that entries and objects together may take. When they take more, they are brought down to 90 % of
  /// it.
  std::optional<std::uint64_t> max_size;
  /// max_size spares what was used since this time before now.
  std::chrono::seconds spared_age{0};
  /// Bytes of the cache that are no candidates (index, memos) and count against max_size all the same.
  std::uint64_t bytes_besides = 0;

  [[nodiscard]] bool is_empty() const;
};

struct EvictionPlan {
  std::vector<Candidate> remove;      ///< least recently used first
  std::vector<Candidate> keep_in_use; ///< selected, but held by a use lock
  std::uint64_t bytes = 0;            ///< all that was there, selected or not, with Selection::bytes_besides
};

[[nodiscard]] std::uint64_t size_of(const std::vector<Candidate>& candidates);

/// Reads only.
[[nodiscard]] EvictionPlan select(const Store& store, const Selection& selection);

/// Does what `plan` says; what came into use since then moves to keep_in_use of the result, which lists what
/// was removed. Throws Error(environment) on a read-only store.
EvictionPlan apply(Store& store, const EvictionPlan& plan);

} // namespace dcuop::store
