#pragma once
// The compressed offload bundle: llvm/lib/Object/OffloadBundle.cpp, struct RawCompressedBundleHeader
// (https://github.com/llvm/llvm-project). Versions 2 and 3 carry their length, version 1 does not.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "dcuop/elf/bundle.hpp"

namespace dcuop::elf {

inline constexpr std::string_view ccob_magic = "CCOB";
inline constexpr std::uint64_t ccob_header_limit = 32;

struct CcobHeader {
  int version = 0;
  Packing packing = Packing::unknown;
  std::uint64_t header_size = 0;
  std::optional<std::uint64_t> total_size; ///< header included; nullopt in version 1
  std::uint64_t unpacked_size = 0;
  std::uint64_t hash = 0; ///< low half of the MD5 of what it unpacks to; 0: a writer that gives none
  std::string problem;    ///< version or method unknown, or cut
};

/// `bytes` begin with the magic.
[[nodiscard]] CcobHeader read_ccob_header(std::string_view bytes);

struct Unpacked {
  std::string bytes;
  std::string problem; ///< empty when it unpacked to exactly the size that the header gives
};

/// Grows with what the payload really holds, never past the header's size.
[[nodiscard]] Unpacked unpack_ccob(const CcobHeader& header, std::string_view payload);

/// "" when the bytes are those that the header's hash was made of. LLVM checks it in its verbose mode alone, and zstd
/// frames of LLVM's have no checksum of their own: a damaged one may unpack to the right size.
[[nodiscard]] std::string hash_problem(const CcobHeader& header, std::string_view unpacked);

} // namespace dcuop::elf
