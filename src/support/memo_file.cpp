#include "memo_file.hpp"

#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "dcuop/support/json_text.hpp"

namespace dcuop {

namespace {

using nlohmann::json;

constexpr int memo_schema = 2;

json to_json(const FileIdentity& identity) {
  return {identity.device,   identity.inode, identity.size, identity.mtime_ns,
          identity.ctime_ns, identity.mode,  identity.owner};
}

std::uint32_t short_from(const json& value) {
  const std::uint64_t number = unsigned_from(value);
  if (number > std::numeric_limits<std::uint32_t>::max()) {
    throw std::invalid_argument("not an integer of 32 bits");
  }
  return static_cast<std::uint32_t>(number);
}

FileIdentity identity_from(const json& fields) {
  FileIdentity identity;
  identity.device = unsigned_from(fields.at(0));
  identity.inode = unsigned_from(fields.at(1));
  identity.size = unsigned_from(fields.at(2));
  identity.mtime_ns = signed_from(fields.at(3));
  identity.ctime_ns = signed_from(fields.at(4));
  identity.mode = short_from(fields.at(5));
  identity.owner = short_from(fields.at(6));
  return identity;
}

Memo memo_from_document(const json& document) {
  Memo memo;
  memo.value = unescaped_bytes(document.at("value").get_ref<const std::string&>());
  for (const json& fields : document.at("witnesses")) {
    Witness witness;
    witness.path = unescaped_bytes(fields.at("path").get_ref<const std::string&>());
    witness.settled = fields.at("settled").get<bool>();
    if (!fields.at("identity").is_null()) {
      witness.identity = identity_from(fields.at("identity"));
    }
    if (!fields.at("content").is_null()) {
      witness.content = Digest::from_hex(fields.at("content").get_ref<const std::string&>());
    }
    memo.witnesses.push_back(std::move(witness));
  }
  return memo;
}

} // namespace

std::string memo_text(const Memo& memo) {
  json witnesses = json::array();
  for (const Witness& witness : memo.witnesses) {
    witnesses.push_back({{"path", escaped_bytes(witness.path.string())},
                         {"identity", witness.identity ? to_json(*witness.identity) : json()},
                         {"content", witness.content ? json(witness.content->hex()) : json()},
                         {"settled", witness.settled}});
  }
  const json document = {{"schema", memo_schema},
                         {"version", DCUOP_VERSION},
                         {"value", escaped_bytes(memo.value)},
                         {"witnesses", std::move(witnesses)}};
  const std::string text = json_text(document);
  return digest_of(text).hex() + "\n" + text;
}

std::optional<Memo> memo_from(std::string_view text) {
  const std::size_t newline = text.find('\n');
  if (newline == std::string_view::npos ||
      digest_of(text.substr(newline + 1)).hex() != text.substr(0, newline)) {
    return std::nullopt;
  }
  try {
    const json document = json::parse(text.substr(newline + 1));
    // What an answer's value looks like is the business of the version that wrote it.
    if (document.at("schema") != memo_schema || document.at("version") != DCUOP_VERSION) {
      return std::nullopt;
    }
    return memo_from_document(document);
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

} // namespace dcuop
