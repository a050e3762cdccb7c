#include "dcuop/key/flags.hpp"

#include <algorithm>
#include <array>
#include <optional>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::key {

namespace {

enum class Meaning {
  plain,        ///< part of the key by its text
  directory,    ///< names a directory: its path is made relative
  file,         ///< names a file that is read: its content is in the key
  header,       ///< the same, looked for beside the op and then on the include search path
  other_output, ///< writes files besides the result, or reads what dcuop cannot see
  carrier,      ///< the next word is a flag for another tool: examined as one
  linker,       ///< -Wl, and -Xlinker: examined by the linker's own table
  assembler,    ///< -Wa, and -Xassembler
};

struct FlagKind {
  std::string_view prefix;
  Meaning meaning;
  bool separate; ///< the value may be, or is, the next word
};

/// Longest prefix wins. Sorted; a test checks it. Sources: gcc 12 "Option Summary", clang 15
/// "ClangCommandLineReference", GNU ld 2.40 "Options".
constexpr auto compiler_flags = std::to_array<FlagKind>({
    {"--coverage", Meaning::other_output, false},
    {"--cuda-", Meaning::plain, false},
    {"--gcc-toolchain=", Meaning::plain, false},
    {"--gpu-max-threads-per-block=", Meaning::plain, false},
    {"--hip-device-lib-path=", Meaning::directory, false},
    {"--hip-link", Meaning::plain, false},
    {"--hip-path=", Meaning::directory, false},
    {"--hip-version=", Meaning::plain, false},
    {"--offload-compress", Meaning::plain, false},
    {"--offload-new-driver", Meaning::plain, false},
    {"--rocm-device-lib-path=", Meaning::directory, false},
    {"--rocm-path=", Meaning::directory, false},
    {"--std=", Meaning::plain, false},
    {"-D", Meaning::plain, true},
    {"-I", Meaning::directory, true},
    {"-L", Meaning::directory, true},
    {"-O", Meaning::plain, false},
    {"-R", Meaning::plain, false},
    {"-T", Meaning::file, true},
    {"-Tbss", Meaning::plain, true},
    {"-Tbss=", Meaning::plain, false},
    {"-Tdata", Meaning::plain, true},
    {"-Tdata=", Meaning::plain, false},
    {"-Ttext", Meaning::plain, true},
    {"-Ttext=", Meaning::plain, false},
    {"-U", Meaning::plain, true},
    {"-W", Meaning::plain, false},
    {"-Wa,", Meaning::assembler, false},
    {"-Wl,", Meaning::linker, false},
    {"-Xarch_device", Meaning::carrier, true},
    {"-Xarch_host", Meaning::carrier, true},
    {"-Xassembler", Meaning::assembler, true},
    {"-Xclang", Meaning::carrier, true},
    {"-Xcompiler", Meaning::carrier, true},
    {"-Xlinker", Meaning::linker, true},
    {"-ansi", Meaning::plain, false},
    {"-cuid=", Meaning::plain, false},
    {"-f", Meaning::plain, false},
    {"-fauto-profile", Meaning::other_output, false},
    {"-fauto-profile=", Meaning::file, false},
    {"-fbasic-block-sections=", Meaning::other_output, false},
    {"-fcoverage-mapping", Meaning::plain, false},
    {"-fdump-", Meaning::other_output, false},
    {"-fgpu-rdc", Meaning::plain, false},
    {"-fmodule-file=", Meaning::file, false},
    {"-fmodule-map-file=", Meaning::file, false},
    {"-fmodules", Meaning::other_output, false},
    {"-fopt-info", Meaning::other_output, false},
    {"-fprofile-arcs", Meaning::other_output, false},
    {"-fprofile-instr-generate", Meaning::plain, false},
    {"-fprofile-instr-use", Meaning::other_output, false},
    {"-fprofile-instr-use=", Meaning::file, false},
    {"-fprofile-list=", Meaning::file, false},
    {"-fprofile-remapping-file=", Meaning::file, false},
    {"-fprofile-sample-use=", Meaning::file, false},
    {"-fprofile-use", Meaning::other_output, false},
    {"-fprofile-use=", Meaning::file, false},
    {"-fsanitize-blacklist=", Meaning::file, false},
    {"-fsanitize-coverage-allowlist=", Meaning::file, false},
    {"-fsanitize-coverage-ignorelist=", Meaning::file, false},
    {"-fsanitize-ignorelist=", Meaning::file, false},
    {"-fsave-optimization-record", Meaning::other_output, false},
    {"-ftest-coverage", Meaning::other_output, false},
    {"-fthinlto-index=", Meaning::file, false},
    {"-ftime-trace", Meaning::other_output, false},
    {"-fxray-always-instrument=", Meaning::file, false},
    {"-fxray-attr-list=", Meaning::file, false},
    {"-fxray-never-instrument=", Meaning::file, false},
    {"-g", Meaning::plain, false},
    {"-gsplit-dwarf", Meaning::other_output, false},
    {"-idirafter", Meaning::directory, true},
    {"-imacros", Meaning::header, true},
    {"-include", Meaning::header, true},
    {"-include-pch", Meaning::file, true},
    {"-iquote", Meaning::directory, true},
    {"-isystem", Meaning::directory, true},
    {"-l", Meaning::plain, true},
    {"-m", Meaning::plain, false},
    {"-mllvm", Meaning::plain, true},
    {"-nogpuinc", Meaning::plain, false},
    {"-nogpulib", Meaning::plain, false},
    {"-nostdinc", Meaning::plain, false},
    {"-nostdlib", Meaning::plain, false},
    {"-parallel-jobs=", Meaning::plain, false},
    {"-pedantic", Meaning::plain, false},
    {"-pipe", Meaning::plain, false},
    {"-pthread", Meaning::plain, false},
    {"-rdynamic", Meaning::plain, false},
    {"-rpath", Meaning::plain, true},
    {"-s", Meaning::plain, false},
    {"-save-temps", Meaning::other_output, false},
    {"-shared-libgcc", Meaning::plain, false},
    {"-static-libgcc", Meaning::plain, false},
    {"-static-libstdc++", Meaning::plain, false},
    {"-std=", Meaning::plain, false},
    {"-stdlib=", Meaning::plain, false},
    {"-u", Meaning::plain, true},
    {"-w", Meaning::plain, false},
});

/// Linker options (behind -Wl, and -Xlinker) that name files or write others. All else is plain: a link's result
/// depends on its text and on the files that --dependency-file reports.
constexpr auto linker_files =
    std::to_array<std::string_view>({"--default-script=", "--dynamic-list=", "--retain-symbols-file=",
                                     "--script=", "--symbol-ordering-file=", "--version-script=", "-T", "@"});
/// "-Ttext 0x1000", and with "=": addresses, though -T itself names a script.
constexpr auto linker_addresses = std::to_array<std::string_view>(
    {"-Tbss", "-Tdata", "-Tldata-segment", "-Trodata-segment", "-Ttext", "-Ttext-segment"});
constexpr auto linker_outputs =
    std::to_array<std::string_view>({"--Map=", "--cref", "--out-implib=", "--trace", "-Map", "-Map="});

/// No prefixes: -s of an unknown long name, -Ttext of a script (-Ttext.ld).
constexpr auto whole_names =
    std::to_array<std::string_view>({"-R", "-Tbss", "-Tdata", "-Ttext", "-s", "-u", "-w"});

template <std::size_t size>
bool contains(const std::array<std::string_view, size>& names, std::string_view name) {
  return std::find(names.begin(), names.end(), name) != names.end();
}

const FlagKind* kind_of(std::string_view flag) {
  const FlagKind* best = nullptr;
  for (const FlagKind& kind : compiler_flags) {
    const bool matches =
        contains(whole_names, kind.prefix) ? flag == kind.prefix : flag.starts_with(kind.prefix);
    if (matches && (best == nullptr || kind.prefix.size() > best->prefix.size())) {
      best = &kind;
    }
  }
  return best;
}

bool is_directory_at(const fs::path& path) {
  const std::optional<FileIdentity> identity = identity_of(path);
  return identity && identity->is_directory();
}

class Examiner {
 public:
  Examiner(const std::vector<std::string>& flags, const PathBase& base) : flags_(flags), base_(base) {}

