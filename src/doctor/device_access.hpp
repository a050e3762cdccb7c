#pragma once
// How a process gets at the devices of this machine: it depends on what container it is in.

#include <string>
#include <vector>

#include "dcuop/probe/host.hpp"
#include "directory_users.hpp"

namespace dcuop::doctor {

/// What to do where nodes are missing or denied. `denied`: the nodes that are there and cannot be opened.
[[nodiscard]] Phrase how_to_get_access(const probe::Host& host,
                                       const std::vector<const probe::DeviceNode*>& denied);

} // namespace dcuop::doctor
