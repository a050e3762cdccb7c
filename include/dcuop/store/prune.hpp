#pragma once
// Keeping the cache below its limit without making a build wait: builds note what they publish, and a prune
// counts and removes beside them. None of it can fail a build.

#include <chrono>
#include <cstdint>
#include <optional>

#include "dcuop/store/eviction.hpp"
#include "dcuop/store/store.hpp"

namespace dcuop::store {

/// What is known of the cache's size without walking it.
struct Growth {
  std::optional<std::uint64_t> counted; ///< bytes at the last count; nullopt: nobody counted yet
  std::chrono::system_clock::time_point counted_at;
  std::uint64_t added = 0;     ///< bytes published since then
  std::uint64_t additions = 0; ///< in how many publications
};

/// Appends to the additions. Nothing happens on a read-only store.
void record_addition(const Store& store, std::uint64_t bytes) noexcept;
[[nodiscard]] Growth growth_of(const Store& store) noexcept;

/// Whether a prune is likely to find something to remove. A cache that nobody counted is counted after some
/// additions; one that stayed too large, as all of it is in use, is not asked for again at once.
[[nodiscard]] bool is_prune_due(const Growth& growth, std::uint64_t max_size,
                                std::chrono::system_clock::time_point now);

/// Another process is at it. Unknown (no locks on this file system) counts as no.
[[nodiscard]] bool is_being_pruned(const Store& store) noexcept;

struct Pruned {
  bool elsewhere = false; ///< another process is at it; then nothing was done
  EvictionPlan done;
  std::uint64_t leftovers = 0;
  std::uint64_t bytes_left = 0; ///< all of the cache, index and memos too
};

/// Brings the cache to 90 % of `max_size` when it is larger, sparing what is in use or was used within the
/// hour; removes leftovers; counts anew.
[[nodiscard]] Pruned prune(Store& store, std::uint64_t max_size);

} // namespace dcuop::store
