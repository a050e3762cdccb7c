// Flags of nvcc. It takes few of its host compiler's directly: these stand behind -Xcompiler, comma separated.

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>

#include "dcuop/key/flags.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::key {

namespace {

enum class Meaning {
  plain,        ///< part of the key by its text
  host,         ///< its value is for the host compiler
  forward,      ///< what nvcc does not know is for the host compiler
  other_output, ///< writes files besides the result
};

struct FlagKind {
  std::string_view name; ///< without dashes: nvcc takes one or two
  Meaning meaning;
  bool has_value; ///< behind "=", or the next word
};

/// https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/#nvcc-command-options, of 13.0. What is missing here and not
/// the host compiler's either makes a result uncacheable.
constexpr auto nvcc_flags = std::to_array<FlagKind>({
    {"G", Meaning::plain, false},
    {"Ofast-compile", Meaning::plain, true},
    {"Werror", Meaning::plain, true},
    {"Xcompiler", Meaning::host, true},
    {"Xcudafe", Meaning::plain, true},
    {"Xptxas", Meaning::plain, true},
    {"allow-unsupported-compiler", Meaning::plain, false},
    {"compiler-options", Meaning::host, true},
    {"cudafe-options", Meaning::plain, true},
    {"default-stream", Meaning::plain, true},
    {"device-debug", Meaning::plain, false},
    {"device-entity-has-hidden-visibility", Meaning::plain, true},
    {"diag-error", Meaning::plain, true},
    {"diag-suppress", Meaning::plain, true},
    {"diag-warn", Meaning::plain, true},
    {"display-error-number", Meaning::plain, false},
    {"disable-warnings", Meaning::plain, false},
    {"dopt", Meaning::plain, true},
    {"err-no", Meaning::plain, false},
    {"expt-extended-lambda", Meaning::plain, false},
    {"expt-relaxed-constexpr", Meaning::plain, false},
    {"extended-lambda", Meaning::plain, false},
    {"extra-device-vectorization", Meaning::plain, false},
    {"fdevice-syntax-only", Meaning::plain, false},
    {"fdevice-time-trace", Meaning::other_output, true},
    {"fmad", Meaning::plain, true},
    {"forward-unknown-opts", Meaning::forward, false},
    {"forward-unknown-to-host-compiler", Meaning::forward, false},
    {"ftz", Meaning::plain, true},
    {"generate-line-info", Meaning::plain, false},
    {"gen-opt-lto", Meaning::plain, false},
    {"keep", Meaning::other_output, false},
    {"keep-dir", Meaning::other_output, true},
    {"lineinfo", Meaning::plain, false},
    {"m64", Meaning::plain, false},
    {"maxrregcount", Meaning::plain, true},
    {"no-compress", Meaning::plain, false},
    {"no-device-link", Meaning::plain, false},
    {"no-display-error-number", Meaning::plain, false},
    {"no-host-device-initializer-list", Meaning::plain, false},
    {"no-host-device-move-forward", Meaning::plain, false},
    {"prec-div", Meaning::plain, true},
    {"prec-sqrt", Meaning::plain, true},
    {"ptxas-options", Meaning::plain, true},
    {"res-usage", Meaning::plain, false},
    {"resource-usage", Meaning::plain, false},
    {"restrict", Meaning::plain, false},
    {"save-temps", Meaning::other_output, false},
    {"source-in-ptx", Meaning::plain, false},
    {"split-compile", Meaning::plain, true},
    {"split-compile-extended", Meaning::plain, true},
    {"static-global-template-stub", Meaning::plain, true},
    {"t", Meaning::plain, true},
    {"threads", Meaning::plain, true},
    {"time", Meaning::other_output, true},
    {"use_fast_math", Meaning::plain, false},
});

/// What nvcc hands to the host compiler as it stands, by the host's own names.
constexpr auto shared_flags = std::to_array<std::string_view>(
    {"-D", "-I", "-L", "-O", "-U", "-Wdefault-stream-launch", "-Wext-lambda-captures-this",
     "-Wmissing-launch-bounds", "-Wno-deprecated-gpu-targets", "-Wreorder", "-g", "-include", "-isystem",
     "-l", "-std=", "-w"});

const FlagKind* kind_of(std::string_view flag) {
  if (!flag.starts_with('-')) {
    return nullptr;
  }
  flag.remove_prefix(flag.starts_with("--") ? 2 : 1);
  const std::string_view name = flag.substr(0, flag.find('='));
  const auto* const found = std::find_if(nvcc_flags.begin(), nvcc_flags.end(),
                                         [&](const FlagKind& kind) { return kind.name == name; });
  return found == nvcc_flags.end() ? nullptr : found;
}

bool is_shared(std::string_view flag) {
  return std::any_of(shared_flags.begin(), shared_flags.end(),
                     [&](std::string_view prefix) { return flag.starts_with(prefix); });
}

class Examiner {
 public:
  Examiner(const std::vector<std::string>& flags, const PathBase& base) : flags_(flags), base_(base) {
    forwards_ = std::any_of(flags.begin(), flags.end(), [](const std::string& flag) {
      const FlagKind* kind = kind_of(flag);
      return kind != nullptr && kind->meaning == Meaning::forward;
    });
  }

