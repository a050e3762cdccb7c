#pragma once
// The parts of find_host(). Private to the probe layer.

#include <vector>

#include "dcuop/probe/host.hpp"

namespace dcuop::probe {

[[nodiscard]] Container find_container(const Machine& machine);
[[nodiscard]] User this_user(const Machine& machine);
[[nodiscard]] std::vector<DeviceNode> find_device_nodes(const Machine& machine, const User& user);

} // namespace dcuop::probe
