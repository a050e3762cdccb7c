#include "foreign_flags.hpp"

#include <algorithm>
#include <array>
#include <string_view>

#include "dcuop/support/text.hpp"
#include "flags.hpp"

namespace dcuop::op {

namespace {

enum class Value {
  none,     ///< the flag alone, or with "=value" in it
  separate, ///< the next word is its value, unless there is "=value"

};

struct NvccFlag {
  std::string_view name; ///< without dashes: nvcc takes most of them with one and with two
  Value value;
  std::string_view why;
};

constexpr std::string_view own = "is nvcc's own";
constexpr std::string_view not_needed = "is nvcc's; hipcc allows it always";
constexpr std::string_view archs = "chooses CUDA's archs; archs says which are built";
constexpr std::string_view for_host =
    "hands flags to the host compiler; hipcc takes those of clang as they are";

// https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/#command-option-description
constexpr auto nvcc_flags = std::to_array<NvccFlag>({
    {"gencode", Value::separate, archs},
    {"generate-code", Value::separate, archs},
    {"arch", Value::separate, archs},
    {"gpu-architecture", Value::separate, archs},
    {"code", Value::separate, archs},
    {"gpu-code", Value::separate, archs},
    {"use_fast_math", Value::none, "is nvcc's; hipcc has -ffast-math, which also touches NaN and infinities"},
    {"expt-relaxed-constexpr", Value::none, not_needed},
    {"expt-extended-lambda", Value::none, not_needed},
    {"extended-lambda", Value::none, not_needed},
    {"lineinfo", Value::none, "is nvcc's; hipcc has -gline-tables-only"},
    {"generate-line-info", Value::none, "is nvcc's; hipcc has -gline-tables-only"},
    {"G", Value::none, "is nvcc's; hipcc has -g -O0"},
    {"device-debug", Value::none, "is nvcc's; hipcc has -g -O0"},
    {"Xptxas", Value::separate, own},
    {"ptxas-options", Value::separate, own},
    {"Xcudafe", Value::separate, own},
    {"Xnvlink", Value::separate, own},
    {"nvlink-options", Value::separate, own},
    {"Xfatbin", Value::separate, own},
    {"Xcompiler", Value::separate, for_host},
    {"compiler-options", Value::separate, for_host},
    {"maxrregcount", Value::separate, "is nvcc's; in HIP __launch_bounds__ bounds the registers"},
    {"rdc", Value::separate, "is nvcc's; hipcc has -fgpu-rdc"},
    {"relocatable-device-code", Value::separate, "is nvcc's; hipcc has -fgpu-rdc"},
    {"dc", Value::none, "is nvcc's; hipcc has -fgpu-rdc"},
    {"ftz", Value::separate, "is nvcc's; hipcc has -fgpu-flush-denormals-to-zero"},
    {"prec-div", Value::separate, own},
    {"prec-sqrt", Value::separate, own},
    {"fmad", Value::separate, "is nvcc's; hipcc has -ffp-contract="},
    {"extra-device-vectorization", Value::none, own},
    {"threads", Value::separate, "is nvcc's; dcuop compiles in parallel by itself"},
    {"t", Value::separate, "is nvcc's; dcuop compiles in parallel by itself"},
    {"split-compile", Value::separate, own},
    {"default-stream", Value::separate, "is nvcc's; hipcc has -fgpu-default-stream="},
    {"cudart", Value::separate, own},
    {"keep", Value::none, own},
    {"keep-dir", Value::separate, own},
    {"res-usage", Value::none, "is nvcc's; dcuop inspect shows registers and LDS"},
    {"resource-usage", Value::none, "is nvcc's; dcuop inspect shows registers and LDS"},
    {"source-in-ptx", Value::none, own},
    {"diag-suppress", Value::separate, own},
    {"diag-error", Value::separate, own},
    {"diag-warn", Value::separate, own},
    {"display-error-number", Value::none, own},
    {"no-display-error-number", Value::none, own},
    {"Wno-deprecated-gpu-targets", Value::none, own},
    {"allow-unsupported-compiler", Value::none, own},
    {"forward-unknown-to-host-compiler", Value::none, own},
    {"forward-unknown-opts", Value::none, own},
    {"Werror=cross-execution-space-call", Value::none, own},
    {"Werror=all-warnings", Value::none, own},
    {"ptx", Value::none, own},
    {"cubin", Value::none, own},
    {"fatbin", Value::none, own},
    {"dlto", Value::none, own},
    {"dlink-time-opt", Value::none, own},
});

// What a word without a dash is the value of.
constexpr auto take_a_word = std::to_array<std::string_view>(
    {"-D", "-I", "-L", "-T", "-U", "-Xassembler", "-Xclang", "-Xlinker", "-idirafter", "-imacros", "-include",
     "-iquote", "-isystem", "-l", "-mllvm", "-u"});

struct Library {
  std::string_view cuda;
  std::string_view hip; ///< empty: there is none, or it is linked anyway
};

// https://rocm.docs.amd.com/projects/HIPIFY/en/latest/reference/supported_apis.html
constexpr auto libraries = std::to_array<Library>({
    {"cublas", "hipblas"},
    {"cublasLt", "hipblaslt"},
    {"cuda", ""},
    {"cudart", ""},
    {"cudart_static", ""},
    {"cudnn", "MIOpen"},
    {"cufft", "hipfft"},
    {"curand", "hiprand"},
    {"cusolver", "hipsolver"},
    {"cusparse", "hipsparse"},
    {"nccl", "rccl"},
    {"nvToolsExt", "roctx64"},
    {"nvrtc", "hiprtc"},
    {"torch_cuda", "torch_hip"},
    {"c10_cuda", "c10_hip"},
});

const NvccFlag* nvcc_flag(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  const auto matches = [&](const NvccFlag& flag) {
    return word == flag.name ||
           (word.starts_with(flag.name) && word.size() > flag.name.size() && word[flag.name.size()] == '=');
  };
  const auto* const found = std::find_if(nvcc_flags.begin(), nvcc_flags.end(), matches);
  return found == nvcc_flags.end() ? nullptr : found;
}

/// -std=c++17, gnu++17: what cxx_standard says.
std::optional<int> standard_of(std::string_view word) {
  word.remove_prefix(std::min(word.find_first_not_of('-'), word.size()));
  for (const auto& [text, standard] : {std::pair{"14", 14}, {"17", 17}, {"20", 20}, {"23", 23}, {"26", 26}}) {
    if (word == std::string("std=c++") + text || word == std::string("std=gnu++") + text) {
      return standard;
    }
  }
  return std::nullopt;
}

class Sorter {
 public:
  Sorter(const std::vector<std::string>& flags, ForeignCompiler compiler)
      : flags_(flags), compiler_(compiler) {}

