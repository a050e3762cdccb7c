#include "undefined.hpp"

#include <algorithm>

#include "nearby.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::doctor {
namespace {

/// "_Z" names that take or give std::string by the new ABI; the old one by "Ss".
bool string_abi_differs(const Undefined& symbol, const std::optional<bool>& torch_has_new) {
  if (!torch_has_new) {
    return false;
  }
  return *torch_has_new ? uses_old_strings(symbol.demangled) && !uses_new_strings(symbol.demangled)
                        : uses_new_strings(symbol.demangled);
}

std::string without_revision(std::string_view name) {
  const auto r = name.rfind('R');
  const bool revision = r != std::string_view::npos && name.size() - r == 5 &&
                        std::all_of(name.begin() + static_cast<std::ptrdiff_t>(r) + 1, name.end(),
                                    [](char c) { return c >= '0' && c <= '9'; });
  return std::string(revision ? name.substr(0, r) : name);
}

} // namespace

UndefinedExplainer::UndefinedExplainer(CaseFile& file)
    : file_(file), missing_(file.missing()), scope_(file.scope), torch_(file.process.torch_images),
      own_({file.image}) {}

Undefined UndefinedExplainer::explain(const elf::Image& wanted_by, const elf::Unbound& unbound) {
  Undefined symbol;
  symbol.wanted_by = &wanted_by;
  symbol.unbound = &unbound;
  symbol.demangled = elf::demangled(unbound.symbol.name);
  symbol.family = symbol_family(unbound.symbol.name);
  // The name is there, with another version: the library's version is the cause, and is reported as such.
  if (unbound.wrong_version_in.empty()) {
    judge(symbol);
  }
  return symbol;
}

bool UndefinedExplainer::is_missing(std::string_view stem) const {
  return std::any_of(missing_.begin(), missing_.end(),
                     [stem](const elf::Library* library) { return library_stem(library->name) == stem; });
}

bool UndefinedExplainer::is_missing(LibraryFamily family) const {
  return std::any_of(missing_.begin(), missing_.end(), [family](const elf::Library* library) {
    return library_family(library->name) == family;
  });
}

void UndefinedExplainer::judge(Undefined& symbol) {
  const auto& version_file = symbol.unbound->symbol.version_file;
  if (!version_file.empty() && is_missing(library_stem(version_file))) {
    return;
  }
  if (const auto* provider = torch_.provider(symbol.unbound->symbol.name)) {
    const auto name = provider->soname.empty() ? provider->path.filename().string() : provider->soname;
    if (!is_missing(library_stem(name))) {
      symbol.rule = "DCU212";
      symbol.library = name;
      symbol.offered = file_.described(provider->path);
    }
    return;
  }
  switch (symbol.family) {
  case SymbolFamily::rdc:
    symbol.rule = "DCU214";
    break;
  case SymbolFamily::torch_cuda:
  case SymbolFamily::torch:
    judge_torch(symbol);
    break;
  case SymbolFamily::hip:
    judge_hip(symbol);
    break;
  case SymbolFamily::cuda:
    symbol.rule = is_missing(LibraryFamily::cuda) ? "" : "DCU216";
    break;
  case SymbolFamily::python:
    judge_python(symbol);
    break;
  case SymbolFamily::cxx_runtime:
    symbol.rule = is_missing("libstdc++") || is_missing("libc++") ? "" : "DCU219";
    break;
  case SymbolFamily::library:
    judge_library(symbol);
    break;
  case SymbolFamily::own:
    judge_own(symbol);
    break;
  }
}

void UndefinedExplainer::judge_torch(Undefined& symbol) {
  if (!file_.facts.torch || is_missing(LibraryFamily::torch)) {
    // Without the libraries nothing can be said of what they would have had.
    symbol.rule = file_.facts.torch || is_missing(LibraryFamily::torch) ? "" : "DCU207";
    return;
  }
  const bool cuda_half = symbol.family == SymbolFamily::torch_cuda && file_.facts.torch->cuda.empty();
  if (cuda_half && is_missing(LibraryFamily::cuda)) {
    return;
  }
  offer_nearest(symbol, torch_);
  if (cuda_half) {
    symbol.rule = "DCU216";
  } else if (symbol.rule.empty()) {
    symbol.rule = string_abi_differs(symbol, file_.facts.torch->cxx11_abi) ? "DCU211" : "DCU210";
  }
  if (symbol.offered.empty()) {
    symbol.offered = "torch " + file_.facts.torch->summary() + " has no function of that name";
  }
}

