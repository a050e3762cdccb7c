#pragma once
// The families of rules; rules.cpp joins them into the one table.

#include <vector>

#include "dcuop/finding/finding.hpp"

namespace dcuop::finding {

[[nodiscard]] std::vector<Rule> file_rules(); ///< DCU1xx
[[nodiscard]] std::vector<Rule>
symbol_rules(); ///< DCU200 to DCU209 and DCU22x, DCU23x: libraries, versions, modules
[[nodiscard]] std::vector<Rule> undefined_rules();   ///< DCU21x: undefined symbols
[[nodiscard]] std::vector<Rule> device_rules();      ///< DCU3xx
[[nodiscard]] std::vector<Rule> environment_rules(); ///< DCU4xx
[[nodiscard]] std::vector<Rule> torch_cache_rules(); ///< DCU5xx
[[nodiscard]] std::vector<Rule> live_rules();        ///< DCU6xx: of a running process
[[nodiscard]] std::vector<Rule> message_rules();     ///< DCU7xx: what a message alone tells
[[nodiscard]] std::vector<Rule> binding_rules();     ///< DCU90x: the bindings of an operator's sources
[[nodiscard]] std::vector<Rule> kernel_rules();      ///< DCU91x, DCU92x: kernels and their launches
[[nodiscard]] std::vector<Rule> grid_rules();        ///< DCU93x: barriers across a grid
[[nodiscard]] std::vector<Rule> release_rules();     ///< DCU95x: what a release needs
[[nodiscard]] std::vector<Rule> reading_rules();     ///< DCU99x: what was not read, and allowances
// DCU8xx: an Ascend SuperKernel. From DCU840 on: what its sources show.
[[nodiscard]] std::vector<Rule> superkernel_rules();       ///< DCU80x, DCU81x: operators of a scope
[[nodiscard]] std::vector<Rule> superkernel_build_rules(); ///< DCU82x, DCU83x: options, the data cache
[[nodiscard]] std::vector<Rule> ascend_sync_rules();       ///< DCU84x to DCU852: what cores wait for
[[nodiscard]] std::vector<Rule> ascend_memory_rules();     ///< DCU854 to DCU870: memory, early start, pipes
[[nodiscard]] std::vector<Rule> ascend_host_rules(); ///< DCU872 to DCU888: flags, types, tiling, SK_BIND

} // namespace dcuop::finding
