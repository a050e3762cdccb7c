#pragma once
// How deep a TOML text nests. toml++ bounds nested values but not dotted keys, and walks the tree that they
// make by recursion: [a.a.a...] of some ten thousand parts overflows the stack.

#include <cstddef>
#include <optional>
#include <string_view>

#include "dcuop/support/toml_file.hpp"

namespace dcuop {

/// The place at which `text` opens more than `limit` tables and arrays in one another; nullopt when it does
/// nowhere. Says nothing of whether it is TOML.
[[nodiscard]] std::optional<TomlPlace> deeper_than(std::size_t limit, std::string_view text);

} // namespace dcuop
