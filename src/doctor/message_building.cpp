// Compilers', linkers' and build tools' words (GCC, clang and hipcc, ld and lld, ninja, torch.utils.cpp_extension).
#include <algorithm>
#include <array>
#include <cctype>

#include "message_signs.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

using Part = std::optional<Sighting>;

constexpr auto none = std::string_view::npos;

Sighting sighting(std::string_view rule, Weight weight = Weight::cause) {
  Sighting made;
  made.clue.rule = rule;
  made.weight = weight;
  return made;
}

void set_fix(Clue& clue, std::string english, std::string chinese) {
  clue.fix = std::move(english);
  clue.fix_chinese = std::move(chinese);
}

/// "a/b.hip:14:9: ..." -> "a/b.hip"; empty: the line does not begin with a place.
std::string place_of(std::string_view line) {
  const auto colon = line.find(':');
  if (colon == none || colon == 0 || colon + 1 >= line.size() ||
      std::isdigit(static_cast<unsigned char>(line[colon + 1])) == 0) {
    return {};
  }
  return std::string(
      line.substr(line.substr(0, colon).rfind(' ') + 1, colon - line.substr(0, colon).rfind(' ') - 1));
}

struct HeaderSource {
  std::string_view prefix;
  finding::Text fix;
};
constexpr HeaderSource header_sources[] = {
    {"hip/",
     {"compile it with hipcc, or add the toolkit's include directory: source /opt/dtk/env.sh",
      "用 hipcc 编译，或加入工具包的头文件目录：source /opt/dtk/env.sh"}},
    {"Python.h",
     {"apt-get install python3-dev (dnf: python3-devel), or the Python that has its headers: --python PATH",
      "apt-get install python3-dev（dnf：python3-devel），或指定带头文件的 Python：--python PATH"}},
    {"torch/",
     {"build it with the Python that has torch: dcuop build OP --python PATH",
      "用装有 torch 的 Python 编译：dcuop build OP --python PATH"}},
    {"ATen/",
     {"the header is not in this torch: it is another version than the source is for",
      "该 torch 没有此头文件：源码面向另一个版本"}},
    {"c10/",
     {"the header is not in this torch: it is another version than the source is for",
      "该 torch 没有此头文件：源码面向另一个版本"}},
    {"pybind11/",
     {"it comes with torch (torch/include), else: python -m pip install pybind11",
      "它随 torch 提供（torch/include），否则：python -m pip install pybind11"}},
    {"cuda",
     {"the source is for CUDA: hipify it (hipify-perl FILE), or use the toolkit's CUDA headers of DTK",
      "源码面向 CUDA：先 hipify（hipify-perl FILE），或使用 DTK 自带的 CUDA 头文件"}},
    {"cub/", {"the source is for CUDA: use hipcub", "源码面向 CUDA：使用 hipcub"}},
    {"thrust/",
     {"install rocThrust, or load the toolkit: source /opt/dtk/env.sh",
      "安装 rocThrust，或加载工具包：source /opt/dtk/env.sh"}},
    {"roc",
     {"install that library of the toolkit, or load it: source /opt/dtk/env.sh",
      "安装工具包中的该库，或加载工具包：source /opt/dtk/env.sh"}},
};

Part header_missing(std::string_view line) {
  constexpr std::string_view mark = "fatal error: ";
  const auto at = line.find(mark);
  if (at == none) {
    return std::nullopt;
  }
  const auto gcc = line.find(": No such file or directory", at);
  const auto clang = line.find("' file not found", at);
  if (gcc == none && clang == none) {
    return std::nullopt;
  }
  auto found = sighting("DCU708");
  const auto begin = at + mark.size();
  found.clue.name = clang == none ? std::string(line.substr(begin, gcc - begin)) : quoted_at(line, begin);
  found.clue.file = place_of(line);
  for (const auto& source : header_sources) {
    if (found.clue.name.starts_with(source.prefix)) {
      set_fix(found.clue, std::string(source.fix.en), std::string(source.fix.zh));
      break;
    }
  }
  return found;
}

