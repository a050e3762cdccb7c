#pragma once
// JSON is UTF-8; the names of files and the values of variables are whatever bytes somebody chose.

#include <cstdint>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>

namespace dcuop {

/// For people and other programs: what is no UTF-8 becomes U+FFFD. One line when `indent` is negative.
[[nodiscard]] std::string json_text(const nlohmann::json& document, int indent = -1);

/// What is read by these two costs no file its own copy of nlohmann's parser, three seconds of compiling. The first
/// throws nlohmann::json::exception for what is no JSON, the second returns a discarded value.
[[nodiscard]] nlohmann::json json_from(std::string_view text);
[[nodiscard]] nlohmann::json json_or_discarded(std::string_view text);

/// For a text whose parts json_text() will write again, which goes down by recursion. A discarded value for what is
/// no JSON, or more than a hundred arrays and objects in one another.
[[nodiscard]] nlohmann::json shallow_json(std::string_view text);

/// Of a record: throw std::invalid_argument for what is no integer, or none of the type. (get<>() takes 1e300 for one,
/// and converting that is undefined.)
[[nodiscard]] std::uint64_t unsigned_from(const nlohmann::json& value);
[[nodiscard]] std::int64_t signed_from(const nlohmann::json& value);

/// Bytes as a JSON string that gives the same bytes again ("%" and what is not ASCII as "%C3"): for the paths
/// of records by which dcuop itself looks for files.
[[nodiscard]] std::string escaped_bytes(std::string_view bytes);
[[nodiscard]] std::string unescaped_bytes(std::string_view text);

} // namespace dcuop
