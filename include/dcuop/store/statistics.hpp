#pragma once
// Counters of a cache: what it was asked and what it saved. They never fail a build.

#include <chrono>
#include <cstdint>

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

/// Counters that cannot be read count as zero.
[[nodiscard]] Totals totals(const Store& store);

} // namespace dcuop::store
