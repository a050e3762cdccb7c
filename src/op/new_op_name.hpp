#pragma once
// Which names a new op cannot have.

#include <optional>
#include <string>

#include "dcuop/op/op.hpp"

namespace dcuop::op {

/// Why an op of that name would not work: "is a keyword of Python"; nullopt when it does.
[[nodiscard]] std::optional<std::string> why_unfit(const std::string& name, Kind kind);

} // namespace dcuop::op
