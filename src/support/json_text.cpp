#include "dcuop/support/json_text.hpp"

#include <charconv>
#include <limits>
#include <stdexcept>

#include <nlohmann/json.hpp>

namespace dcuop {

namespace {

using nlohmann::json;

constexpr int deepest_nesting = 100;
constexpr char escape = '%';
constexpr std::size_t escape_length = 3;

bool is_plain(char c) {
  return c != escape && static_cast<unsigned char>(c) < 0x80;
}

} // namespace

std::string json_text(const nlohmann::json& document, int indent) {
  return document.dump(indent, ' ', false, nlohmann::json::error_handler_t::replace);
}

json json_from(std::string_view text) {
  return json::parse(text);
}

json json_or_discarded(std::string_view text) {
  return json::parse(text, nullptr, false);
}

json shallow_json(std::string_view text) {
  struct TooDeep {};
  const auto within = [](int depth, json::parse_event_t /*event*/, const json& /*value*/) {
    if (depth > deepest_nesting) {
      throw TooDeep{};
    }
    return true;
  };
  try {
    return json::parse(text, within, false);
  } catch (const TooDeep&) {
    return json(json::value_t::discarded);
  }
}

std::uint64_t unsigned_from(const json& value) {
  if (!value.is_number_unsigned()) {
    throw std::invalid_argument("not an unsigned integer");
  }
  return value.get<std::uint64_t>();
}

std::int64_t signed_from(const json& value) {
  constexpr auto highest = static_cast<std::uint64_t>(std::numeric_limits<std::int64_t>::max());
  if (!value.is_number_integer() || (value.is_number_unsigned() && value.get<std::uint64_t>() > highest)) {
    throw std::invalid_argument("not an integer of 64 bits");
  }
  return value.get<std::int64_t>();
}

std::string escaped_bytes(std::string_view bytes) {
  constexpr std::string_view digits = "0123456789ABCDEF";
  std::string text;
  text.reserve(bytes.size());
  for (const char c : bytes) {
    if (is_plain(c)) {
      text += c;
    } else {
      const auto byte = static_cast<unsigned char>(c);
      text += {escape, digits[byte >> 4U], digits[byte & 0xfU]};
    }
  }
  return text;
}

std::string unescaped_bytes(std::string_view text) {
  std::string bytes;
  bytes.reserve(text.size());
  for (std::size_t at = 0; at < text.size(); ++at) {
    unsigned char byte = 0;
    const std::string_view digits = text.substr(at).substr(0, escape_length);
    const char* const end = digits.data() + digits.size();
    if (text[at] == escape && digits.size() == escape_length &&
        std::from_chars(digits.data() + 1, end, byte, 16).ptr == end) {
      bytes += static_cast<char>(byte);
      at += escape_length - 1;
    } else {
      bytes += text[at];
    }
  }
  return bytes;
}

} // namespace dcuop
