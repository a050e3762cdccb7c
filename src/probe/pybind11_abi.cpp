// The macros: include/pybind11/detail/internals.h up to 2.13, include/pybind11/conduit/
// pybind11_platform_abi_id.h since 3.0 (https://github.com/pybind/pybind11).

#include "pybind11_abi.hpp"

#include <algorithm>
#include <array>
#include <fstream>

namespace dcuop::probe {

namespace {

constexpr std::string_view name_start = "__pybind11_internals_v";
constexpr std::size_t longest_name = 256;

/// Removes the longest of `words` that `text` starts with, and returns it; "" when there is none.
template <std::size_t N>
std::string_view take(std::string_view& text, const std::array<std::string_view, N>& words) {
  std::string_view taken;
  for (const std::string_view word : words) {
    if (word.size() > taken.size() && text.starts_with(word)) {
      taken = word;
    }
  }
  text.remove_prefix(taken.size());
  return taken;
}

std::optional<Pybind11Abi> find_in(const std::filesystem::path& file) {
  constexpr std::size_t block_size = std::size_t{1} << 20U;
  std::ifstream stream(file, std::ios::binary);
  std::string window;
  std::string block(block_size, '\0');
  while (stream) {
    stream.read(block.data(), static_cast<std::streamsize>(block.size()));
    window.append(block, 0, static_cast<std::size_t>(stream.gcount()));
    for (std::size_t at = window.find(name_start); at != std::string::npos;
         at = window.find(name_start, at + name_start.size())) {
      const std::string_view name = std::string_view(window).substr(at, longest_name);
      if (auto abi = parse_pybind11_name(name.substr(0, name.find('\0')))) {
        return abi;
      }
    }
    // A name that the block's end cut is whole in the next window.
    window.erase(0, window.size() - std::min(window.size(), longest_name));
  }
  return std::nullopt;
}

} // namespace

std::optional<Pybind11Abi> parse_pybind11_name(std::string_view name) {
  if (!name.starts_with(name_start) || !name.ends_with("__")) {
    return std::nullopt;
  }
  std::string_view rest = name.substr(name_start.size(), name.size() - name_start.size() - 2);
  const std::size_t digits = rest.find_first_not_of("0123456789");
  if (digits == 0 || digits == std::string_view::npos) {
    return std::nullopt;
  }
  rest.remove_prefix(digits);
  constexpr std::array<std::string_view, 9> compilers = {
      "_gcc", "_gcc_cygwin", "_clang", "_icc", "_pgi", "_mingw", "_msvc", "_system", "_unknown"};
  constexpr std::array<std::string_view, 2> stdlibs = {"_libstdcpp", "_libcpp"};
  constexpr std::array<std::string_view, 2> whole_abis = {"_libstdcpp_gxx_abi_", "_libcpp_abi"};

  Pybind11Abi abi;
  abi.compiler = take(rest, compilers);
  const bool since_version_3 = std::any_of(whole_abis.begin(), whole_abis.end(),
                                           [&](std::string_view start) { return rest.starts_with(start); });
  if (!since_version_3) {
    abi.stdlib = take(rest, stdlibs);
  }
  abi.build_abi = rest;
  const bool printable =
      rest.find_first_not_of("_abcdefghijklmnopqrstuvwxyz0123456789") == std::string_view::npos;
  if (abi.compiler.empty() || abi.build_abi.empty() || !printable) {
    return std::nullopt;
  }
  return abi;
}

std::optional<Pybind11Abi> find_pybind11_abi(const std::vector<std::filesystem::path>& files) {
  for (const std::filesystem::path& file : files) {
    if (auto abi = find_in(file)) {
      return abi;
    }
  }
  return std::nullopt;
}

} // namespace dcuop::probe
