#include "sealed.hpp"

namespace dcuop::store {

namespace {

constexpr std::string_view head = R"({"dcuop":1,"digest":")";
constexpr std::string_view middle = R"(","payload":)";
constexpr std::string_view tail = "}\n";
constexpr std::size_t digest_length = 32;

std::string digest_of_sealed(const Digest& place, std::string_view payload) {
  return Hasher().digest("place", place).text("payload", payload).finish().hex();
}

} // namespace

std::string seal(const Digest& place, std::string_view payload) {
  std::string text;
  text.reserve(sealed_payload_offset() + payload.size() + tail.size());
  text.append(head).append(digest_of_sealed(place, payload)).append(middle).append(payload).append(tail);
  return text;
}

std::optional<std::string_view> unseal(const Digest& place, std::string_view text) {
  const std::size_t offset = sealed_payload_offset();
  if (text.size() < offset + tail.size() || !text.starts_with(head) || !text.ends_with(tail) ||
      text.substr(head.size() + digest_length, middle.size()) != middle) {
    return std::nullopt;
  }
  const std::string_view payload = text.substr(offset, text.size() - offset - tail.size());
  if (text.substr(head.size(), digest_length) != digest_of_sealed(place, payload)) {
    return std::nullopt;
  }
  return payload;
}

std::size_t sealed_payload_offset() {
  return head.size() + digest_length + middle.size();
}

} // namespace dcuop::store
