#include "wheel_tags.hpp"

#include <algorithm>
#include <array>
#include <utility>
#include <vector>

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

bool is_number(std::string_view text) {
  return !text.empty() && std::all_of(text.begin(), text.end(), [](char c) { return c >= '0' && c <= '9'; });
}

/// "cp38" -> "CPython 3.8", "py3" -> "Python 3".
std::string python_of(std::string_view tag, std::string_view abi) {
  const auto digits = tag.substr(std::min<std::size_t>(2, tag.size()));
  if (!is_number(digits)) {
    return std::string(tag);
  }
  std::string version(digits.substr(0, 1));
  if (digits.size() > 1) {
    version += "." + std::string(digits.substr(1));
  }
  const std::string kind = tag.starts_with("cp") ? "CPython " : tag.starts_with("pp") ? "PyPy " : "Python ";
  return kind + version + (abi == "abi3" ? " or newer" : "");
}

/// "manylinux_2_28_x86_64" -> "glibc 2.28 or newer, x86_64".
std::string platform_of(std::string_view tag) {
  // Names of before PEP 600, and what it makes of them.
  constexpr std::array<std::pair<std::string_view, std::string_view>, 3> older = {
      std::pair{"manylinux2014_", "2_17_"}, std::pair{"manylinux2010_", "2_12_"},
      std::pair{"manylinux1_", "2_5_"}};
  std::string text(tag);
  for (const auto& [name, version] : older) {
    if (text.starts_with(name)) {
      text = "manylinux_" + std::string(version) + text.substr(name.size());
    }
  }
  for (const auto& [prefix, libc] :
       {std::pair{std::string("manylinux_"), "glibc "}, std::pair{std::string("musllinux_"), "musl "}}) {
    const auto parts =
        text.starts_with(prefix) ? split(text.substr(prefix.size()), '_') : std::vector<std::string>{};
    if (parts.size() >= 3 && is_number(parts[0]) && is_number(parts[1])) {
      const auto machine = prefix.size() + parts[0].size() + parts[1].size() + 2;
      return libc + parts[0] + "." + parts[1] + " or newer, " + text.substr(machine);
    }
  }
  return text == "any" ? "any platform" : text;
}

} // namespace

std::string wanted_by_wheel(std::string_view file_name) {
  constexpr std::string_view suffix = ".whl";
  if (!file_name.ends_with(suffix)) {
    return {};
  }
  const auto fields = split(file_name.substr(0, file_name.size() - suffix.size()), '-');
  if (fields.size() <
      5) { // name, version, Python, ABI, platform; a build number may stand before the last three
    return {};
  }
  std::vector<std::string> pythons, platforms; // a field may hold several tags, of which one must fit
  for (const auto& tag : split(fields[fields.size() - 3], '.')) {
    pythons.push_back(python_of(tag, fields[fields.size() - 2]));
  }
  for (const auto& tag : split(fields.back(), '.')) {
    platforms.push_back(platform_of(tag));
  }
  return join(pythons, " or ") + "; " + join(platforms, " or ");
}

} // namespace dcuop::doctor
