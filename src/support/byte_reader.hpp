#pragma once
// Binary memos, in this machine's byte order: they never leave it.

#include <cstdint>
#include <cstring>
#include <optional>
#include <string>
#include <string_view>

#include "dcuop/support/digest.hpp"

namespace dcuop {

inline constexpr std::size_t digest_size = sizeof(Digest::bytes);

[[nodiscard]] inline std::string_view bytes_of(const Digest& digest) {
  return {reinterpret_cast<const char*>(digest.bytes.data()), digest_size};
}

/// `bytes`: digest_size of them.
[[nodiscard]] inline Digest digest_in(const char* bytes) {
  Digest digest;
  std::memcpy(digest.bytes.data(), bytes, digest_size);
  return digest;
}

template <typename Number> void append_number(std::string& bytes, Number value) {
  bytes.append(reinterpret_cast<const char*>(&value), sizeof value);
}

/// Takes pieces off the front of a text.
class ByteReader {
 public:
  explicit ByteReader(std::string_view bytes) : rest_(bytes) {}

  /// nullopt when fewer are left.
  std::optional<std::string_view> bytes(std::size_t size) {
    if (size > rest_.size()) {
      return std::nullopt;
    }
    const std::string_view piece = rest_.substr(0, size);
    rest_.remove_prefix(size);
    return piece;
  }
  template <typename Number> std::optional<Number> number() {
    const std::optional<std::string_view> piece = bytes(sizeof(Number));
    if (!piece) {
      return std::nullopt;
    }
    Number value{};
    std::memcpy(&value, piece->data(), sizeof value);
    return value;
  }
  /// Without the zero byte, which is taken too; nullopt when there is none.
  std::optional<std::string_view> text_with_zero() {
    const std::optional<std::string_view> text = bytes(rest_.find('\0'));
    if (text) {
      rest_.remove_prefix(1);
    }
    return text;
  }
  [[nodiscard]] std::string_view rest() const { return rest_; }

 private:
  std::string_view rest_;
};

} // namespace dcuop
