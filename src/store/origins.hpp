#pragma once
// The recorded origins of all entries of one name, read in one go.

#include <filesystem>
#include <map>
#include <string>
#include <vector>

#include "dcuop/support/digest.hpp"
#include "layout.hpp"

namespace dcuop::store {

[[nodiscard]] std::map<Digest, std::vector<std::filesystem::path>> origins_by_key(const Layout& layout,
                                                                                  const std::string& name);

} // namespace dcuop::store
