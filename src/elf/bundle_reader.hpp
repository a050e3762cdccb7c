#pragma once
// A run of offload bundles, plain and compressed ones mixed: one a translation unit.

#include <cstdint>
#include <optional>
#include <vector>

#include "dcuop/elf/bundle.hpp"

#include "byte_source.hpp"

namespace dcuop::elf {

/// What may stand between two bundles.
enum class Between {
  padding,  ///< zeros only: other bytes are reported as damage
  anything, ///< bundles begin at page-aligned offsets, the rest is other data
};

/// `base` is added to the offsets of the bundles.
[[nodiscard]] std::vector<Bundle> read_bundles(const ByteSource& source, Between between, std::uint64_t base);

/// The next page-aligned offset from `from` on at which a bundle begins.
[[nodiscard]] std::optional<std::uint64_t> find_bundle_page(const ByteSource& source, std::uint64_t from);

} // namespace dcuop::elf
