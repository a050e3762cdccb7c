#pragma once
// Content digests. XXH3-128 names things in the cache (fast, not cryptographic: whoever can write the
// cache can write the entries as well); SHA-256 guards files that leave the machine.

#include <array>
#include <compare>
#include <cstdint>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

namespace dcuop {

/// 128 bits, big endian as XXH128_canonicalFromHash writes them.
struct Digest {
  std::array<std::uint8_t, 16> bytes{};

  [[nodiscard]] std::string hex() const; ///< 32 lower-case hex digits
  [[nodiscard]] static std::optional<Digest> from_hex(std::string_view text);
  auto operator<=>(const Digest&) const = default;
};

/// Digest of a sequence of named fields. Every field is framed by its type and lengths, so that
/// ("ab","c") and ("a","bc") differ, as do an absent field and an empty one.
class Hasher {
 public:
  Hasher();
  ~Hasher();
  Hasher(Hasher&&) noexcept;
  Hasher& operator=(Hasher&&) noexcept;

  Hasher& text(std::string_view name, std::string_view value);
  Hasher& number(std::string_view name, std::uint64_t value);
  Hasher& digest(std::string_view name, const Digest& value);
  /// Unframed bytes, for streaming one field's content; the caller frames it.
  Hasher& raw(std::string_view bytes);

  [[nodiscard]] Digest finish() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

[[nodiscard]] Digest digest_of(std::string_view bytes);

/// Digest of a file's content, read in blocks; nullopt when it cannot be opened or read.
[[nodiscard]] std::optional<Digest> digest_of_file(const std::filesystem::path& path);

/// Lower-case hex SHA-256 of a file's content; nullopt when it cannot be opened or read.
[[nodiscard]] std::optional<std::string> sha256_of_file(const std::filesystem::path& path);

} // namespace dcuop
