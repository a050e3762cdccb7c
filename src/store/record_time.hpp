#pragma once
// Times in records.

#include <algorithm>
#include <chrono>
#include <cstdint>

namespace dcuop::store {

/// Since 1970. The clock counts nanoseconds and ends in 2262: what a damaged record gives may lie far behind.
[[nodiscard]] inline std::chrono::system_clock::time_point time_from_milliseconds(std::uint64_t count) {
  using std::chrono::milliseconds;
  using std::chrono::system_clock;
  constexpr auto last = std::chrono::duration_cast<milliseconds>(system_clock::duration::max());
  const auto most = static_cast<std::uint64_t>(last.count());
  return system_clock::time_point(milliseconds(static_cast<std::int64_t>(std::min(count, most))));
}

} // namespace dcuop::store