Part unknown_arch(std::string_view line) {
  constexpr std::array<std::string_view, 11> words = {"invalid target ID",
                                                      "nsupported HIP gpu architecture",
                                                      "nsupported gpu architecture",
                                                      "nsupported GPU architecture",
                                                      "unknown target CPU",
                                                      "unknown target gpu",
                                                      "nsupported ROCm arch",
                                                      "Supported ROCm architectures",
                                                      "nsupported offload arch",
                                                      "is not a recognized processor",
                                                      "unsupported CUDA gpu architecture"};
  for (const auto word : words) {
    if (const auto at = line.find(word); at != none) {
      auto found = sighting("DCU709");
      found.clue.name = arch_in(line);
      if (found.clue.name.empty()) {
        found.clue.name = quoted_at(line, at);
      }
      constexpr std::array<std::string_view, 4> dcu = {"gfx926", "gfx928", "gfx936", "gfx938"};
      if (std::any_of(dcu.begin(), dcu.end(),
                      [&](std::string_view arch) { return found.clue.name.starts_with(arch); })) {
        set_fix(found.clue,
                found.clue.name + " needs DTK's compiler: source /opt/dtk/env.sh, then dcuop env shows it",
                found.clue.name + " 需要 DTK 的编译器：source /opt/dtk/env.sh，然后用 dcuop env 查看");
      }
      return found;
    }
  }
  return std::nullopt;
}

Part tool_missing(std::string_view line) {
  constexpr std::array<std::string_view, 8> tools = {"hipcc", "nvcc",    "ninja", "g++",
                                                     "c++",   "clang++", "gcc",   "cc"};
  constexpr std::array<std::string_view, 4> absent = {
      ": not found", ": command not found", ": No such file or directory", "No such file or directory: '"};
  for (const auto word : absent) {
    const auto at = line.find(word);
    if (at == none) {
      continue;
    }
    const auto path = word.ends_with('\'') ? quoted_at(line, at + word.size() - 1) : path_before(line, at);
    const auto name = std::string_view(path).substr(path.rfind('/') + 1);
    if (std::find(tools.begin(), tools.end(), name) != tools.end()) {
      auto found = sighting("DCU711");
      found.clue.name = path;
      return found;
    }
  }
  if (line.find("Ninja is required to load C++ extensions") != none) {
    auto found = sighting("DCU711");
    found.clue.name = "ninja";
    set_fix(
        found.clue,
        "python -m pip install ninja (its directory must be on PATH), or dcuop build, which does not need it",
        "python -m pip install ninja（其目录须在 PATH 上），或使用不需要它的 dcuop build");
    return found;
  }
  for (const std::string_view variable : {"CUDA_HOME", "ROCM_HOME", "HIP_HOME"}) {
    const auto at = line.find(variable);
    if (at != none && line.find("not set", at) != none && line.find("rror") != none) {
      auto found = sighting("DCU711");
      found.clue.name = "a toolkit (" + std::string(variable) + ")";
      set_fix(found.clue,
              "source /opt/dtk/env.sh, or export ROCM_HOME=DIR; a torch for CUDA or CPU asks for CUDA_HOME: "
              "install the one "
              "of your toolkit",
              "source /opt/dtk/env.sh，或 export ROCM_HOME=DIR；CUDA 或 CPU 版 torch 会要求 "
              "CUDA_HOME：请安装与工具包配套的 torch");
      return found;
    }
  }
  return std::nullopt;
}

Part link_error(std::string_view line) {
  std::string symbol;
  if (const auto at = line.find("undefined reference to "); at != none) {
    symbol = quoted_at(line, at);
  } else if (const auto library = line.find("cannot find -l"); library != none) {
    symbol = word_at(line, library + 12);
    symbol = symbol.substr(0, symbol.find(':'));
  } else if (const auto lld = line.find("error: undefined ");
             lld != none && line.find("symbol: ", lld) != none) {
    symbol = std::string(line.substr(line.find("symbol: ", lld) + 8));
  } else if (const auto unable = line.find("unable to find library -l"); unable != none) {
    symbol = word_at(line, unable + 23);
  }
  if (symbol.empty()) {
    return std::nullopt;
  }
  auto found = sighting("DCU712");
  found.clue.name = symbol;
  if (symbol.starts_with("__hip_fatbin") || symbol.starts_with("__hip_gpubin")) {
    set_fix(found.clue,
            "compile without -fgpu-rdc, or link with hipcc -fgpu-rdc --hip-link --offload-arch=ARCH",
            "编译时去掉 -fgpu-rdc，或用 hipcc -fgpu-rdc --hip-link --offload-arch=ARCH 链接");
  } else if (symbol.find("__cxx11") != std::string::npos) {
    set_fix(found.clue,
            "compile with -D_GLIBCXX_USE_CXX11_ABI as torch has it: dcuop build OP takes it from torch",
            "编译时 -D_GLIBCXX_USE_CXX11_ABI 须与 torch 一致：dcuop build OP 会自动采用");
  } else if (symbol.starts_with("-l")) {
    set_fix(found.clue,
            "install the library's development package, or add its directory: library_dirs in dcuop.toml",
            "安装该库的开发包，或加入其目录：dcuop.toml 的 library_dirs");
  }
  return found;
}

