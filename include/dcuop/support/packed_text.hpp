#pragma once
// Long texts, small enough to be carried in JSON.

#include <optional>
#include <string>
#include <string_view>

namespace dcuop {

/// zstd, then base64 (RFC 4648). Any bytes.
[[nodiscard]] std::string pack_text(std::string_view text);
/// nullopt for what pack_text() did not write, and for what would be longer than `limit` bytes.
[[nodiscard]] std::optional<std::string> unpack_text(std::string_view packed, std::size_t limit);

} // namespace dcuop
