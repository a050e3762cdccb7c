#include "mounts.hpp"

#include <algorithm>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

/// "\040" is a blank: the kernel writes blanks, tabs, newlines and backslashes in octal.
std::string unescaped(std::string_view text) {
  const auto is_octal = [](char character) { return character >= '0' && character <= '7'; };
  std::string plain;
  for (std::size_t i = 0; i < text.size(); ++i) {
    const bool escape = text[i] == '\\' && i + 3 < text.size() && is_octal(text[i + 1]) &&
                        is_octal(text[i + 2]) && is_octal(text[i + 3]);
    if (escape) {
      plain += static_cast<char>((text[i + 1] - '0') * 64 + (text[i + 2] - '0') * 8 + (text[i + 3] - '0'));
      i += 3;
    } else {
      plain += text[i];
    }
  }
  return plain;
}

std::optional<Mount> parsed(const std::string& line) {
  // 36 35 98:0 /mnt1 /mnt2 rw,noatime master:1 - ext3 /dev/root rw,errors=continue
  const auto fields = split(line, ' ');
  const auto dash = std::find(fields.begin(), fields.end(), "-");
  constexpr std::size_t point = 4, options = 5;
  if (fields.size() <= options || dash == fields.end() || dash + 1 == fields.end()) {
    return std::nullopt;
  }
  return Mount{unescaped(fields[point]), *(dash + 1), fields[options]};
}

} // namespace

bool Mount::has(std::string_view option) const {
  const auto all = split(options, ',');
  return std::find(all.begin(), all.end(), option) != all.end();
}

std::optional<Mount> mount_of(const std::filesystem::path& path, std::string_view mountinfo) {
  std::optional<Mount> best;
  for (const auto& line : split(mountinfo, '\n')) {
    auto mount = parsed(line);
    // Of two at one place the later lies on top.
    if (mount && lies_below(path, mount->point) &&
        (!best || mount->point.native().size() >= best->point.native().size())) {
      best = std::move(mount);
    }
  }
  return best;
}

} // namespace dcuop::doctor
