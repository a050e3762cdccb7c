#pragma once
// The sources of an extension that was written for CUDA: which there are, and what they say of it.

#include <filesystem>
#include <string>
#include <vector>

#include "dcuop/op/op.hpp"

namespace dcuop::op {

/// Compilable files below `directory`, relative, sorted; for an extension that says nowhere which are its sources.
[[nodiscard]] std::vector<std::string> compilable_below(const std::filesystem::path& directory);

/// What the texts of sources tell.
struct SourceSigns {
  Kind kind = Kind::pybind_module;
  Abi abi = Abi::torch_python;
  std::string evidence; ///< "PYBIND11_MODULE in csrc/bind.cpp"; empty: nothing says the kind
  std::string
      module_name; ///< PYBIND11_MODULE(name, ...), unless the name is a macro such as TORCH_EXTENSION_NAME
  std::vector<std::string> cuda_includes; ///< "csrc/a.cu (cuda_runtime.h)": headers that no HIP toolchain has
};

/// `sources`: relative to `directory`, no patterns.
[[nodiscard]] SourceSigns signs_in(const std::filesystem::path& directory,
                                   const std::vector<std::string>& sources);

/// C++ without what is in comments.
[[nodiscard]] std::string without_comments(const std::string& text);

} // namespace dcuop::op
