// ld.so's, dlopen's and Python's words for a library that does not load (glibc elf/dl-*.c, CPython
// Python/importdl.c, torch/_ops.py).
#include <algorithm>
#include <array>

#include "message_signs.hpp"
#include "symbol_names.hpp"

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

std::string_view rule_of_symbol(std::string_view symbol) {
  // torch's own casters of tensors (torch/csrc/utils/pybind.h) are in libtorch_python from 2.0 on.
  if (symbol.starts_with("_ZN8pybind116detail11type_casterIN2at") ||
      symbol.starts_with("_ZN8pybind116detail11type_casterIN3c10")) {
    return "DCU212";
  }
  switch (symbol_family(symbol)) {
  case SymbolFamily::torch:
    return symbol.starts_with("THP") || symbol.starts_with("_THP") ? "DCU212" : "DCU210";
  case SymbolFamily::torch_cuda:
  case SymbolFamily::cuda:
    return "DCU216";
  case SymbolFamily::hip:
    return "DCU213";
  case SymbolFamily::rdc:
    return "DCU214";
  case SymbolFamily::python:
    return "DCU215";
  case SymbolFamily::cxx_runtime:
    return "DCU219";
  case SymbolFamily::library:
    return "DCU217";
  case SymbolFamily::own:
    break;
  }
  return "DCU218";
}

/// Whose version a node of the C and C++ libraries is; empty: of another library.
std::string library_of_node(std::string_view node) {
  if (node.starts_with("GLIBCXX_") || node.starts_with("CXXABI_")) {
    return "libstdc++.so.6";
  }
  return node.starts_with("GLIBC_") ? "libc.so.6" : node.starts_with("GCC_") ? "libgcc_s.so.1" : "";
}

Part undefined_symbol(std::string_view line) {
  constexpr std::string_view mark = "undefined symbol: ";
  constexpr std::string_view musl = ": symbol not found";
  const auto at = line.find(mark);
  std::string symbol, file;
  if (at != none) {
    symbol = word_at(line, at + mark.size());
    const bool leads = at >= 2 && line.substr(at - 2, 2) == ": ";
    // ldd -r: "undefined symbol: f (./affine.so)"
    const auto open = line.find('(', at);
    file = leads          ? path_before(line, at - 2)
           : open == none ? ""
                          : std::string(line.substr(open + 1, line.find(')', open) - open - 1));
  } else if (line.find("Error relocating ") != none && line.find(musl) != none) {
    const auto begin = line.find("Error relocating ") + 17;
    file = std::string(line.substr(begin, line.find(": ", begin) - begin));
    symbol = path_before(line, line.find(musl));
  }
  if (symbol.empty()) {
    return std::nullopt;
  }
  auto found = sighting(rule_of_symbol(symbol));
  found.clue.name = symbol;
  found.clue.file = file;
  // dl-lookup.c: "undefined symbol: f, version GLIBCXX_3.4.29". The library is there, and lacks it.
  constexpr std::string_view version = ", version ";
  const auto behind = at == none ? none : line.find(symbol, at + mark.size()) + symbol.size();
  const auto node = behind != none && line.substr(behind).starts_with(version)
                        ? word_at(line, behind + version.size())
                        : std::string{};
  if (const auto library = library_of_node(node); !library.empty()) {
    found.clue.rule = "DCU220";
    found.clue.name = node;
    found.clue.detail = library;
  }
  return found;
}

/// "python: relocation error: /x/affine.so: symbol f, version GLIBC_2.34 not defined in file libc.so.6 with link time
/// reference" (dl-lookup.c)
Part symbol_not_in_library(std::string_view line) {
  constexpr std::string_view mark = ": symbol ", version = ", version ", absent = " not defined in file ";
  const auto at = line.find(mark);
  const auto end = line.find(absent, at == none ? 0 : at);
  if (at == none || end == none) {
    return std::nullopt;
  }
  const auto symbol = word_at(line, at + mark.size());
  const auto named = line.find(version, at);
  auto found = sighting(named < end ? "DCU220" : rule_of_symbol(symbol));
  found.clue.name = named < end ? word_at(line, named + version.size()) : symbol;
  found.clue.detail = word_at(line, end + absent.size());
  found.clue.file = path_before(line, at);
  return found;
}

