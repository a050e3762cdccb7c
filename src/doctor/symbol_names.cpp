#include "symbol_names.hpp"

#include <algorithm>
#include <array>
#include <cctype>

namespace dcuop::doctor {
namespace {

bool is_digit(char character) {
  return character >= '0' && character <= '9';
}
bool is_upper(char character) {
  return character >= 'A' && character <= 'Z';
}

template <std::size_t count>
bool starts_with_any(std::string_view text, const std::array<std::string_view, count>& prefixes) {
  return std::any_of(prefixes.begin(), prefixes.end(),
                     [text](std::string_view prefix) { return text.starts_with(prefix); });
}

constexpr std::array<std::string_view, 20> cuda_stems = {
    "libcudart",   "libcuda",      "libcublas", "libcudnn",      "libcufft",   "libcurand",  "libcusparse",
    "libcusolver", "libnvrtc",     "libnvJit",  "libnvToolsExt", "libcupti",   "libnccl",    "libtorch_cuda",
    "libc10_cuda", "libcudadevrt", "libcufile", "libnvidia",     "libnvshmem", "libcutensor"};
constexpr std::array<std::string_view, 6> torch_stems = {"libtorch",  "libc10",         "libshm",
                                                         "libcaffe2", "libaoti_custom", "libATen"};
constexpr std::array<std::string_view, 8> rocm_stems = {
    "libroc", "libhip", "libMIOpen", "librccl", "libhsa-", "libamd_comgr", "libamd_smi", "libmigraphx"};

struct PrefixOfLibrary {
  std::string_view prefix, library;
};
// Longest first where one begins another: hipblaslt before hipblas. All of them before the plain "hip".
constexpr std::array known_prefixes = {
    PrefixOfLibrary{"hipblasLt", "libhipblaslt"},
    PrefixOfLibrary{"hipblas", "libhipblas"},
    PrefixOfLibrary{"hipfft", "libhipfft"},
    PrefixOfLibrary{"hiprand", "libhiprand"},
    PrefixOfLibrary{"hipsparse", "libhipsparse"},
    PrefixOfLibrary{"hipsolver", "libhipsolver"},
    PrefixOfLibrary{"hiprtc", "libhiprtc"},
    PrefixOfLibrary{"rocblas_", "librocblas"},
    PrefixOfLibrary{"rocfft_", "librocfft"},
    PrefixOfLibrary{"rocrand_", "librocrand"},
    PrefixOfLibrary{"rocsparse_", "librocsparse"},
    PrefixOfLibrary{"rocsolver_", "librocsolver"},
    PrefixOfLibrary{"roctx", "libroctx64"},
    PrefixOfLibrary{"miopen", "libMIOpen"},
    PrefixOfLibrary{"rsmi_", "librocm_smi64"},
    PrefixOfLibrary{"amdsmi_", "libamd_smi"},
    PrefixOfLibrary{"amd_comgr_", "libamd_comgr"},
    PrefixOfLibrary{"hsa_", "libhsa-runtime64"},
    PrefixOfLibrary{"nccl", "librccl"},
    PrefixOfLibrary{"omp_", "libgomp"},
    PrefixOfLibrary{"GOMP_", "libgomp"},
    PrefixOfLibrary{"__kmpc_", "libomp"},
    PrefixOfLibrary{"cblas_", "libopenblas"},
    PrefixOfLibrary{"pthread_", "libpthread"},
    PrefixOfLibrary{"MPI_", "libmpi"},
};

/// A walk over a mangled name as far as its qualified name goes.
class QualifiedName {
 public:
  explicit QualifiedName(std::string_view mangled) : text_(mangled) {
    if (!text_.starts_with("_Z")) {
      return;
    }
    at_ = 2;
    skip_special();
    nested_ = take('N');
    while (nested_ && at_ < text_.size() &&
           std::string_view("rVKRO").find(text_[at_]) != std::string_view::npos) {
      ++at_;
    }
    while (component()) {
    }
    end_ = at_;
    if (nested_ && take('E')) {
      end_ = at_;
    }
  }

