#pragma once
// What a wheel's file name says that it is for:
// https://packaging.python.org/en/latest/specifications/platform-compatibility-tags/

#include <string>
#include <string_view>

namespace dcuop::doctor {

/// "CPython 3.8; glibc 2.17 or newer, x86_64"; "" for a name that is no wheel's.
[[nodiscard]] std::string wanted_by_wheel(std::string_view file_name);

} // namespace dcuop::doctor
