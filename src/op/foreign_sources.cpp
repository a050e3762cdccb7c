#include "foreign_sources.hpp"

#include <algorithm>
#include <array>
#include <cctype>
#include <optional>
#include <string_view>

#include "dcuop/support/files.hpp"
#include "sources.hpp"

namespace dcuop::op {

namespace {

constexpr int deepest_directory = 6;
constexpr std::size_t most_files = 500;
constexpr std::size_t largest_file = std::size_t{4} << 20U;

// Where copies of sources, and those of others, lie.
constexpr auto passed_over =
    std::to_array<std::string_view>({"build", "dist", "third_party", "node_modules", "__pycache__"});

constexpr auto cuda_headers = std::to_array<std::string_view>({"ATen/cuda/",
                                                               "c10/cuda/",
                                                               "cooperative_groups",
                                                               "cub/",
                                                               "cublas",
                                                               "cuda.h",
                                                               "cuda_",
                                                               "cudaTypedefs",
                                                               "cudnn",
                                                               "cufft",
                                                               "curand",
                                                               "cusolver",
                                                               "cusparse",
                                                               "cute/",
                                                               "cutlass/",
                                                               "device_launch_parameters",
                                                               "mma.h",
                                                               "nccl.h",
                                                               "nvToolsExt",
                                                               "nvrtc",
                                                               "torch/csrc/cuda/"});

void collect(const fs::path& root, const fs::path& below, int depth, std::vector<std::string>& found) {
  for (const std::string& name : list_directory(root / below)) {
    const fs::path path = root / below / name;
    std::error_code error;
    if (name.starts_with('.') || fs::is_symlink(path, error) || found.size() >= most_files) {
      continue;
    }
    if (fs::is_directory(path, error)) {
      const bool is_passed_over =
          std::find(passed_over.begin(), passed_over.end(), name) != passed_over.end();
      if (depth < deepest_directory && !is_passed_over) {
        collect(root, below / name, depth + 1, found);
      }
    } else if (language_of(path) && fs::is_regular_file(path, error)) {
      found.push_back((below / name).generic_string());
    }
  }
}

bool is_word(char c) {
  return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_';
}

/// The first argument of `macro`( ... ) where it stands as a word; nullopt: it does not.
std::optional<std::string> argument_of(std::string_view text, std::string_view macro) {
  for (std::size_t at = text.find(macro); at != std::string_view::npos; at = text.find(macro, at + 1)) {
    std::size_t from = at + macro.size();
    if (at > 0 && is_word(text[at - 1])) {
      continue;
    }
    while (from < text.size() && std::isspace(static_cast<unsigned char>(text[from])) != 0) {
      ++from;
    }
    if (from == text.size() || text[from] != '(') {
      continue;
    }
    std::size_t end = from + 1;
    while (end < text.size() &&
           (is_word(text[end]) || std::isspace(static_cast<unsigned char>(text[end])) != 0)) {
      ++end;
    }
    std::string argument(text.substr(from + 1, end - from - 1));
    std::erase_if(argument, [](char c) { return !is_word(c); });
    return argument;
  }
  return std::nullopt;
}

std::vector<std::string> includes_of(std::string_view text) {
  std::vector<std::string> includes;
  for (std::size_t at = text.find("#include"); at != std::string_view::npos;
       at = text.find("#include", at + 1)) {
    const std::string_view line = text.substr(at, text.find('\n', at) - at);
    const std::size_t from = line.find_first_of("<\"");
    const std::size_t to = from == std::string_view::npos ? from : line.find_first_of(">\"", from + 1);
    if (to != std::string_view::npos) {
      includes.emplace_back(line.substr(from + 1, to - from - 1));
    }
  }
  return includes;
}

bool is_cuda_header(const std::string& include) {
  return std::any_of(cuda_headers.begin(), cuda_headers.end(),
                     [&](std::string_view start) { return include.starts_with(start); });
}

struct Sign {
  std::string_view macro;
  Kind kind;
  Abi abi;
};

// The first that is found in any source decides: a module that Python imports may register torch's ops as well.
constexpr auto kind_signs = std::to_array<Sign>({
    {"PYBIND11_MODULE", Kind::pybind_module, Abi::torch_python},
    {"NB_MODULE", Kind::pybind_module, Abi::torch_python},
    {"TORCH_LIBRARY", Kind::torch_library, Abi::torch},
    {"TORCH_LIBRARY_FRAGMENT", Kind::torch_library, Abi::torch},
    {"TORCH_LIBRARY_IMPL", Kind::torch_library, Abi::torch},
    {"STABLE_TORCH_LIBRARY", Kind::torch_library, Abi::torch},
});

} // namespace

std::vector<std::string> compilable_below(const fs::path& directory) {
  std::vector<std::string> found;
  collect(directory, {}, 0, found);
  std::sort(found.begin(), found.end());
  return found;
}

SourceSigns signs_in(const fs::path& directory, const std::vector<std::string>& sources) {
  SourceSigns signs;
  const Sign* best = nullptr;
  bool reads_torch = false;
  for (const std::string& source : sources) {
    const std::string text =
        without_comments(read_file_prefix(directory / source, largest_file).value_or(""));
    for (const Sign& sign : kind_signs) {
      const std::optional<std::string> argument = argument_of(text, sign.macro);
      if (argument && (best == nullptr || &sign < best)) {
        best = &sign;
        signs.evidence = std::string(sign.macro) + " in " + source;
        const bool is_macro = std::none_of(argument->begin(), argument->end(),
                                           [](unsigned char c) { return std::islower(c) != 0; });
        signs.module_name = sign.kind == Kind::pybind_module && !is_macro ? *argument : "";
      }
    }
    if (best == nullptr && text.find("PyInit_") != std::string::npos) {
      signs.evidence = "PyInit_ in " + source;
    }
    const std::vector<std::string> includes = includes_of(text);
    reads_torch |= std::any_of(includes.begin(), includes.end(), [](const std::string& include) {
      return include.starts_with("torch/") || include.starts_with("ATen/") || include.starts_with("c10/");
    });
    const auto cuda = std::find_if(includes.begin(), includes.end(), [&](const std::string& include) {
      return is_cuda_header(include) && !identity_of((directory / source).parent_path() / include);
    });
    if (cuda != includes.end()) {
      signs.cuda_includes.push_back(source + " (" + *cuda + ")");
    }
  }
  if (best != nullptr) {
    signs.kind = best->kind;
    signs.abi = best->abi;
  } else if (signs.evidence.empty()) {
    signs.kind = Kind::plain;
    signs.abi = reads_torch ? Abi::torch : Abi::none;
  }
  return signs;
}

std::string without_comments(const std::string& text) {
  std::string result;
  for (std::size_t at = 0; at < text.size();) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (rest.starts_with("//")) {
      at = std::min(text.find('\n', at), text.size());
    } else if (rest.starts_with("/*")) {
      const std::size_t end = text.find("*/", at + 2);
      at = end == std::string::npos ? text.size() : end + 2;
      result += ' ';
    } else if (rest.front() == '"') { // "//" in a string opens no comment
      std::size_t end = at + 1;
      while (end < text.size() && text[end] != '"' && text[end] != '\n') {
        end += text[end] == '\\' ? 2U : 1U;
      }
      end = std::min(end + 1, text.size());
      result.append(text, at, end - at);
      at = end;
    } else {
      result += text[at++];
    }
  }
  return result;
}

} // namespace dcuop::op