  FlagReport run() {
    for (position_ = 0; position_ < flags_.size(); ++position_) {
      examine(flags_[position_]);
    }
    // Their text is in the key as it stands; what they name is looked at.
    const FlagReport host = examine_flags(report_.host_flags, base_);
    take(host);
    return std::move(report_);
  }

 private:
  void examine(const std::string& flag) {
    if (const FlagKind* kind = kind_of(flag)) {
      examine_own(*kind, flag);
    } else if (is_shared(flag)) {
      examine_shared(flag);
    } else if (forwards_ && flag.starts_with('-')) {
      report_.flags.push_back(flag);
      report_.host_flags.push_back(flag);
    } else {
      report_.flags.push_back(flag);
      report_.uncacheable.push_back(flag.starts_with('-') ? "unknown flag " + flag
                                                          : "argument " + flag + " is no flag");
    }
  }

  void examine_own(const FlagKind& kind, const std::string& flag) {
    report_.flags.push_back(flag);
    std::string value;
    if (const std::size_t equals = flag.find('='); equals != std::string::npos) {
      value = flag.substr(equals + 1);
    } else if (kind.has_value && position_ + 1 < flags_.size()) {
      value = flags_[++position_];
      report_.flags.push_back(value);
    }
    if (kind.meaning == Meaning::host) {
      const std::vector<std::string> words = split(value, ',');
      report_.host_flags.insert(report_.host_flags.end(), words.begin(), words.end());
    } else if (kind.meaning == Meaning::other_output) {
      report_.uncacheable.push_back(flag + " writes files that dcuop does not follow");
    }
  }

  /// One flag, with the next word where that is its value.
  void examine_shared(const std::string& flag) {
    std::vector<std::string> words = {flag};
    const bool is_bare = flag == "-D" || flag == "-I" || flag == "-L" || flag == "-U" || flag == "-l" ||
                         flag == "-include" || flag == "-isystem";
    if (is_bare && position_ + 1 < flags_.size()) {
      words.push_back(flags_[++position_]);
    }
    FlagReport report = examine_flags(words, base_);
    report_.flags.insert(report_.flags.end(), report.flags.begin(), report.flags.end());
    take(report);
  }

  void take(const FlagReport& report) {
    report_.files.insert(report_.files.end(), report.files.begin(), report.files.end());
    report_.uncacheable.insert(report_.uncacheable.end(), report.uncacheable.begin(),
                               report.uncacheable.end());
    report_.silent |= report.silent;
  }

  const std::vector<std::string>& flags_;
  const PathBase& base_;
  bool forwards_ = false;
  std::size_t position_ = 0;
  FlagReport report_;
};

} // namespace

FlagReport examine_cuda_flags(const std::vector<std::string>& flags, const PathBase& base) {
  return Examiner(flags, base).run();
}

} // namespace dcuop::key
