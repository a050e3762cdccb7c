#include "dcuop/op/op.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "dcuop/support/text.hpp"

namespace dcuop::op {

namespace {

bool is_lower(char c) {
  return c >= 'a' && c <= 'z';
}
bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

// gfx936, gfx9-4-generic, sm_90. The digit keeps words such as "native" and "all" out: they say where a
// processor's name is to be taken from and name none.
bool is_processor(std::string_view text) {
  return !text.empty() && is_lower(text.front()) && (is_lower(text.back()) || is_digit(text.back())) &&
         std::any_of(text.begin(), text.end(), is_digit) && std::all_of(text.begin(), text.end(), [](char c) {
           return is_lower(c) || is_digit(c) || c == '-' || c == '_';
         });
}

} // namespace

bool Op::has_hip() const {
  return std::any_of(sources.begin(), sources.end(),
                     [](const Source& source) { return source.language == Language::hip; });
}

bool Op::has_cuda() const {
  return std::any_of(sources.begin(), sources.end(),
                     [](const Source& source) { return source.language == Language::cuda; });
}

bool Op::has_backend(Backend wanted) const {
  return std::find(backends.begin(), backends.end(), wanted) != backends.end();
}

// https://clang.llvm.org/docs/ClangOffloadBundler.html#target-id
bool is_target_id(const std::string& text) {
  constexpr std::array<std::string_view, 2> features = {"sramecc", "xnack"};
  const std::string processor = processor_of(text);
  if (!is_processor(processor)) {
    return false;
  }
  std::string_view rest = std::string_view(text).substr(processor.size());
  for (const std::string_view feature : features) {
    if (!rest.starts_with(':') || !rest.substr(1).starts_with(feature)) {
      continue;
    }
    rest.remove_prefix(1 + feature.size());
    if (!rest.starts_with('+') && !rest.starts_with('-')) {
      return false;
    }
    rest.remove_prefix(1);
  }
  return rest.empty();
}

// https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/#gpu-feature-list
bool is_cuda_arch(const std::string& text) {
  std::string_view rest = text;
  for (const std::string_view prefix : {"sm_", "compute_"}) {
    if (rest.starts_with(prefix)) {
      rest.remove_prefix(prefix.size());
      if (rest.ends_with('a') || rest.ends_with('f')) {
        rest.remove_suffix(1);
      }
      return (rest.size() == 2 || rest.size() == 3) && rest.front() != '0' &&
             std::all_of(rest.begin(), rest.end(), is_digit);
    }
  }
  return false;
}

std::string processor_of(const std::string& target_id) {
  return target_id.substr(0, target_id.find(':'));
}

bool Op::supports_any_arch() const {
  return std::find(archs.begin(), archs.end(), any_arch) != archs.end();
}

bool Op::supports(const std::string& target_id) const {
  return std::any_of(archs.begin(), archs.end(), [&](const std::string& known) {
    return known == any_arch || known == target_id || known == processor_of(target_id);
  });
}

std::string to_string(Kind kind) {
  switch (kind) {
  case Kind::pybind_module:
    return "pybind";
  case Kind::torch_library:
    return "torch-library";
  case Kind::plain:
    return "plain";
  case Kind::executable:
    return "executable";
  }
  return "unknown";
}

std::string to_string(Abi abi) {
  switch (abi) {
  case Abi::torch_python:
    return "torch-python";
  case Abi::torch:
    return "torch";
  case Abi::none:
    return "none";
  }
  return "unknown";
}

std::string to_string(Language language) {
  switch (language) {
  case Language::hip:
    return "hip";
  case Language::cuda:
    return "cuda";
  case Language::cxx:
    return "cxx";
  case Language::c:
    return "c";
  }
  return "unknown";
}

std::string to_string(HostCompiler compiler) {
  switch (compiler) {
  case HostCompiler::system:
    return "system";
  case HostCompiler::toolchain:
    return "toolchain";
  }
  return "unknown";
}

std::string to_string(Backend backend) {
  switch (backend) {
  case Backend::hip:
    return "hip";
  case Backend::host:
    return "host";
  case Backend::cuda:
    return "cuda";
  }
  return "unknown";
}

const std::vector<Backend>& all_backends() {
  static const std::vector<Backend> all = {Backend::hip, Backend::host, Backend::cuda};
  return all;
}

std::optional<Backend> backend_named(std::string_view name) {
  for (const Backend backend : all_backends()) {
    if (to_string(backend) == name) {
      return backend;
    }
  }
  return std::nullopt;
}

} // namespace dcuop::op
