#pragma once
// The name under which pybind11 modules share their type registry. Private to the probe layer.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

namespace dcuop::probe {

/// The three macros PYBIND11_COMPILER_TYPE, PYBIND11_STDLIB and PYBIND11_BUILD_ABI, whose values, one behind
/// the other, end that name. Modules share types only when all three are equal.
struct Pybind11Abi {
  std::string compiler;  ///< "_gcc", "_system"
  std::string stdlib;    ///< "_libstdcpp", "" since pybind11 3
  std::string build_abi; ///< "_cxxabi1017", "_libstdcpp_gxx_abi_1xxx_use_cxx11_abi_1"
};

/// From the whole name, "__pybind11_internals_v4_gcc_libstdcpp_cxxabi1017__"; nullopt for another shape.
[[nodiscard]] std::optional<Pybind11Abi> parse_pybind11_name(std::string_view name);

/// The first such name in the content of `files`, read in blocks in the given order.
[[nodiscard]] std::optional<Pybind11Abi> find_pybind11_abi(const std::vector<std::filesystem::path>& files);

} // namespace dcuop::probe
