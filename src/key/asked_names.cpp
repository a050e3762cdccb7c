// The text: each directory's path, then its names with what was found before them ("-lib/op.h"), each with a null behind
// it; an empty name ends a directory.

#include "asked_names.hpp"

#include "dcuop/support/packed_text.hpp"

namespace dcuop::key {

namespace {

constexpr std::size_t largest_text = 256U << 20U; ///< bytes; torch's is one million

} // namespace

std::string packed(const AskedNames& asked) {
  std::string text;
  for (const auto& [directory, names] : asked) {
    text.append(directory).push_back('\0');
    for (const auto& [name, found] : names) {
      text.push_back(static_cast<char>(found));
      text.append(name).push_back('\0');
    }
    text.push_back('\0');
  }
  return text.empty() ? text : pack_text(text);
}

bool for_each_asked(const std::string& packed,
                    const std::function<void(std::string_view, std::string_view, Found)>& visit) {
  if (packed.empty()) {
    return true;
  }
  const std::optional<std::string> text = unpack_text(packed, largest_text);
  if (!text) {
    return false;
  }
  std::string_view rest = *text;
  std::string_view directory;
  bool in_directory = false;
  while (!rest.empty()) {
    const std::size_t end = rest.find('\0');
    if (end == std::string_view::npos) {
      return false;
    }
    const std::string_view piece = rest.substr(0, end);
    rest.remove_prefix(end + 1);
    if (!in_directory) {
      directory = piece;
      in_directory = true;
    } else if (piece.empty()) {
      in_directory = false;
    } else {
      visit(directory, piece.substr(1), static_cast<Found>(piece.front()));
    }
  }
  return !in_directory;
}

} // namespace dcuop::key
