#pragma once
// The names that a traced build asked for and did not read, by directory: tens of thousands for a build against torch,
// as each include is tried in each directory before the one that has it. They are only looked at when a directory's
// names have changed, so they are kept packed.

#include <functional>
#include <map>
#include <string>
#include <string_view>

#include "dcuop/key/input_set.hpp"

namespace dcuop::key {

/// What was found under each name. A name may have several components when the first does not exist ("lib/op.h").
using AskedNames = std::map<std::string, std::map<std::string, Found>>; ///< by directory, portable

/// "" for none.
[[nodiscard]] std::string packed(const AskedNames& asked);

/// Calls `visit` for each name, directory by directory. False for a text that packed() did not write.
[[nodiscard]] bool for_each_asked(
    const std::string& packed,
    const std::function<void(std::string_view directory, std::string_view name, Found found)>& visit);

} // namespace dcuop::key
