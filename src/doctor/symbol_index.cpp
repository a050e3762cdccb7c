#include "symbol_index.hpp"

#include <algorithm>
#include <utility>

#include "symbol_names.hpp"

namespace dcuop::doctor {
namespace {

/// How many characters two texts share at both ends.
std::size_t likeness(std::string_view a, std::string_view b) {
  const auto front = std::mismatch(a.begin(), a.end(), b.begin(), b.end()).first - a.begin();
  const auto back = std::mismatch(a.rbegin(), a.rend(), b.rbegin(), b.rend()).first - a.rbegin();
  return static_cast<std::size_t>(front + back);
}

bool before(const SymbolIndex::Definition& definition, std::string_view name) {
  return definition.name < name;
}

/// A prefix that ends inside a nested name ("_ZN2at6Tensor" of a template) may also begin a longer one.
bool goes_on_as_parameters(std::string_view name, std::string_view prefix) {
  return name.size() == prefix.size() || prefix.ends_with('E') ||
         name.substr(0, prefix.size()) == qualified_prefix(name) || name[prefix.size()] == 'B';
}

/// The spellings under which nearly the same function may exist: with the ABI tag of std::string, and in
/// torch's other device namespace.
std::vector<std::string> prefixes_of(std::string_view mangled) {
  std::vector<std::string> prefixes = {std::string(qualified_prefix(mangled))};
  if (prefixes.front().ends_with('E')) {
    auto tagged = prefixes.front();
    tagged.insert(tagged.size() - 1, "B5cxx11");
    prefixes.push_back(std::move(tagged));
  } else if (mangled.substr(prefixes.front().size()).starts_with("B5cxx11E")) {
    prefixes.front() += 'E';
  }
  const auto first = prefixes.front();
  for (const auto& [from, to] : {std::pair{"4cuda", "3hip"}, std::pair{"3hip", "4cuda"}}) {
    if (const auto at = first.find(from); at != std::string::npos) {
      auto other = first;
      prefixes.push_back(other.replace(at, std::string_view(from).size(), to));
    }
  }
  return prefixes;
}

} // namespace

SymbolIndex::SymbolIndex(const std::vector<const elf::Image*>& images) {
  for (const auto* image : images) {
    for (const auto& symbol : image->symbols) {
      if (symbol.defined && symbol.global) {
        definitions_.push_back({symbol.name, image});
      }
    }
  }
  std::stable_sort(definitions_.begin(), definitions_.end(),
                   [](const Definition& a, const Definition& b) { return a.name < b.name; });
}

const elf::Image* SymbolIndex::provider(std::string_view name) const {
  const auto found = std::lower_bound(definitions_.begin(), definitions_.end(), name, before);
  return found != definitions_.end() && found->name == name ? found->image : nullptr;
}

std::vector<SymbolIndex::Definition> SymbolIndex::alike(std::string_view mangled) const {
  std::vector<Definition> found;
  if (!mangled.starts_with("_Z")) {
    return found;
  }
  for (const auto& prefix : prefixes_of(mangled)) {
    auto candidate = std::lower_bound(definitions_.begin(), definitions_.end(), prefix, before);
    for (; candidate != definitions_.end() && candidate->name.starts_with(prefix); ++candidate) {
      if (goes_on_as_parameters(candidate->name, prefix)) {
        found.push_back(*candidate);
      }
    }
    if (!found.empty()) {
      break;
    }
  }
  std::stable_sort(found.begin(), found.end(), [mangled](const Definition& a, const Definition& b) {
    return likeness(a.name, mangled) > likeness(b.name, mangled);
  });
  return found;
}

} // namespace dcuop::doctor
