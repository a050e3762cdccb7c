#pragma once
// The tools' words under LANG=zh_CN.

#include <string>
#include <string_view>

namespace dcuop::doctor {

/// The line with the Chinese of gcc, ld, glibc and bash as those say it in English, so that one set of signs
/// knows both; another line as it is.
[[nodiscard]] std::string in_english(std::string_view line);

} // namespace dcuop::doctor
