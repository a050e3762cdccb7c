#pragma once
// What can be the name of an op, and of the module that Python imports.

#include <string_view>

namespace dcuop::op {

/// ASCII letters, digits and _, no digit first.
[[nodiscard]] bool is_identifier(std::string_view text);

} // namespace dcuop::op
