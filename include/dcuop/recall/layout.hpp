#pragma once
// The file of a remembered answer, in this machine's byte order: it never leaves it.
//
//   magic, the digest of all that follows it (XXH128, canonical), u32 size of the answer, the answer with a zero byte,
//   u32 number of paths; then records: a Kind, an Identity unless it is a directory, a text with a zero byte.
//
// A path is a name in the directory before it. In the order of the directories each is opened once.

#include <cstddef>
#include <cstdint>

namespace dcuop::recall {

inline constexpr char magic[] = "dcuop answer 1\n";
inline constexpr std::size_t magic_size = sizeof magic - 1;
inline constexpr std::size_t digest_size = 16;

enum class Kind : char {
  directory = 'd', ///< with the slash at its end
  path = 'p',      ///< links are followed
  link = 'l',      ///< itself
  place = 'w',     ///< on the way to others: as path, without size and times, which its names change
  real_place = 'r' ///< as place, and no link to one
};

/// FileIdentity without padding; all zero: nothing is there.
struct Identity {
  std::uint64_t device = 0;
  std::uint64_t inode = 0;
  std::uint64_t size = 0;
  std::int64_t mtime_ns = 0;
  std::int64_t ctime_ns = 0;
  std::uint32_t mode = 0;
  std::uint32_t owner = 0;
};
static_assert(sizeof(Identity) == 48);

} // namespace dcuop::recall