  [[nodiscard]] bool mangled() const { return at_ != 0; }
  [[nodiscard]] bool nested() const { return nested_; }
  [[nodiscard]] std::string_view first() const { return first_; }
  [[nodiscard]] std::string_view second() const { return second_; }
  [[nodiscard]] std::string_view prefix() const { return text_.substr(0, end_); }

 private:
  bool take(char wanted) {
    const bool there = at_ < text_.size() && text_[at_] == wanted;
    at_ += there ? 1 : 0;
    return there;
  }

  /// Virtual tables, type information, guards and thunks: the name that they are for follows.
  void skip_special() {
    const auto two = text_.substr(at_, 2);
    constexpr std::array<std::string_view, 6> plain = {"TV", "TT", "TI", "TS", "GV", "GR"};
    if (std::find(plain.begin(), plain.end(), two) != plain.end()) {
      at_ += 2;
    } else if (two == "Th" || two == "Tv") {
      at_ += 2;
      for (int offsets = two == "Th" ? 1 : 2; offsets > 0; --offsets) {
        const auto end = text_.find('_', at_);
        at_ = end == std::string_view::npos ? text_.size() : end + 1;
      }
    }
  }

  bool component() {
    if (at_ >= text_.size() || (!nested_ && !second_.empty()) ||
        (!nested_ && !first_.empty() && first_ != "std")) {
      return false;
    }
    if (is_digit(text_[at_])) {
      return source_name();
    }
    const auto two = text_.substr(at_, 2);
    if (two == "St" || two == "Ss" || two == "Sa" || two == "So" || two == "Si" || two == "Sb") {
      at_ += 2;
      remember("std");
      return true;
    }
    const bool constructor = two.size() == 2 && (two[0] == 'C' || two[0] == 'D') && is_digit(two[1]);
    const bool operation = two.size() == 2 && std::islower(static_cast<unsigned char>(two[0])) != 0 &&
                           std::isalpha(static_cast<unsigned char>(two[1])) != 0 && two != "cv" && nested_;
    if (constructor || operation) {
      at_ += 2;
      return true;
    }
    return false;
  }

  bool source_name() {
    std::size_t length = 0;
    auto end = at_;
    while (end < text_.size() && is_digit(text_[end]) && length < text_.size()) {
      length = length * 10 + static_cast<std::size_t>(text_[end++] - '0');
    }
    if (length == 0 || length > text_.size() - end) {
      return false;
    }
    remember(text_.substr(end, length));
    at_ = end + length;
    return true;
  }

  void remember(std::string_view component) {
    if (first_.empty()) {
      first_ = component;
    } else if (second_.empty()) {
      second_ = component;
    }
  }