  FlagReport run() {
    for (position_ = 0; position_ < flags_.size(); ++position_) {
      examine(flags_[position_]);
    }
    return std::move(report_);
  }

 private:
  void examine(const std::string& flag) {
    if (flag.starts_with('@')) {
      report_.flags.push_back(std::string("@").append(path_in_flag(flag.substr(1), true)));
      report_.uncacheable.push_back("response file " + flag + ": what it holds is not examined");
      return;
    }
    const FlagKind* kind = kind_of(flag);
    if (kind == nullptr) {
      report_.flags.push_back(flag);
      report_.uncacheable.push_back(flag.starts_with('-') ? "unknown flag " + flag
                                                          : "argument " + flag + " is no flag");
      return;
    }
    note_special(flag);
    if (kind->meaning == Meaning::other_output) {
      report_.uncacheable.push_back(flag + " writes or reads files that dcuop does not follow");
    }
    if (kind->separate && flag == kind->prefix && position_ + 1 < flags_.size()) {
      report_.flags.push_back(flag);
      report_.flags.push_back(value_of(*kind, flags_[++position_]));
    } else {
      report_.flags.push_back(std::string(kind->prefix) + value_of(*kind, flag.substr(kind->prefix.size())));
    }
  }

  void note_special(const std::string& flag) {
    report_.silent |= flag == "-w";
    if (flag == "-fgpu-rdc" || flag == "-fno-gpu-rdc") {
      report_.rdc = flag == "-fgpu-rdc";
    }
  }

