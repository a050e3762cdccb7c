#pragma once
// Request -> published entry, through the index: which known input set is what lies on disk now?

#include <optional>
#include <string>
#include <vector>

#include "dcuop/key/explain.hpp"
#include "dcuop/key/input_set.hpp"
#include "dcuop/key/request.hpp"
#include "dcuop/store/store.hpp"
#include "seen_hit.hpp"

namespace dcuop::build {

struct LookUp {
  std::optional<store::Entry> entry; ///< a hit
  key::InputSet inputs;              ///< of the hit
  /// Inputs are as recorded, but a new file may shadow one: a dependency pass must say.
  bool must_ask_compiler = false;
  std::vector<key::Difference> differences; ///< of a miss: against the newest record; empty without one
};

[[nodiscard]] LookUp look_up(const store::Store& store, store::Shelf shelf, const Digest& request,
                             const key::PathBase& base, DigestMemo& memo, SeenHit* seen = nullptr);

/// The entry of a whole op; `found` says why there is none. A hit is remembered (seen_hit.hpp), and then found without
/// a look at the index.
[[nodiscard]] std::optional<store::Entry> look_up_hit(const store::Store& store, const key::Request& request,
                                                      DigestMemo& memo, LookUp& found);

/// A record that cannot be written (a full disk) costs the next look-up some work, never this build.
void try_add_record(store::Store& store, const Digest& request, const Digest& input_set,
                    const store::IndexRecord& record) noexcept;

/// The key of what `request` makes of these inputs.
[[nodiscard]] Digest key_of(const Digest& request, const key::InputSet& inputs);

} // namespace dcuop::build
