#pragma once
// The files of a new directory, written all or not at all.

#include <filesystem>
#include <vector>

#include "dcuop/op/new_op.hpp"

namespace dcuop::cli {

/// Throws Error(usage) when there is something in `directory` and `overwrite` is not said, or something else than a
/// directory; with `overwrite`, files of the same names are replaced and all others stay. Throws Error(environment)
/// when it cannot be written; then all is as it was before.
void place_files(const std::filesystem::path& directory, const std::vector<op::NewFile>& files,
                 bool overwrite);

} // namespace dcuop::cli
