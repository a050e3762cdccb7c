// One entry of torch's JIT cache, read.
#include <algorithm>
#include <cctype>

#include "dcuop/elf/image.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "torch_extensions.hpp"

namespace dcuop::doctor {
namespace {

bool all_digits(std::string_view text) {
  return !text.empty() &&
         std::all_of(text.begin(), text.end(), [](unsigned char c) { return std::isdigit(c) != 0; });
}

/// "py311_cpu" -> "311" and "cpu".
struct Tag {
  std::string python, accelerator;
};
std::optional<Tag> parse_tag(const std::string& name) {
  const auto underscore = name.find('_');
  if (!name.starts_with("py") || underscore == std::string::npos || underscore + 1 == name.size() ||
      !all_digits(std::string_view(name).substr(2, underscore - 2))) {
    return std::nullopt;
  }
  return Tag{name.substr(2, underscore - 2), name.substr(underscore + 1)};
}

/// Not a link to one: what lies elsewhere is not torch's.
bool is_own_directory(const fs::path& path) {
  std::error_code fault;
  return fs::is_directory(fs::symlink_status(path, fault));
}

bool is_entry(const fs::path& directory) {
  const auto names = list_directory(directory);
  return std::any_of(names.begin(), names.end(), [](const std::string& name) {
    return name == "build.ninja" || name == "lock" || name.ends_with(".so") || name.ends_with(".o");
  });
}

/// Words of a ninja file: "$ " is a space, "$:" a colon, "$$" a dollar.
std::vector<std::string> ninja_words(const std::string& text) {
  std::vector<std::string> words(1);
  for (std::size_t at = 0; at < text.size(); ++at) {
    if (text[at] == '$' && at + 1 < text.size()) {
      words.back() += text[++at];
    } else if (text[at] != ' ') {
      words.back() += text[at];
    } else if (!words.back().empty()) {
      words.emplace_back();
    }
  }
  if (words.back().empty()) {
    words.pop_back();
  }
  return words;
}

Phrase problem_of(const fs::path& artifact) {
  const std::string name = artifact.filename().string();
  const auto identity = elf::identify(artifact);
  switch (identity.kind) {
  case elf::FileKind::missing:
    return {name + " is missing", "缺少 " + name};
  case elf::FileKind::empty:
    return {name + " is empty", name + " 为空"};
  case elf::FileKind::too_short:
  case elf::FileKind::not_elf:
    return {name + " is no ELF file (" + counted(identity.file_size, "byte") + ")",
            name + " 不是 ELF 文件（" + std::to_string(identity.file_size) + " 字节）"};
  case elf::FileKind::elf:
    break;
  default:
    return {};
  }
  try {
    const auto image = elf::read_image(artifact);
    if (image.truncated()) {
      const auto size = std::to_string(identity.file_size);
      const auto needed = std::to_string(image.bytes_needed);
      return {name + " has " + size + " of the " + needed + " bytes that its segments need",
              name + " 只有 " + size + " 字节，而其段需要 " + needed + " 字节"};
    }
  } catch (const Error& damaged) {
    return {damaged.what(), damaged.what()};
  }
  return {};
}

/// The directory behind -I, -isystem, joined or not, that ends like this.
std::optional<std::string> include_directory(const BuildFile& build, std::string_view ending) {
  for (std::size_t at = 0; at < build.flags.size(); ++at) {
    std::string path = build.flags[at];
    for (const std::string_view option : {"-isystem", "-I"}) {
      if (path.starts_with(option)) {
        path = path.size() > option.size()   ? path.substr(option.size())
               : at + 1 < build.flags.size() ? build.flags[at + 1]
                                             : "";
        if (path.ends_with(ending)) {
          return path;
        }
        break;
      }
    }
  }
  return std::nullopt;
}

/// The value of the last -DNAME=VALUE, without the shell's and the C string's quotes.
std::optional<std::string> macro(const BuildFile& build, const std::string& name) {
  const std::string start = "-D" + name + "=";
  std::optional<std::string> value;
  for (const auto& flag : build.flags) {
    if (flag.starts_with(start)) {
      value = flag.substr(start.size());
      std::erase_if(*value, [](char c) { return c == '"' || c == '\\' || c == '\''; });
    }
  }
  return value;
}

/// "3.11.2" -> "3.11"; "311" -> "3.11".
std::string minor_version(const std::string& version) {
  if (all_digits(version) && version.size() > 1) {
    return version.substr(0, 1) + "." + version.substr(1);
  }
  const auto first = version.find('.');
  return version.substr(0, version.find('.', first == std::string::npos ? first : first + 1));
}

/// ".../include/python3.11" -> "3.11".
std::optional<std::string> python_of_includes(const BuildFile& build) {
  for (const auto& flag : build.flags) {
    const auto at = flag.rfind("/python");
    if (at != std::string::npos) {
      std::string version = flag.substr(at + 7);
      version = version.substr(0, version.find_first_not_of("0123456789."));
      if (version.find('.') != std::string::npos && flag.find("/include/", 0) < at + 1) {
        return minor_version(version);
      }
    }
  }
  return std::nullopt;
}

std::string same_place(const fs::path& path) {
  std::error_code fault;
  const auto real = fs::weakly_canonical(path, fault);
  return fault ? path.string() : real.string();
}

std::string abi_text(bool cxx11) {
  return "_GLIBCXX_USE_CXX11_ABI=" + std::string(cxx11 ? "1" : "0");
}

} // namespace

TorchCacheRoot torch_cache_root(const Environment& environment) {
  TorchCacheRoot root;
  if (const auto given = environment.get_nonempty("TORCH_EXTENSIONS_DIR")) {
    root = {*given, "TORCH_EXTENSIONS_DIR"};
  } else if (const auto cache = environment.get_nonempty("XDG_CACHE_HOME")) {
    root = {fs::path(*cache) / "torch_extensions", "XDG_CACHE_HOME"};
  } else {
    root = {fs::path(environment.get("HOME").value_or("/")) / ".cache/torch_extensions", "HOME"};
  }
  root.path = same_place(root.path);
  return root;
}

std::vector<TorchCacheEntry> torch_cache_entries(const fs::path& root) {
  std::vector<TorchCacheEntry> entries;
  const auto add = [&entries](const fs::path& directory, const std::string& tag) {
    if (is_own_directory(directory) && is_entry(directory)) {
      entries.push_back({directory, directory.filename().string(), tag});
    }
  };
  for (const auto& name : list_directory(root)) {
    if (!parse_tag(name)) {
      add(root / name, "");
    } else if (is_own_directory(root / name)) {
      for (const auto& extension : list_directory(root / name)) {
        add(root / name / extension, name);
      }
    }
  }
  return entries;
}

BuildFile read_build_file(const fs::path& directory) {
  BuildFile build;
  const auto text = read_file(directory / "build.ninja");
  build.there = text.has_value();
  for (const auto& line : split(text.value_or(""), '\n')) {
    const auto words = ninja_words(line);
    if (words.size() > 1 && words[0] == "default") {
      build.artifacts.assign(words.begin() + 1, words.end());
    } else if (words.size() > 1 && words[1] == "=" && (words[0] == "cflags" || words[0] == "cuda_cflags")) {
      build.flags.insert(build.flags.end(), words.begin() + 2, words.end());
    }
  }
  return build;
}

Phrase why_half_built(const TorchCacheEntry& entry, const BuildFile& build) {
  auto artifacts = build.artifacts;
  if (build.there && artifacts.empty()) {
    artifacts.push_back(entry.name + ".so"); // cut off before its last line
  }
  for (const auto& artifact : artifacts) {
    if (auto problem = problem_of(entry.directory / artifact); !problem.empty()) {
      return problem;
    }
  }
  return {};
}

std::vector<fs::path> libraries_of(const fs::path& directory, const BuildFile& build) {
  std::vector<fs::path> libraries;
  for (const auto& name : build.artifacts.empty() ? list_directory(directory) : build.artifacts) {
    if (name.ends_with(".so")) {
      libraries.push_back(directory / name);
    }
  }
  return libraries;
}

std::vector<fs::path> products_of(const fs::path& directory, const BuildFile& build) {
  std::vector<fs::path> products;
  for (const auto& name : list_directory(directory)) {
    const bool is_product =
        name == "build.ninja" || name.starts_with(".ninja_") || name.ends_with(".o") ||
        name.ends_with(".o.d") ||
        std::find(build.artifacts.begin(), build.artifacts.end(), name) != build.artifacts.end();
    std::error_code fault;
    if (is_product && fs::is_regular_file(fs::symlink_status(directory / name, fault))) {
      products.push_back(directory / name);
    }
  }
  return products;
}

std::optional<Mismatch> python_mismatch(const TorchCacheEntry& entry, const BuildFile& build,
                                        const EnvironmentFacts& facts) {
  if (!facts.python) {
    return std::nullopt;
  }
  const auto here = minor_version(facts.python->version);
  if (const auto tag = parse_tag(entry.tag); tag && minor_version(tag->python) != here) {
    return Mismatch{minor_version(tag->python), here, "the directory " + entry.tag};
  }
  if (const auto built = python_of_includes(build); built && *built != here) {
    return Mismatch{*built, here, (entry.directory / "build.ninja").string()};
  }
  return std::nullopt;
}

std::optional<Mismatch> torch_mismatch(const TorchCacheEntry& entry, const BuildFile& build,
                                       const EnvironmentFacts& facts) {
  if (!facts.torch) {
    return std::nullopt;
  }
  const auto& torch = *facts.torch;
  const auto here = "torch " + torch.summary() + " in " + torch.package.string();
  std::string digits = torch.cuda;
  std::erase(digits, '.');
  // ROCm builds are filed under "cpu": https://github.com/pytorch/pytorch/issues/170778
  const auto expected = torch.cuda.empty() ? std::string("cpu") : "cu" + digits;
  const auto tag = parse_tag(entry.tag);
  if (tag && tag->accelerator != expected &&
      (tag->accelerator == "cpu" || tag->accelerator.starts_with("cu"))) {
    return Mismatch{"torch with " + tag->accelerator, here, "the directory " + entry.tag};
  }
  const auto file = (entry.directory / "build.ninja").string();
  constexpr std::string_view ending = "/torch/include";
  if (const auto includes = include_directory(build, ending)) {
    const auto package = fs::path(*includes).parent_path();
    if (same_place(package) != same_place(torch.package)) {
      const bool gone = !identity_of(package);
      return Mismatch{"the torch in " + package.string() + (gone ? " (which is gone)" : ""), here, file};
    }
  }
  const auto abi = macro(build, "_GLIBCXX_USE_CXX11_ABI");
  if (abi && torch.cxx11_abi && (*abi == "1") != *torch.cxx11_abi) {
    return Mismatch{"a torch with " + abi_text(*abi == "1"), here + " with " + abi_text(*torch.cxx11_abi),
                    file};
  }
  const auto pybind = macro(build, "PYBIND11_BUILD_ABI");
  if (pybind && !torch.pybind11_build_abi.empty() && *pybind != torch.pybind11_build_abi) {
    return Mismatch{"a torch with pybind11's ABI " + *pybind, here + " with " + torch.pybind11_build_abi,
                    file};
  }
  return std::nullopt;
}

} // namespace dcuop::doctor