  std::string value_of(const FlagKind& kind, const std::string& value) {
    switch (kind.meaning) {
    case Meaning::directory:
      return path_in_flag(value, false);
    case Meaning::file:
      note_directory(kind, value);
      return path_in_flag(value, true);
    case Meaning::header:
      return path_in_flag(value, !is_searched_for(value));
    case Meaning::assembler:
      examine_assembler(value);
      return value;
    case Meaning::linker:
      examine_linker(value);
      return value;
    case Meaning::carrier:
      return carried(value, kind.prefix != "-Xclang");
    case Meaning::plain:
    case Meaning::other_output:
      return value;
    }
    return value;
  }

  /// cc1 has many flags that drivers do not know (`all_known` false): those stay plain.
  std::string carried(const std::string& word, bool all_known) {
    const FlagReport report = examine_flags({word}, base_);
    report_.files.insert(report_.files.end(), report.files.begin(), report.files.end());
    const FlagKind* kind = kind_of(word);
    if (all_known || (kind != nullptr && kind->meaning == Meaning::other_output)) {
      report_.uncacheable.insert(report_.uncacheable.end(), report.uncacheable.begin(),
                                 report.uncacheable.end());
    }
    report_.silent |= report.silent;
    return word;
  }

  /// #include "NAME" as the compiler's working directory has it, which goes before the search path. What is found
  /// on that is in the depfile.
  [[nodiscard]] bool is_searched_for(const std::string& name) const {
    const fs::path beside = absolute_from(name, base_.directory);
    // A pipe is found, and would be read without an end.
    return fs::path(name).is_relative() && (!identity_of(beside) || is_directory_at(beside));
  }

  /// A compiler looks in it for a profile of the unit's name.
  void note_directory(const FlagKind& kind, const std::string& value) {
    if (!value.empty() && is_directory_at(absolute_from(value, base_.directory))) {
      report_.uncacheable.push_back(std::string(kind.prefix) + value +
                                    " names a directory: what is read in it is not followed");
    }
  }

  /// The path as the command will have it; an absolute one below the workspace becomes relative.
  std::string path_in_flag(const std::string& text, bool is_file) {
    if (text.empty()) {
      return text;
    }
    const fs::path absolute = absolute_from(text, base_.directory);
    if (is_file && !is_directory_at(absolute)) {
      report_.files.push_back(absolute);
    }
    return fs::path(text).is_absolute() ? base_.portable(absolute) : text;
  }

  /// It reads files of its own, and no depfile tells of them.
  void examine_assembler(const std::string& options) {
    bool is_value = false; // "-Wa,--defsym,NAME=1"
    for (const std::string& option : split(options, ',')) {
      if (option.starts_with("-I")) {
        report_.uncacheable.push_back("the assembler looks for files on " + option +
                                      ", which dcuop does not follow");
      } else if (option.starts_with("--MD") ||
                 (option.starts_with("-a") && option.find('=') != std::string::npos)) {
        report_.uncacheable.push_back("assembler option " + option + " writes other files");
      } else if (!option.starts_with('-') && !is_value) {
        report_.uncacheable.push_back("the assembler reads " + option + ", which dcuop does not follow");
      }
      is_value = option == "--defsym";
    }
  }

  void examine_linker(const std::string& options) {
    std::size_t start = 0;
    std::string pending; // "-Wl,--version-script,x.map": the file is the next part
    while (start <= options.size()) {
      const std::size_t comma = std::min(options.find(',', start), options.size());
      const std::string option = options.substr(start, comma - start);
      start = comma + 1;
      if (!pending.empty()) {
        report_.files.push_back(absolute_from(option, base_.directory));
        pending.clear();
        continue;
      }
      if (contains(linker_addresses, std::string_view(option).substr(0, option.find('=')))) {
        continue;
      }
      for (const std::string_view prefix : linker_files) {
        if (option.starts_with(prefix) && option.size() > prefix.size()) {
          report_.files.push_back(absolute_from(option.substr(prefix.size()), base_.directory));
        } else if (option == prefix || option + "=" == prefix) {
          pending = option;
        }
      }
      for (const std::string_view prefix : linker_outputs) {
        if (option.starts_with(prefix)) {
          report_.uncacheable.push_back("linker option " + option + " writes other files");
          break;
        }
      }
    }
    if (!pending.empty()) { // -Xlinker --version-script -Xlinker x.map
      report_.uncacheable.push_back("linker option " + pending + ": its file is not followed; write -Wl," +
                                    pending + ",FILE");
    }
  }

  const std::vector<std::string>& flags_;
  const PathBase& base_;
  std::size_t position_ = 0;
  FlagReport report_;
};

} // namespace

FlagReport examine_flags(const std::vector<std::string>& flags, const PathBase& base) {
  return Examiner(flags, base).run();
}

} // namespace dcuop::key