Part version_missing(std::string_view line) {
  // /lib/libstdc++.so.6: version 'GLIBCXX_3.4.32' not found (required by /x/affine.so)
  constexpr std::string_view mark = ": version '";
  const auto at = line.find(mark);
  const auto missing = line.find("' not found", at == none ? 0 : at);
  if (at == none || missing == none) {
    return std::nullopt;
  }
  auto found = sighting("DCU220");
  found.clue.name = quoted_at(line, at);
  found.clue.detail = path_before(line, at);
  if (const auto by = line.find("(required by "); by != none) {
    found.clue.file = std::string(line.substr(by + 13, line.rfind(')') - by - 13));
  }
  return found;
}

std::string_view rule_of_library(std::string_view library) {
  switch (library_family(library)) {
  case LibraryFamily::cuda:
    return "DCU203";
  case LibraryFamily::torch:
    return "DCU207";
  case LibraryFamily::python:
    return "DCU208";
  case LibraryFamily::hip_runtime:
  case LibraryFamily::rocm:
  case LibraryFamily::other:
    break;
  }
  return "DCU201";
}

/// A library that another one wants, or the very file that was to be loaded.
Sighting absent(const std::string& subject) {
  if (subject.find('/') == std::string::npos) {
    auto found = sighting(rule_of_library(subject));
    found.clue.name = subject;
    return found;
  }
  const bool jit = subject.find("torch_extensions") != std::string::npos ||
                   subject.find("torchinductor") != std::string::npos;
  auto found = sighting(jit ? "DCU722" : "DCU101");
  found.clue.file = subject;
  found.clue.name = subject;
  return found;
}

Part library_missing(std::string_view line) {
  constexpr std::string_view mark = ": cannot open shared object file";
  if (const auto at = line.find(mark); at != none) {
    const auto subject = path_before(line, at);
    const auto reason = line.substr(at + mark.size());
    if (subject.empty()) {
      return std::nullopt;
    }
    if (reason.find("No such file") != none || reason.size() < 3) {
      return absent(subject);
    }
    auto found = sighting("DCU701");
    found.clue.file = subject;
    found.clue.detail = std::string("cannot open shared object file") + std::string(reason.substr(0, 60));
    return found;
  }
  constexpr std::string_view ldd = ".so";
  if (const auto at = line.find(" => not found"); at != none && line.substr(0, at).find(ldd) != none) {
    return absent(path_before(line, at));
  }
  // readelf, macOS and PyInstaller have other words; these are of Python's ctypes.util users and of HIP's loader.
  constexpr std::array<std::string_view, 2> others = {"Failed to load shared library ",
                                                      "Could not find shared library "};
  for (const auto words : others) {
    if (const auto at = line.find(words); at != none && line.find(".so", at) != none) {
      return absent(word_at(line, at + words.size()));
    }
  }
  return std::nullopt;
}

Part refused(std::string_view line) {
  constexpr std::array<std::string_view, 20> reasons = {
      "wrong ELF class",
      "invalid ELF header",
      "file too short",
      "cannot read file data",
      "failed to map segment from shared object",
      "cannot enable executable stack",
      "cannot allocate memory in static TLS block",
      "dlopen: cannot load any more object with static TLS",
      "cannot load any more object with static TLS",
      "ELF load command",
      "only ET_DYN and ET_EXEC can be loaded",
      "object file has no dynamic section",
      "object file has no loadable segments",
      "cannot apply additional memory protection after relocation",
      "cannot dynamically load position-independent executable",
      "cannot dynamically load executable",
      "cannot make segment writable for relocation",
      "internal error: symidx out of range",
      "unsupported version of Verdef record",
      "DT_RELR without GLIBC_ABI_DT_RELR dependency"};
  for (const auto reason : reasons) {
    const auto at = line.find(reason);
    const bool stands_behind_a_path = at != none && at >= 2 && line.substr(at - 2, 2) == ": ";
    if (at == none || !(stands_behind_a_path || line.find(".so") != none)) {
      continue;
    }
    auto found = sighting("DCU701");
    found.clue.detail = std::string(line.substr(at, line.find_first_of("(\"", at) - at));
    found.clue.file = stands_behind_a_path ? path_before(line, at - 2) : std::string{};
    return found;
  }
  constexpr std::string_view assertion = "Inconsistency detected by ld.so";
  if (line.find(assertion) != none) {
    auto found = sighting("DCU701");
    found.clue.detail = std::string(line.substr(line.find(assertion), 120));
    return found;
  }
  return std::nullopt;
}

Part init_missing(std::string_view line) {
  for (const std::string_view mark :
       {"does not define module export function", "does not define init function"}) {
    if (const auto at = line.find(mark); at != none) {
      auto found = sighting("DCU230");
      auto name = word_at(line, at + mark.size() + 2);
      name = name.starts_with("PyInit_") ? name.substr(7) : name.starts_with("init") ? name.substr(4) : name;
      found.clue.name = name;
      return found;
    }
  }
  return std::nullopt;
}

