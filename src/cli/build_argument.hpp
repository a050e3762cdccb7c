#pragma once
// Which operator a file was built from, for the fixes that say `dcuop build OP`.

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"

#include "dcuop/finding/finding.hpp"
#include "dcuop/store/store.hpp"

namespace dcuop::cli {

/// What `dcuop build` takes, as a shell does, to build this file again from where one stands: the op's name, its
/// directory, or `--from FILE.py`. Empty: neither `entry` (of the file) nor the file's name leads to an operator that
/// is here. Never throws for what the files are like.
[[nodiscard]] std::string build_argument(Context& context, const std::filesystem::path& file,
                                         const std::optional<store::Entry>& entry);

/// Completes the fixes that say OP, each by the file that its finding is about.
void name_operators(Context& context, std::vector<finding::Finding>& findings);

} // namespace dcuop::cli
