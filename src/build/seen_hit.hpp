#pragma once
// A hit that was found before: while all that it was compared with is what it was by identity, neither the index nor the
// memo of contents is read.

#include <optional>

#include "dcuop/key/input_set.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/memo.hpp"

namespace dcuop::build {

class SeenHit {
 public:
  SeenHit(const store::Store& store, const Digest& request, const key::PathBase& base);

  /// Verified by the store, as ever.
  [[nodiscard]] std::optional<store::Entry> find() const;

  /// Before `inputs` are compared with what lies on disk.
  void look_at(const key::InputSet& inputs);
  /// They were equal (`comparison`), and this is the entry.
  void remember(const key::InputSet& inputs, const key::Comparison& comparison, const Digest& entry);

 private:
  const store::Store& store_;
  const key::PathBase& base_;
  IdentityMemo memo_;
};

} // namespace dcuop::build