  CarriedFlags run() {
    for (at_ = 0; at_ < flags_.size(); ++at_) {
      sort(flags_[at_]);
    }
    return std::move(result_);
  }

 private:
  void sort(const std::string& word) {
    const bool is_value =
        at_ > 0 && std::find(take_a_word.begin(), take_a_word.end(), flags_[at_ - 1]) != take_a_word.end();
    if (is_value) {
      result_.kept.push_back(word);
    } else if (const std::optional<int> standard = standard_of(word)) {
      result_.cxx_standard = standard;
    } else if (const NvccFlag* flag = compiler_ == ForeignCompiler::nvcc ? nvcc_flag(word) : nullptr) {
      leave_out(word, *flag);
    } else if (word.starts_with('@')) {
      result_.left_out.push_back(word + ": is a response file");
    } else if (!word.starts_with('-')) {
      result_.left_out.push_back(word + ": is no flag");
    } else if (const std::optional<std::string> why = why_refused(word)) {
      result_.left_out.push_back(word + ": " + *why);
    } else {
      result_.kept.push_back(word);
    }
  }

  void leave_out(const std::string& word, const NvccFlag& flag) {
    std::string words = word;
    if (flag.value == Value::separate && word.find('=') == std::string::npos && at_ + 1 < flags_.size()) {
      words += " " + flags_[++at_];
    }
    result_.left_out.push_back(words + ": " + std::string(flag.why));
  }

  const std::vector<std::string>& flags_;
  ForeignCompiler compiler_;
  std::size_t at_ = 0;
  CarriedFlags result_;
};

} // namespace

CarriedFlags carried_flags(const std::vector<std::string>& flags, ForeignCompiler compiler) {
  return Sorter(flags, compiler).run();
}

std::optional<std::string> why_not_linked(const std::string& library) {
  const auto* const found = std::find_if(libraries.begin(), libraries.end(),
                                         [&](const Library& candidate) { return candidate.cuda == library; });
  if (found == libraries.end()) {
    return std::nullopt;
  }
  return found->hip.empty() ? "is CUDA's; the HIP runtime takes its place"
                            : "is CUDA's; HIP has " + std::string(found->hip);
}

} // namespace dcuop::op
