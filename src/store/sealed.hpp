#pragma once
// JSON that knows whether it is whole: the payload in an envelope with a digest of it and of the place that
// it belongs to. The file is valid JSON for other programs, while a payload of half a megabyte (an input set)
// is checked here without being parsed.

#include <optional>
#include <string>
#include <string_view>

#include "dcuop/support/digest.hpp"

namespace dcuop::store {

/// `place` digests what the text is for (kind, key), so that a copy under another key is not taken for its
/// own.
[[nodiscard]] std::string seal(const Digest& place, std::string_view payload);

/// The payload, inside `text`; nullopt when a byte of it is not as sealed.
[[nodiscard]] std::optional<std::string_view> unseal(const Digest& place, std::string_view text);

/// Where the payload starts in a sealed text: what needs only its first bytes can read a prefix.
[[nodiscard]] std::size_t sealed_payload_offset();

} // namespace dcuop::store
