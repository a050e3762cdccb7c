#include "dcuop/support/packed_text.hpp"

#include <nettle/base64.h>
#include <zstd.h>

#include "dcuop/support/error.hpp"

namespace dcuop {

namespace {

/// Torch's 36,000 names pack tenfold at level 1, in a few milliseconds.
constexpr int level = 1;

/// RFC 8878, 3.1.1.2: no block of a frame is shorter.
constexpr std::size_t shortest_block = 3;

std::string base64_of(const std::string& bytes) {
  std::string text(BASE64_ENCODE_RAW_LENGTH(bytes.size()), '\0');
  base64_encode_raw(text.data(), bytes.size(), reinterpret_cast<const std::uint8_t*>(bytes.data()));
  return text;
}

std::optional<std::string> bytes_of_base64(std::string_view text) {
  std::string bytes(BASE64_DECODE_LENGTH(text.size()), '\0');
  base64_decode_ctx context{};
  base64_decode_init(&context);
  std::size_t size = bytes.size();
  const bool decoded = base64_decode_update(&context, &size, reinterpret_cast<std::uint8_t*>(bytes.data()),
                                            text.size(), text.data()) != 0 &&
                       base64_decode_final(&context) != 0;
  bytes.resize(size);
  return decoded ? std::optional(std::move(bytes)) : std::nullopt;
}

} // namespace

std::string pack_text(std::string_view text) {
  std::string frame(ZSTD_compressBound(text.size()), '\0');
  const std::size_t size = ZSTD_compress(frame.data(), frame.size(), text.data(), text.size(), level);
  if (ZSTD_isError(size) != 0) {
    throw Error(ExitCode::environment, std::string("zstd: ") + ZSTD_getErrorName(size));
  }
  frame.resize(size);
  return base64_of(frame);
}

std::optional<std::string> unpack_text(std::string_view packed, std::size_t limit) {
  const std::optional<std::string> frame = bytes_of_base64(packed);
  if (!frame) {
    return std::nullopt;
  }
  const unsigned long long size = ZSTD_getFrameContentSize(frame->data(), frame->size());
  if (size == ZSTD_CONTENTSIZE_UNKNOWN || size == ZSTD_CONTENTSIZE_ERROR || size > limit ||
      size > (frame->size() / shortest_block + 1) * ZSTD_BLOCKSIZE_MAX) {
    return std::nullopt; // also a size that so few bytes cannot hold: it is not to be made room for
  }
  std::string text(size, '\0');
  const std::size_t written = ZSTD_decompress(text.data(), text.size(), frame->data(), frame->size());
  return written == size ? std::optional(std::move(text)) : std::nullopt;
}

} // namespace dcuop
