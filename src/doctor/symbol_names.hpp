#pragma once
// What the names of libraries and symbols tell (Itanium C++ ABI, 5.1 "External names").

#include <string>
#include <string_view>

namespace dcuop::doctor {

enum class LibraryFamily { torch, cuda, hip_runtime, rocm, python, other };
/// "libc10_hip.so" -> torch, "libcudart.so.12" and "libtorch_cuda.so" -> cuda.
[[nodiscard]] LibraryFamily library_family(std::string_view soname);
/// "libfoo.so.1.2" -> "libfoo".
[[nodiscard]] std::string_view library_stem(std::string_view soname);

enum class SymbolFamily {
  torch,       ///< c10::, at::, torch::, caffe2::, THP*
  torch_cuda,  ///< c10::cuda::, at::cuda::, torch::cuda::
  hip,         ///< hip*, __hip*
  rdc,         ///< __hip_fatbin*, __hip_gpubin_handle*
  cuda,        ///< cu*, cuda*, nv*
  python,      ///< Py*, _Py*
  cxx_runtime, ///< std::, __cxxabiv1::, __cxa_*
  library,     ///< of a library whose prefix is known: rocblas_*, rsmi_*, ...
  own,         ///< anything else: the operator's
};
[[nodiscard]] SymbolFamily symbol_family(std::string_view name);
/// "rocblas_sgemm" -> "librocblas"; "" when the prefix is not known.
[[nodiscard]] std::string_view library_of_prefix(std::string_view name);

/// The part of a mangled name that encodes its qualified name, without the parameters: names that begin with
/// it are the same function with other parameters. The name itself when it is not a mangled one.
[[nodiscard]] std::string_view qualified_prefix(std::string_view mangled);
/// "_Z3fooi" -> "foo"; "" for nested and unmangled names.
[[nodiscard]] std::string_view plain_identifier(std::string_view mangled);

/// Whether a demangled name uses std::string (old ABI), std::__cxx11 (new ABI).
[[nodiscard]] bool uses_old_strings(std::string_view demangled);
[[nodiscard]] bool uses_new_strings(std::string_view demangled);
/// The demangled name with both string ABIs spelled alike.
[[nodiscard]] std::string with_one_string(std::string demangled);
/// The demangled name with c10::optional and std::optional spelled alike.
[[nodiscard]] std::string with_one_optional(std::string demangled);

} // namespace dcuop::doctor
