#include "memo_file.hpp"

#include "byte_reader.hpp"
#include "encoded_identity.hpp"

namespace dcuop {

namespace {

enum Flag : std::uint8_t { has_identity = 1, has_content = 2, is_settled = 4 };

void append(std::string& bytes, const Witness& witness) {
  const int flags = (witness.identity ? has_identity : 0) | (witness.content ? has_content : 0) |
                    (witness.settled ? is_settled : 0);
  bytes.push_back(static_cast<char>(flags));
  if (witness.identity) {
    const EncodedIdentity identity = encoded(*witness.identity);
    bytes.append(identity.data(), identity.size());
  }
  if (witness.content) {
    bytes.append(bytes_of(*witness.content));
  }
  bytes.append(witness.path.native()).push_back('\0');
}

std::optional<Witness> next_witness(ByteReader& reader) {
  const std::optional<std::uint8_t> flags = reader.number<std::uint8_t>();
  if (!flags || *flags > (has_identity | has_content | is_settled)) {
    return std::nullopt;
  }
  Witness witness;
  witness.settled = (*flags & is_settled) != 0;
  if ((*flags & has_identity) != 0) {
    const std::optional<std::string_view> identity = reader.bytes(identity_size);
    if (!identity) {
      return std::nullopt;
    }
    witness.identity = decoded(identity->data());
  }
  if ((*flags & has_content) != 0) {
    const std::optional<std::string_view> digest = reader.bytes(digest_size);
    if (!digest) {
      return std::nullopt;
    }
    witness.content = digest_in(digest->data());
  }
  const std::optional<std::string_view> path = reader.text_with_zero();
  if (!path) {
    return std::nullopt;
  }
  witness.path = *path;
  return witness;
}

} // namespace

std::string memo_text(const Memo& memo) {
  std::string rest = DCUOP_VERSION;
  rest.push_back('\0');
  append_number(rest, std::uint64_t{memo.value.size()});
  rest.append(memo.value);
  for (const Witness& witness : memo.witnesses) {
    append(rest, witness);
  }
  return std::string(memo_magic).append(bytes_of(digest_of(rest))).append(rest);
}

std::optional<Memo> memo_from(std::string_view text) {
  ByteReader reader(text);
  if (reader.bytes(memo_magic.size()) != memo_magic) {
    return std::nullopt;
  }
  const std::optional<std::string_view> checksum = reader.bytes(digest_size);
  // What an answer's value looks like is the business of the version that wrote it.
  if (checksum != bytes_of(digest_of(reader.rest())) || reader.text_with_zero() != DCUOP_VERSION) {
    return std::nullopt;
  }
  const std::optional<std::uint64_t> size = reader.number<std::uint64_t>();
  const std::optional<std::string_view> value = size ? reader.bytes(*size) : std::nullopt;
  if (!value) {
    return std::nullopt;
  }
  Memo memo{std::string(*value), {}};
  while (!reader.rest().empty()) {
    std::optional<Witness> witness = next_witness(reader);
    if (!witness) {
      return std::nullopt;
    }
    memo.witnesses.push_back(std::move(*witness));
  }
  return memo;
}

} // namespace dcuop
