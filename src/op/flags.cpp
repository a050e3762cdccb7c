#include "flags.hpp"

#include <algorithm>
#include <cctype>
#include <iterator>
#include <optional>
#include <string_view>
#include <system_error>
#include <utility>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::op {

namespace {

constexpr int deepest_response_file = 8;

enum class Why {
  loads_code,
  chooses_parts,
  sets_arch,
  sets_output,
  sets_action,
  sets_dependencies,
  needs_device_link,
};

enum class Match {
  prefix, ///< the name and whatever follows it: -Bdir, -MMD
  value,  ///< the name alone (its value is the next flag) or with "=value"
  exact,
};

struct Rule {
  std::string_view name; ///< without dashes
  Match match;
  bool short_form;    ///< one dash only; else one or two, as gcc, clang and nvcc take most of theirs
  bool for_tools_too; ///< also where a flag is for the linker or the assembler (-Wl, -Xlinker, -Wa)
  Why why;
};

// Names from the manuals of gcc 12 (https://gcc.gnu.org/onlinedocs/gcc-12.2.0/gcc/Option-Summary.html), clang
// (https://clang.llvm.org/docs/ClangCommandLineReference.html), ld, lld, and of nvcc for HIP on NVIDIA.
constexpr Rule rules[] = {
    {"fplugin", Match::prefix, false, true, Why::loads_code},
    {"fpass-plugin", Match::prefix, false, true, Why::loads_code},
    {"plugin", Match::value, false, true, Why::loads_code},
    {"error-handling-script", Match::value, false, true, Why::loads_code},
    {"load", Match::value, false, true, Why::loads_code},
    {"load-pass-plugin", Match::value, false, true, Why::loads_code},
    {"iplugindir", Match::value, false, true, Why::loads_code},
    {"B", Match::prefix, true, false, Why::chooses_parts},
    {"prefix", Match::value, false, false, Why::chooses_parts},
    {"specs", Match::value, false, false, Why::chooses_parts},
    {"ld-path", Match::value, false, false, Why::chooses_parts},
    {"wrapper", Match::value, false, false, Why::chooses_parts},
    {"config", Match::value, false, false, Why::chooses_parts},
    {"config-system-dir", Match::value, false, false, Why::chooses_parts},
    {"config-user-dir", Match::value, false, false, Why::chooses_parts},
    {"gcc-toolchain", Match::value, false, false, Why::chooses_parts},
    {"gcc-install-dir", Match::value, false, false, Why::chooses_parts},
    {"ccc-install-dir", Match::value, false, false, Why::chooses_parts},
    {"ccc-gcc-name", Match::value, false, false, Why::chooses_parts},
    {"resource-dir", Match::value, false, false, Why::chooses_parts},
    {"ccbin", Match::value, false, false, Why::chooses_parts},
    {"compiler-bindir", Match::value, false, false, Why::chooses_parts},
    {"optf", Match::value, false, false, Why::chooses_parts},
    {"options-file", Match::value, false, false, Why::chooses_parts},
    {"offload-arch", Match::value, false, false, Why::sets_arch},
    {"no-offload-arch", Match::value, false, false, Why::sets_arch},
    {"cuda-gpu-arch", Match::value, false, false, Why::sets_arch},
    {"no-cuda-gpu-arch", Match::value, false, false, Why::sets_arch},
    {"amdgpu-target", Match::value, false, false, Why::sets_arch},
    {"arch", Match::value, false, false, Why::sets_arch},
    {"gencode", Match::value, false, false, Why::sets_arch},
    {"generate-code", Match::value, false, false, Why::sets_arch},
    {"gpu-architecture", Match::value, false, false, Why::sets_arch},
    {"o", Match::prefix, true, true, Why::sets_output},
    {"output", Match::value, false, true, Why::sets_output},
    {"c", Match::exact, true, false, Why::sets_action},
    {"S", Match::exact, true, false, Why::sets_action},
    {"E", Match::exact, true, false, Why::sets_action},
    {"compile", Match::exact, false, false, Why::sets_action},
    {"assemble", Match::exact, false, false, Why::sets_action},
    {"preprocess", Match::exact, false, false, Why::sets_action},
    {"fsyntax-only", Match::exact, false, false, Why::sets_action},
    {"M", Match::prefix, true, false, Why::sets_dependencies},
    {"dependencies", Match::exact, false, false, Why::sets_dependencies},
    {"user-dependencies", Match::exact, false, false, Why::sets_dependencies},
    {"write-dependencies", Match::exact, false, false, Why::sets_dependencies},
    {"write-user-dependencies", Match::exact, false, false, Why::sets_dependencies},
    {"dependency-file", Match::value, false, true, Why::sets_dependencies},
};

/// Those that other compilers have not, or mean something else by.
/// https://docs.nvidia.com/cuda/cuda-compiler-driver-nvcc/#nvcc-command-options, of 13.0.
constexpr Rule nvcc_rules[] = {
    {"ldir", Match::value, false, false, Why::chooses_parts},
    {"libdevice-directory", Match::value, false, false, Why::chooses_parts},
    {"target-dir", Match::value, false, false, Why::chooses_parts},
    {"target-directory", Match::value, false, false, Why::chooses_parts},
    {"noprof", Match::exact, false, false, Why::chooses_parts},
    {"dont-use-profile", Match::exact, false, false, Why::chooses_parts},
    {"code", Match::value, false, false, Why::sets_arch},
    {"gpu-code", Match::value, false, false, Why::sets_arch},
    {"odir", Match::value, false, false, Why::sets_output},
    {"output-directory", Match::value, false, false, Why::sets_output},
    {"output-file", Match::value, false, false, Why::sets_output},
    {"objdir-as-tempdir", Match::exact, false, false, Why::sets_output},
    {"cubin", Match::exact, false, false, Why::sets_action},
    {"cuda", Match::exact, false, false, Why::sets_action},
    {"fatbin", Match::exact, false, false, Why::sets_action},
    {"ptx", Match::exact, false, false, Why::sets_action},
    {"optix-ir", Match::exact, false, false, Why::sets_action},
    {"ltoir", Match::exact, false, false, Why::sets_action},
    {"lib", Match::exact, false, false, Why::sets_action},
    {"link", Match::exact, false, false, Why::sets_action},
    {"run", Match::exact, false, false, Why::sets_action},
    {"clean", Match::exact, false, false, Why::sets_action},
    {"clean-targets", Match::exact, false, false, Why::sets_action},
    {"dryrun", Match::exact, false, false, Why::sets_action},
    {"dc", Match::exact, false, false, Why::needs_device_link},
    {"device-c", Match::exact, false, false, Why::needs_device_link},
    {"dw", Match::exact, false, false, Why::needs_device_link},
    {"device-w", Match::exact, false, false, Why::needs_device_link},
    {"dlink", Match::exact, false, false, Why::needs_device_link},
    {"device-link", Match::exact, false, false, Why::needs_device_link},
    {"dlto", Match::exact, false, false, Why::needs_device_link},
    {"lto", Match::exact, false, false, Why::needs_device_link},
    {"rdc", Match::value, false, false, Why::needs_device_link},
    {"relocatable-device-code", Match::value, false, false, Why::needs_device_link},
};

/// Active in a shell, or between its double quotes. nvcc 13.0 hands "-DX=$(id)" and what stands behind -Xcompiler and
/// -Xptxas to `sh -c` as it is.
constexpr std::string_view shell_characters = " $`;&|<>()[]{}*?~!#'\"\\";

struct Explanation {
  std::string what;
  std::string hint;
};

Explanation explain(Why why) {
  const std::string trust =
      "a manifest may not choose programs; flags that you trust can stand in your environment "
      "(HIPCC_COMPILE_FLAGS_APPEND, HIPCC_LINK_FLAGS_APPEND)";
  switch (why) {
  case Why::loads_code:
    return {"loads code into the compiler", trust};
  case Why::chooses_parts:
    return {"chooses the compiler's parts", trust};
  case Why::sets_arch:
    return {
        "chooses the offload arch, which dcuop sets",
        "list what the op supports in archs, flags of one arch in [build.arch_flags]; select with --arch"};
  case Why::sets_output:
    return {"names the output, which dcuop sets", "the result is called after name in [op]"};
  case Why::sets_action:
    return {"says how far to compile, which dcuop sets", "leave it out"};
  case Why::sets_dependencies:
    return {"asks for a dependency file, which dcuop does itself", "leave it out"};
  case Why::needs_device_link:
    return {"makes device code that has to be linked by itself, which dcuop does not do for CUDA",
            "leave it out: each unit's device code has to be whole"};
  }
  return {};
}

bool matches(const Rule& rule, std::string_view name) {
  if (!name.starts_with(rule.name)) {
    return false;
  }
  const std::string_view rest = name.substr(rule.name.size());
  return rule.match == Match::prefix || rest.empty() || (rule.match == Match::value && rest.front() == '=');
}

/// `for_tool`: it is for the linker or the assembler.
std::optional<Why> why_refused(std::string_view flag, bool for_tool, bool for_nvcc) {
  if (!flag.starts_with('-')) {
    return std::nullopt;
  }
  const bool two_dashes = flag.starts_with("--");
  const std::string_view name = flag.substr(two_dashes ? 2 : 1);
  // A name is looked for on the PATH, a path is a program of the manifest's choice.
  if (name.starts_with("fuse-ld=") && name.find('/') != std::string_view::npos) {
    return Why::chooses_parts;
  }
  for (const Rule& rule : rules) {
    if ((!rule.short_form || !two_dashes) && (!for_tool || rule.for_tools_too) && matches(rule, name)) {
      return rule.why;
    }
  }
  const auto* const own = std::find_if(std::begin(nvcc_rules), std::end(nvcc_rules),
                                       [&](const Rule& rule) { return matches(rule, name); });
  return for_nvcc && own != std::end(nvcc_rules) ? std::optional(own->why) : std::nullopt;
}

/// Reads one list: every word is judged by itself, so that what stands behind -Xclang, -Xarch_device or
/// -mllvm is seen as well; words that carry others (-Wl,a,b) are taken apart.
class Reader {
 public:
  Reader(const FlagList& list, TomlPlace place) : list_(list), place_(place) {}

