#pragma once
// The read-only caches that the user's configuration names (built into an image, or by a cluster's administrator).

#include <vector>

#include "command.hpp"
#include "dcuop/store/store.hpp"

namespace dcuop::cli {

/// Those of `system_caches` that can be trusted, in order. One that cannot be opened, or is writable by somebody who
/// is not trusted, costs a remark and is left out: it never fails a build. Throws Error(usage) when `trusted_owners`
/// names no user.
[[nodiscard]] std::vector<store::Store> open_shared_caches(Context& context);

} // namespace dcuop::cli
