#include "../../../src/elf/ld_cache.hpp"

#include <cstdint>
#include <string>

#include <elf.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "made_bundles.hpp"

namespace dcuop::elf {
namespace {

using test::put;

/// `count` entries with the names n...n, ...n, ..., that share one string, each with the path n...n.
std::string overlapping_cache(std::uint32_t count, std::uint32_t length) {
  const auto strings_at = static_cast<std::uint32_t>(48 + 24 * count);
  std::string cache = "glibc-ld.so.cache1.1";
  put(cache, count);
  put(cache, length);
  cache.append(48 - cache.size(), '\0');
  for (std::uint32_t i = 0; i < count; ++i) {
    put(cache, std::uint32_t{0x0303});
    put(cache, strings_at + i);
    put(cache, strings_at);
    put(cache, std::uint32_t{0});
    put(cache, std::uint64_t{0});
  }
  return cache + std::string(length - 1, 'n') + '\0';
}

TEST(LdCache, TakesSharedStrings) {
  const LdCache cache(overlapping_cache(4, 8), EM_X86_64, {});
  EXPECT_EQ(cache.find("nnnn"), "nnnnnnn");
  EXPECT_EQ(cache.find("nnn"), "");
}

TEST(LdCache, DoesNotGrowWithTheSquareOfTheFile) {
  constexpr std::uint32_t count = 4000;
  constexpr std::uint32_t length = 20000; // 80 MB of paths in a file of 116 KB
  const LdCache cache(overlapping_cache(count, length), EM_X86_64, {});
  EXPECT_NE(cache.find(std::string(length - 1, 'n')), "");
  EXPECT_EQ(cache.find(std::string(length - count, 'n')), "");
}

} // namespace
} // namespace dcuop::elf