constexpr std::array signs = {
    Sign{"cannot find ROCm device library", "DCU710", Weight::cause, {}},
    Sign{"cannot find HIP runtime", "DCU710", Weight::cause, {}},
    Sign{"cannot find ROCm installation", "DCU710", Weight::cause, {}},
    Sign{"cannot find HIP device library", "DCU710", Weight::cause, {}},
    Sign{"Killed signal terminated program", "DCU713", Weight::cause, {}},
    Sign{"unable to execute command: Killed", "DCU713", Weight::cause, {}},
    Sign{"compiler error: Killed", "DCU713", Weight::cause, {}},
    Sign{"fatal error: Killed", "DCU713", Weight::cause, {}},
    Sign{"virtual memory exhausted", "DCU713", Weight::cause, {}},
    Sign{"LLVM ERROR: out of memory", "DCU713", Weight::cause, {}},
    Sign{"out of memory allocating", "DCU713", Weight::cause, {}},
    Sign{"No space left on device", "DCU721", Weight::cause, {}},
    Sign{"Disk quota exceeded", "DCU721", Weight::cause, {}},
    Sign{"Read-only file system", "DCU721", Weight::cause, {}},
    Sign{"Error building extension", "DCU707", Weight::consequence, {}},
    Sign{"ninja: build stopped", "DCU707", Weight::consequence, {}},
    Sign{"ninja: error: ", "DCU707", Weight::hint, {}},
    Sign{"Error compiling objects for extension", "DCU707", Weight::consequence, {}},
    Sign{"Command '['ninja'", "DCU707", Weight::consequence, {}},
    Sign{"error: command '", "DCU707", Weight::consequence, {}},
    Sign{"collect2: error: ld returned", "DCU712", Weight::consequence, {}},
    Sign{"linker command failed", "DCU712", Weight::consequence, {}},
    Sign{"error generated when compiling", "DCU707", Weight::consequence, {}},
    Sign{"errors generated when compiling", "DCU707", Weight::consequence, {}},
};

Part sign(std::string_view line) {
  for (const auto& known : signs) {
    if (line.find(known.text) != none) {
      return sighting(known.rule, known.weight);
    }
  }
  return std::nullopt;
}

Part lock_wait(std::string_view line) {
  // A traceback that was interrupted, or py-spy's dump: the frame of FileBaton.wait.
  const auto at = line.find("file_baton.py");
  return at != none && line.find("wait", at) != none ? Part(sighting("DCU714")) : std::nullopt;
}

/// "a.hip:14:9: error: ...", "clang: error: ...", "nvcc fatal   : ...".
Part compile_error(std::string_view line) {
  const auto file = place_of(line);
  const bool placed =
      !file.empty() && (line.find(": error: ") != none || line.find(": fatal error: ") != none);
  constexpr std::array<std::string_view, 8> drivers = {"clang",   "hipcc",      "g++", "c++",
                                                       "cc1plus", "nvcc fatal", "lld", "gcc"};
  const auto head = trimmed(line).substr(0, line.find(": ") == none ? line.size() : line.find(": ") + 1);
  const bool driver = line.find("error: ") != none || line.find("nvcc fatal") != none;
  const bool of_driver =
      driver && std::any_of(drivers.begin(), drivers.end(), [&head](std::string_view name) {
        const auto at = head.find(name);
        return at != none && (at == 0 || head[at - 1] == '/');
      });
  if (!placed && !of_driver) {
    return std::nullopt;
  }
  auto found = sighting("DCU707");
  found.clue.file = file;
  found.clue.says = cut_to_width(trimmed(line), 240);
  constexpr std::array<std::string_view, 4> unknown_options = {
      "unknown argument", "unsupported option", "unsupported argument", "unrecognized command"};
  if (std::any_of(unknown_options.begin(), unknown_options.end(),
                  [line](std::string_view words) { return line.find(words) != none; })) {
    set_fix(found.clue,
            "take that option out of the flags: it is not of this compiler (nvcc's own are not hipcc's)",
            "从编译选项中去掉它：该编译器没有此选项（nvcc 专有的选项不适用于 hipcc）");
  }
  return found;
}

} // namespace

std::optional<Sighting> recognised_build(std::string_view line) {
  for (const auto part :
       {header_missing, unknown_arch, link_error, tool_missing, lock_wait, sign, compile_error}) {
    if (auto found = part(line)) {
      return found;
    }
  }
  return std::nullopt;
}

} // namespace dcuop::doctor
