#pragma once
// /etc/ld.so.cache as glibc 2.17 and later write it (glibc sysdeps/generic/dl-cache.h).

#include <cstdint>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace dcuop::elf {

class LdCache {
 public:
  /// Empty when the bytes are no cache, or hold nothing for 64-bit libraries of `machine`. `hwcaps`: the
  /// glibc-hwcaps subdirectories that the CPU can use, best first.
  LdCache(std::string_view bytes, std::uint16_t machine, const std::vector<std::string>& hwcaps);

  /// The path that ld.so would try; empty when the cache has none.
  [[nodiscard]] std::filesystem::path find(const std::string& soname) const;

 private:
  struct Choice {
    std::string path;
    std::size_t rank; ///< place among the hwcaps; their number for a plain entry
  };
  std::map<std::string, Choice, std::less<>> entries_;
};

} // namespace dcuop::elf
