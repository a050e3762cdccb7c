#pragma once
// JSON is UTF-8; the names of files and the values of variables are whatever bytes somebody chose.

#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace dcuop {

/// For people and other programs: what is no UTF-8 becomes U+FFFD. One line when `indent` is negative.
[[nodiscard]] std::string json_text(const nlohmann::json& document, int indent = -1);

/// Bytes as a JSON string that gives the same bytes again ("%" and what is not ASCII as "%C3"): for the paths
/// of records by which dcuop itself looks for files.
[[nodiscard]] std::string escaped_bytes(std::string_view bytes);
[[nodiscard]] std::string unescaped_bytes(std::string_view text);

} // namespace dcuop
