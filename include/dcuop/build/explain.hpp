#pragma once
// Why is a request a miss, or a hit: compared with the nearest earlier build of the op.

#include <optional>
#include <vector>

#include "dcuop/key/explain.hpp"
#include "dcuop/key/request.hpp"
#include "dcuop/store/store.hpp"

namespace dcuop::build {

struct Explanation {
  store::Entry nearest;
  std::vector<key::Difference>
      differences; ///< components first, then files; empty: nothing that the key holds
  std::size_t unchanged_components = 0;
  std::size_t unchanged_inputs = 0;
  [[nodiscard]] bool is_of_other_backend() const;
};

/// nullopt when no earlier build of that op is in the cache. The nearest is the one of the same backend, where
/// there is one, with the fewest differing components; those that this directory asked for go before others of the same name.
[[nodiscard]] std::optional<Explanation> explain(const key::Request& request, const store::Store& store,
                                                 DigestMemo& memo);

} // namespace dcuop::build
