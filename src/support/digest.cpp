#include "dcuop/support/digest.hpp"

#include <cstring>
#include <nettle/sha2.h>
#include <xxhash.h>

#include "descriptor.hpp"

namespace dcuop {

namespace {

constexpr char hex_digits[] = "0123456789abcdef";

template <std::size_t size> std::string to_hex(const std::array<std::uint8_t, size>& bytes) {
  std::string text;
  text.reserve(size * 2);
  for (const std::uint8_t byte : bytes) {
    text.push_back(hex_digits[byte >> 4U]);
    text.push_back(hex_digits[byte & 0xfU]);
  }
  return text;
}

std::optional<unsigned> hex_value(char digit) {
  if (digit >= '0' && digit <= '9') {
    return static_cast<unsigned>(digit - '0');
  }
  if (digit >= 'a' && digit <= 'f') {
    return static_cast<unsigned>(digit - 'a' + 10);
  }
  return std::nullopt;
}

Digest canonical(XXH128_hash_t hash) {
  XXH128_canonical_t canonical_form;
  XXH128_canonicalFromHash(&canonical_form, hash);
  Digest digest;
  static_assert(sizeof canonical_form.digest == sizeof digest.bytes);
  std::memcpy(digest.bytes.data(), canonical_form.digest, sizeof canonical_form.digest);
  return digest;
}

/// Calls `consume` with each block of a regular file; false when it cannot be read to its end.
template <typename Consume> bool for_each_block(const std::filesystem::path& path, Consume consume) {
  const Descriptor file = open_regular_file(path);
  if (!file) {
    return false;
  }
  std::array<char, 64 * 1024> block; // NOLINT: filled by read(2)
  while (true) {
    const std::optional<std::size_t> count = read_some(file.get(), block.data(), block.size());
    if (!count) {
      return false;
    }
    if (*count == 0) {
      return true;
    }
    consume(std::string_view(block.data(), *count));
  }
}

} // namespace

std::string Digest::hex() const {
  return to_hex(bytes);
}

std::optional<Digest> Digest::from_hex(std::string_view text) {
  Digest digest;
  if (text.size() != digest.bytes.size() * 2) {
    return std::nullopt;
  }
  for (std::size_t i = 0; i < digest.bytes.size(); ++i) {
    const std::optional<unsigned> high = hex_value(text[2 * i]);
    const std::optional<unsigned> low = hex_value(text[2 * i + 1]);
    if (!high || !low) {
      return std::nullopt;
    }
    digest.bytes[i] = static_cast<std::uint8_t>(*high << 4U | *low);
  }
  return digest;
}

struct Hasher::State {
  struct Free {
    void operator()(XXH3_state_t* state) const { XXH3_freeState(state); }
  };
  // From xxHash's own allocator: the state wants 64-byte alignment.
  std::unique_ptr<XXH3_state_t, Free> xxh3{XXH3_createState()};

  State() {
    if (!xxh3) {
      throw std::bad_alloc();
    }
    XXH3_128bits_reset(xxh3.get());
  }
  void bytes(const void* data, std::size_t size) { XXH3_128bits_update(xxh3.get(), data, size); }
  void length(std::uint64_t value) {
    std::array<std::uint8_t, 8> little_endian{};
    for (std::size_t i = 0; i < little_endian.size(); ++i) {
      little_endian[i] = static_cast<std::uint8_t>(value >> (8 * i));
    }
    bytes(little_endian.data(), little_endian.size());
  }
  void field(char type, std::string_view name, std::string_view value) {
    bytes(&type, 1);
    length(name.size());
    bytes(name.data(), name.size());
    length(value.size());
    bytes(value.data(), value.size());
  }
};

Hasher::Hasher() : state_(std::make_unique<State>()) {}
Hasher::~Hasher() = default;
Hasher::Hasher(Hasher&&) noexcept = default;
Hasher& Hasher::operator=(Hasher&&) noexcept = default;

Hasher& Hasher::text(std::string_view name, std::string_view value) {
  state_->field('t', name, value);
  return *this;
}

Hasher& Hasher::number(std::string_view name, std::uint64_t value) {
  state_->field('n', name, {});
  state_->length(value);
  return *this;
}

Hasher& Hasher::digest(std::string_view name, const Digest& value) {
  state_->field('d', name,
                std::string_view(reinterpret_cast<const char*>(value.bytes.data()), value.bytes.size()));
  return *this;
}

Hasher& Hasher::raw(std::string_view bytes) {
  state_->bytes(bytes.data(), bytes.size());
  return *this;
}

Digest Hasher::finish() const {
  return canonical(XXH3_128bits_digest(state_->xxh3.get()));
}

Digest digest_of(std::string_view bytes) {
  return canonical(XXH3_128bits(bytes.data(), bytes.size()));
}

std::optional<Digest> digest_of_file(const std::filesystem::path& path) {
  Hasher hasher;
  if (!for_each_block(path, [&](std::string_view block) { hasher.raw(block); })) {
    return std::nullopt;
  }
  return hasher.finish();
}

std::optional<std::string> sha256_of_file(const std::filesystem::path& path) {
  sha256_ctx context;
  sha256_init(&context);
  const bool read = for_each_block(path, [&](std::string_view block) {
    sha256_update(&context, block.size(), reinterpret_cast<const std::uint8_t*>(block.data()));
  });
  if (!read) {
    return std::nullopt;
  }
  std::array<std::uint8_t, SHA256_DIGEST_SIZE> bytes{};
  sha256_digest(&context, bytes.size(), bytes.data());
  return to_hex(bytes);
}

} // namespace dcuop