struct AbiSign {
  std::string_view text, what;
};

Part other_abi(std::string_view line) {
  constexpr std::array signs = {
      AbiSign{"Python version mismatch", "Python"},
      AbiSign{"This extension was compiled for Python", "Python"},
      AbiSign{"module was compiled for Python", "Python"},
      AbiSign{"compiled against ABI version", "NumPy"},
      AbiSign{"compiled against API version", "NumPy"},
      AbiSign{"numpy.dtype size changed", "NumPy"},
      AbiSign{"numpy.ufunc size changed", "NumPy"},
      AbiSign{"compiled using NumPy 1.x cannot be run in", "NumPy"},
      AbiSign{"compiled with different CUDA major versions", "torch"},
      AbiSign{"mismatches the version that was used to compile PyTorch", "torch"},
      AbiSign{"was built for: PyTorch", "torch"},
      AbiSign{"xFormers was built for", "torch"},
      AbiSign{"was compiled with PyTorch", "torch"},
      AbiSign{"compiled with a different version of PyTorch", "torch"},
  };
  for (const auto& sign : signs) {
    if (line.find(sign.text) != none) {
      auto found = sighting("DCU715");
      found.clue.name = sign.what;
      return found;
    }
  }
  return std::nullopt;
}

Part op_absent(std::string_view line) {
  if (const auto at = line.find("'_OpNamespace' '"); at != none) {
    auto found = sighting("DCU716", Weight::hint);
    found.clue.name = quoted_at(line, at + 15) + "::" + quoted_at(line, line.find("has no attribute", at));
    return found;
  }
  for (const std::string_view mark : {"No such operator ", "Could not find schema for "}) {
    if (const auto at = line.find(mark); at != none) {
      auto found = sighting("DCU716", Weight::hint);
      found.clue.name = word_at(line, at + mark.size());
      return found;
    }
  }
  if (const auto at = line.find(" does not exist");
      at != none && line.find("operator ") != none && line.find("::") != none) {
    auto found = sighting("DCU716", Weight::hint);
    found.clue.name = word_at(line, line.find("operator ") + 9);
    return found;
  }
  const auto module = line.find("Error: module '");
  const auto attribute = line.find("' has no attribute '");
  if (module != none && attribute != none && module < attribute) {
    auto found = sighting("DCU716", Weight::hint);
    found.clue.name = quoted_at(line, module) + "." + quoted_at(line, attribute + 2);
    return found;
  }
  return std::nullopt;
}

Part module_absent(std::string_view line) {
  const auto at = line.find("No module named ");
  if (at == none) {
    return std::nullopt;
  }
  auto name = word_at(line, at + 16);
  const bool raised = line.find("Error: No module named") != none;
  constexpr std::array<std::string_view, 4> tools = {"pkg_resources", "setuptools", "ninja", "distutils"};
  if (std::find(tools.begin(), tools.end(), name) != tools.end()) {
    auto found = sighting("DCU711", raised ? Weight::cause : Weight::hint);
    found.clue.name = "the Python module " + name;
    found.clue.fix = found.clue.fix_chinese =
        name == "ninja" ? "python -m pip install ninja" : "python -m pip install \"setuptools<70\"";
    return found;
  }
  // Optional modules are tried and missed in many logs.
  auto found = sighting("DCU717", Weight::hint);
  found.clue.name = name;
  return found;
}

Part others(std::string_view line) {
  if (const auto at = line.find("Could not load this library: "); at != none) {
    auto found = sighting("DCU101", Weight::consequence); // of what the loader said before; names the file
    found.clue.file = std::string(line.substr(at + 29));
    return found;
  }
  if (const auto at = line.find("is not a supported wheel on this platform"); at != none) {
    auto found = sighting("DCU719");
    found.clue.name = path_before(line, at);
    return found;
  }
  if (line.find("registered more than once") != none && line.find("Option '") != none) {
    auto found = sighting("DCU718");
    found.clue.name = quoted_at(line, line.find("Option '"));
    return found;
  }
  return std::nullopt;
}

} // namespace

std::optional<Sighting> recognised_linking(std::string_view line) {
  for (const auto part : {undefined_symbol, symbol_not_in_library, version_missing, library_missing, refused,
                          init_missing, other_abi, op_absent, module_absent, others}) {
    if (auto found = part(line)) {
      return found;
    }
  }
  return std::nullopt;
}

} // namespace dcuop::doctor