  std::string_view text_, first_, second_;
  std::size_t at_ = 0, end_ = 0;
  bool nested_ = false;
};

SymbolFamily family_of_namespace(const QualifiedName& name) {
  constexpr std::array<std::string_view, 5> torch = {"c10", "at", "torch", "caffe2", "c10d"};
  constexpr std::array<std::string_view, 3> runtime = {"std", "__cxxabiv1", "__gnu_cxx"};
  if (std::find(torch.begin(), torch.end(), name.first()) != torch.end()) {
    return name.second() == "cuda" ? SymbolFamily::torch_cuda : SymbolFamily::torch;
  }
  if (std::find(runtime.begin(), runtime.end(), name.first()) != runtime.end()) {
    return SymbolFamily::cxx_runtime;
  }
  return name.first().starts_with("THP") ? SymbolFamily::torch : SymbolFamily::own;
}

void replace_all(std::string& text, std::string_view from, std::string_view to) {
  for (auto at = text.find(from); at != std::string::npos; at = text.find(from, at + to.size())) {
    text.replace(at, from.size(), to);
  }
}

constexpr std::string_view new_string =
    "std::__cxx11::basic_string<char, std::char_traits<char>, std::allocator<char> >";

} // namespace

std::string_view library_stem(std::string_view soname) {
  return soname.substr(0, soname.find(".so"));
}

LibraryFamily library_family(std::string_view soname) {
  const auto stem = library_stem(soname);
  if (starts_with_any(stem, cuda_stems)) {
    return LibraryFamily::cuda;
  }
  if (starts_with_any(stem, torch_stems)) {
    return LibraryFamily::torch;
  }
  if (stem == "libamdhip64" || stem == "libgalaxyhip") {
    return LibraryFamily::hip_runtime;
  }
  if (starts_with_any(stem, rocm_stems)) {
    return LibraryFamily::rocm;
  }
  return stem.starts_with("libpython") ? LibraryFamily::python : LibraryFamily::other;
}

std::string_view library_of_prefix(std::string_view name) {
  const auto known =
      std::find_if(known_prefixes.begin(), known_prefixes.end(),
                   [name](const PrefixOfLibrary& entry) { return name.starts_with(entry.prefix); });
  return known == known_prefixes.end() ? std::string_view{} : known->library;
}

SymbolFamily symbol_family(std::string_view name) {
  if (const QualifiedName qualified(name); qualified.mangled()) {
    return family_of_namespace(qualified);
  }
  constexpr std::array<std::string_view, 2> rdc = {"__hip_fatbin", "__hip_gpubin_handle"};
  constexpr std::array<std::string_view, 2> python = {"Py", "_Py"};
  constexpr std::array<std::string_view, 3> torch = {"THP", "_THP", "THC"};
  constexpr std::array<std::string_view, 2> hip = {"hip", "__hip"};
  constexpr std::array<std::string_view, 6> cuda = {"__cuda", "cublas", "cudnn", "curand", "nvrtc", "nvtx"};
  constexpr std::array<std::string_view, 3> runtime = {"__cxa_", "__gxx_", "_Unwind_"};
  if (starts_with_any(name, rdc)) {
    return SymbolFamily::rdc;
  }
  if (!library_of_prefix(name).empty()) {
    return SymbolFamily::library;
  }
  const auto capital_after = [name](std::string_view prefix) {
    return name.starts_with(prefix) && name.size() > prefix.size() && is_upper(name[prefix.size()]);
  };
  if (capital_after("hip") || name.starts_with(hip[1])) {
    return SymbolFamily::hip;
  }
  if (starts_with_any(name, cuda) || capital_after("cu") || capital_after("cuda") || capital_after("nvml")) {
    return SymbolFamily::cuda;
  }
  if (name.starts_with("_Py") ||
      (name.starts_with(python[0]) && name.size() > 2 && (is_upper(name[2]) || name[2] == '_'))) {
    return SymbolFamily::python;
  }
  if (starts_with_any(name, torch)) {
    return SymbolFamily::torch;
  }
  return starts_with_any(name, runtime) ? SymbolFamily::cxx_runtime : SymbolFamily::own;
}

std::string_view qualified_prefix(std::string_view mangled) {
  const QualifiedName name(mangled);
  return name.mangled() ? name.prefix() : mangled;
}

std::string_view plain_identifier(std::string_view mangled) {
  const QualifiedName name(mangled);
  return name.mangled() && !name.nested() ? name.first() : std::string_view{};
}

bool uses_new_strings(std::string_view demangled) {
  return demangled.find("std::__cxx11::") != std::string_view::npos ||
         demangled.find("[abi:cxx11]") != std::string_view::npos;
}

bool uses_old_strings(std::string_view demangled) {
  return demangled.find("std::string") != std::string_view::npos;
}

std::string with_one_string(std::string demangled) {
  replace_all(demangled, new_string, "std::string");
  replace_all(demangled, "std::basic_string<char, std::char_traits<char>, std::allocator<char> >",
              "std::string");
  replace_all(demangled, "[abi:cxx11]", "");
  // After the parameter was a template's last, "> >" and ">>" remain of the two spellings.
  replace_all(demangled, " >", ">");
  return demangled;
}

std::string with_one_optional(std::string demangled) {
  replace_all(demangled, "std::optional<", "c10::optional<");
  return demangled;
}

} // namespace dcuop::doctor