void UndefinedExplainer::offer_nearest(Undefined& symbol, const SymbolIndex& index) {
  const auto alike = index.alike(symbol.unbound->symbol.name);
  if (alike.empty()) {
    return;
  }
  // An overload may be nearer by its letters than the one that differs in the ABI alone.
  const auto same_but_strings = std::find_if(alike.begin(), alike.end(), [&symbol](const auto& candidate) {
    return with_one_string(elf::demangled(std::string(candidate.name))) == with_one_string(symbol.demangled);
  });
  const auto& nearest = same_but_strings == alike.end() ? alike.front() : *same_but_strings;
  const auto other = elf::demangled(std::string(nearest.name));
  symbol.offered = file_.described(nearest.image->path) + " has " + other;
  compare_with(symbol, other);
}

void UndefinedExplainer::compare_with(Undefined& symbol, const std::string& other) {
  const auto strings = with_one_string(symbol.demangled);
  if (strings == with_one_string(other)) {
    symbol.rule = "DCU211";
    symbol.conclusion = uses_new_strings(symbol.demangled)
                            ? "the file was compiled with _GLIBCXX_USE_CXX11_ABI=1, torch with 0"
                            : "the file was compiled with _GLIBCXX_USE_CXX11_ABI=0, torch with 1";
    return;
  }
  symbol.rule = "DCU210"; // for torch's own; the other families overrule it
  if (with_one_optional(symbol.demangled) == with_one_optional(other)) {
    // c10::optional became an alias of std::optional, never the reverse.
    symbol.conclusion =
        symbol.demangled.find("std::optional<") != std::string::npos
            ? "the file uses std::optional, this torch still c10::optional: the file is for a newer torch"
            : "the file uses c10::optional, this torch std::optional: the file is for an older torch";
  } else {
    symbol.conclusion =
        "the same function with other parameters: compiled against the headers of another torch";
  }
}

void UndefinedExplainer::judge_hip(Undefined& symbol) {
  if (is_missing(LibraryFamily::hip_runtime)) {
    return;
  }
  const auto is_runtime = [](const elf::Image* image) {
    return library_family(image->path.filename().string()) == LibraryFamily::hip_runtime;
  };
  const auto runtime = std::find_if(file_.scope.begin(), file_.scope.end(), is_runtime);
  if (runtime == file_.scope.end()) {
    symbol.rule = "DCU217";
    symbol.library = file_.facts.rocm && file_.facts.rocm->is_dtk ? "libgalaxyhip" : "libamdhip64";
    return;
  }
  symbol.rule = "DCU213";
  const auto& name = symbol.unbound->symbol.name;
  const auto base = without_revision(name);
  if (base != name && scope_.provider(base) != nullptr) {
    symbol.offered = (*runtime)->path.string() + " has " + base;
    symbol.conclusion = "compiled with the headers of HIP 6 or newer (the revision " +
                        name.substr(base.size()) + " in the name), the runtime is older";
  } else {
    symbol.offered = real_path((*runtime)->path).string() + " has no such function";
  }
}

void UndefinedExplainer::judge_library(Undefined& symbol) {
  const auto stem = library_of_prefix(symbol.unbound->symbol.name);
  if (is_missing(stem) || (stem == "librccl" && is_missing("libnccl"))) {
    return;
  }
  symbol.rule = "DCU217";
  symbol.library = stem;
  for (const auto& there : libraries_nearby(file_, stem)) {
    symbol.offered = there.path.string();
    break;
  }
}

void UndefinedExplainer::judge_python(Undefined& symbol) {
  if (file_.facts.python && !is_missing(LibraryFamily::python)) {
    symbol.rule = "DCU215";
    symbol.offered = file_.facts.python->executable.string() + " is Python " + file_.facts.python->version;
  }
}

void UndefinedExplainer::judge_own(Undefined& symbol) {
  const auto& libraries = file_.closure.libraries;
  const bool one_is_damaged =
      std::any_of(libraries.begin(), libraries.end(), [](const elf::Library& library) {
        return !library.path.empty() && !library.problem.empty();
      });
  if (one_is_damaged || is_missing(LibraryFamily::other) || is_missing(LibraryFamily::rocm)) {
    return; // it may come from there
  }
  symbol.rule = "DCU218";
  const auto& name = symbol.unbound->symbol.name;
  const auto plain = plain_identifier(name);
  if (const auto alike = own_.alike(name); !alike.empty()) {
    symbol.offered = "the file defines " + elf::demangled(std::string(alike.front().name));
    symbol.conclusion = "declaration and definition differ in their parameters";
  } else if (!plain.empty() && own_.provider(plain) != nullptr) {
    symbol.offered = "the file defines " + std::string(plain) + " with C linkage";
    symbol.conclusion = "the definition is extern \"C\", the declaration that was used is not";
  } else if (plain.empty() && !name.starts_with("_Z")) {
    const auto as_cxx = own_.alike("_Z" + std::to_string(name.size()) + name);
    if (!as_cxx.empty()) {
      symbol.offered =
          "the file defines " + elf::demangled(std::string(as_cxx.front().name)) + " with C++ linkage";
      symbol.conclusion = "the declaration that was used is extern \"C\", the definition is not";
    }
  }
}

} // namespace dcuop::doctor