  void add(const std::string& word, int depth) {
    if (word.starts_with('@')) {
      add_response_file(word, depth);
      return;
    }
    if (list_.for_nvcc && word.find_first_of(shell_characters) != std::string::npos) {
      refuse(word,
             {"has a character that means something to a shell, to which nvcc hands it",
              "write it into a header; none of: " + std::string(shell_characters.substr(1)) + " or a blank"});
    }
    judge(word);
    flags_.push_back(word);
  }
  void at(TomlPlace place) { place_ = place; }
  [[nodiscard]] std::vector<std::string> take() { return std::move(flags_); }

 private:
  void judge(const std::string& word) {
    const std::string carrier = std::exchange(carrier_, {});
    if (carrier == "-Xlinker" || carrier == "-Xoffload-linker" || carrier == "-Xassembler") {
      judge_one(word, true);
    } else if (is_list_carrier(carrier)) {
      judge_each(word, false);
    } else if (word.starts_with("-Wl,") || word.starts_with("-Wa,")) {
      judge_each(word.substr(4), true);
    } else if (word.starts_with("-Wp,")) {
      judge_each(word.substr(4), false);
    } else if (is_list_carrier(word.substr(0, word.find('='))) && word.find('=') != std::string::npos) {
      judge_each(word.substr(word.find('=') + 1), false);
    } else {
      judge_one(word, false);
      carrier_ = word;
    }
  }

