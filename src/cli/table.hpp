#pragma once
// Text in columns, for people.

#include <string>
#include <vector>

namespace dcuop::cli {

/// Lines with their columns aligned, two spaces between them; width counts characters, not bytes of UTF-8. The
/// last column is not padded.
[[nodiscard]] std::vector<std::string> aligned(const std::vector<std::vector<std::string>>& rows);

} // namespace dcuop::cli
