#pragma once
// An inspection as JSON; the fields are described in docs/json.md.

#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "cooperative.hpp"
#include "inspection.hpp"

namespace dcuop::cli {

[[nodiscard]] nlohmann::json inspection_json(const Inspection& inspection);
[[nodiscard]] nlohmann::json launch_json(const Grid& grid, const std::vector<LaunchVerdict>& verdicts);
[[nodiscard]] nlohmann::json comparison_json(const Comparison& comparison);

} // namespace dcuop::cli