  /// nvcc's: its value is a list of words for another tool, separated by commas.
  static bool is_list_carrier(std::string_view flag) {
    flag.remove_prefix(std::min(flag.find_first_not_of('-'), flag.size()));
    return flag == "Xcompiler" || flag == "compiler-options" || flag == "Xptxas" || flag == "ptxas-options" ||
           flag == "Xcudafe" || flag == "cudafe-options" || flag == "Xnvlink" || flag == "nvlink-options";
  }

  void judge_each(const std::string& words, bool for_tool) {
    for (const std::string& word : split(words, ',')) {
      judge_one(word, for_tool);
    }
  }

  void judge_one(const std::string& word, bool for_tool) {
    if (word.starts_with('@')) {
      refuse(word, {"names a response file where dcuop cannot look into it", "write its flags out"});
    }
    for (const std::string_view joined : {"-Xclang=", "-mllvm=", "-plugin-opt=", "--plugin-opt="}) {
      if (word.starts_with(joined)) {
        judge_one(word.substr(joined.size()), for_tool);
        return;
      }
    }
    if (const std::optional<Why> why = why_refused(word, for_tool, list_.for_nvcc)) {
      Explanation explanation = explain(*why);
      if (word.starts_with("-Bsymbolic") || word == "-Bstatic" || word == "-Bdynamic") {
        explanation.hint = "for the linker write -Wl," + word;
      }
      refuse(word, explanation);
    }
  }

  void add_response_file(const std::string& word, int depth) {
    const fs::path named = absolute_from(word.substr(1), list_.directory);
    std::error_code error;
    const fs::path real = fs::weakly_canonical(named, error);
    if (error || !lies_below(real, fs::weakly_canonical(list_.workspace_root, error))) {
      refuse(word, {"is a response file outside " + shown_path(list_.workspace_root).string(), "copy it in"});
    }
    const std::optional<std::string> content = read_file(real);
    if (!content) {
      refuse(word, {"is a response file that cannot be read (" + shown_path(named).string() + ")", ""});
    }
    if (depth == deepest_response_file) {
      refuse(word, {"is a response file that names others without an end", ""});
    }
    for (const std::string& inner : shell_words(*content)) {
      if (inner.empty() ||
          std::any_of(inner.begin(), inner.end(), [](unsigned char c) { return std::iscntrl(c) != 0; })) {
        refuse(word, {"holds an empty flag or a control character", ""});
      }
      add(inner, depth + 1);
    }
  }

  [[noreturn]] void refuse(const std::string& word, const Explanation& explanation) const {
    list_.file.fail(place_, "'" + word + "' in " + list_.name + " " + explanation.what, explanation.hint);
  }

  const FlagList& list_;
  TomlPlace place_;
  std::string carrier_; ///< the word before, when it decides how the next is read
  std::vector<std::string> flags_;
};

} // namespace

std::vector<std::string> read_flags(const TomlNode& node, const FlagList& list) {
  Reader reader(list, node.place);
  for (const TomlNode& item : list.file.texts_of(node, list.name)) {
    reader.at(item.place);
    reader.add(item.text, 0);
  }
  return reader.take();
}

std::optional<std::string> why_refused(const std::string& flag) {
  const std::optional<Why> why = why_refused(flag, false, false);
  return why ? std::optional(explain(*why).what) : std::nullopt;
}

} // namespace dcuop::op
