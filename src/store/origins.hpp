#pragma once
// The recorded origins of all entries of one name, read in one go.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "layout.hpp"

namespace dcuop::store {

/// The directories by the key of the entry, in hex.
[[nodiscard]] std::map<std::string, std::vector<std::filesystem::path>>
origins_by_key(const Layout& layout, const std::string& name);

} // namespace dcuop::store
