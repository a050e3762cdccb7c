#pragma once
// Counters of a cache: what it was asked and what it saved. They never fail a build.

#include <chrono>
#include <cstdint>
#include <filesystem>

#include "dcuop/store/store.hpp"

namespace dcuop::store {

enum class Event { hit, built, failed };

struct Totals {
  std::uint64_t hits = 0;
  std::uint64_t built = 0;
  std::uint64_t failed = 0;
  std::chrono::milliseconds saved{0}; ///< compile time that hits spared
};

/// `saved`: what the compile took that a hit spares; 0 for other events. Nothing happens on a read-only
/// store.
void record_event(const Store& store, Event event, std::chrono::milliseconds saved) noexcept;

/// Where those who recall an answer append a line a hit: the milliseconds that it saved.
[[nodiscard]] std::filesystem::path answered_file(const Store& store);

/// Adds what is in it to the counters once it is large. Throws Error(environment).
void fold_answered(const Store& store);

/// Counters that cannot be read count as zero.
[[nodiscard]] Totals totals(const Store& store);

} // namespace dcuop::store
