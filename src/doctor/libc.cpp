#include "libc.hpp"

#include <algorithm>
#include <charconv>
#include <string_view>

namespace dcuop::doctor {

int glibc_minor(const elf::Image& libc) {
  constexpr std::string_view prefix = "GLIBC_2.";
  int newest = -1;
  for (const auto& node : libc.version_definitions) {
    int minor = -1;
    if (node.starts_with(prefix)) {
      std::from_chars(node.data() + prefix.size(), node.data() + node.size(), minor);
      newest = std::max(newest, minor);
    }
  }
  return newest;
}

} // namespace dcuop::doctor
