#pragma once
// Index records one by one, for housekeeping.

#include <optional>
#include <vector>

#include "dcuop/store/store.hpp"
#include "layout.hpp"

namespace dcuop::store {

/// nullopt when it is not there or damaged.
[[nodiscard]] std::optional<IndexRecord> read_record(const Layout& layout, const Digest& request,
                                                     const Digest& input_set);

/// Its key from the first bytes, unverified: enough to see whether it leads anywhere.
[[nodiscard]] std::optional<Digest> read_record_key(const Layout& layout, const Digest& request,
                                                    const Digest& input_set);

/// Newest first.
[[nodiscard]] std::vector<Digest> input_sets_of(const Layout& layout, const Digest& request);

} // namespace dcuop::store
