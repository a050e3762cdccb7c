#include <string_view>
#include <unordered_map>

#include "dcuop/elf/loader.hpp"

namespace dcuop::elf {

namespace {

/// A reference of the image, and how far its search has come.
struct Reference {
  const Symbol* symbol = nullptr;
  bool bound = false;
  bool settled = false;                    ///< bound, or ld.so dies here
  const Image* other_version_in = nullptr; ///< the first that has the name, but not the version
};

/// How glibc's check_match takes a definition.
enum class Match { no, yes, only_default, dies };

Match match_of(const Symbol& wanted, const Symbol& definition, const Image& library) {
  if (!library.has_version_section) {
    // check_match asserts that this library is not the one that the reference names.
    const bool named = !wanted.version.empty() && (wanted.version_file == library.soname ||
                                                   wanted.version_file == library.path.filename().string());
    return named ? Match::dies : Match::yes;
  }
  if (wanted.version.empty()) {
    if (definition.version_index < 3) {
      return Match::yes; // unversioned, or of the library's first node
    }
    return definition.default_version ? Match::only_default : Match::no;
  }
  const bool base = definition.version.empty() && definition.default_version;
  return definition.version == wanted.version || base ? Match::yes : Match::no;
}

using References = std::unordered_map<std::string_view, std::vector<Reference>>;

References references_of(const Image& image) {
  References references;
  for (const Symbol& symbol : image.symbols) {
    if (!symbol.defined && symbol.global && !symbol.weak && symbol.value == 0 && !symbol.name.empty()) {
      references[symbol.name].push_back(
          {.symbol = &symbol, .bound = false, .settled = false, .other_version_in = nullptr});
    }
  }
  return references;
}

struct Tally {
  bool matched = false;
  bool dies = false;
  int defaults = 0;
};

/// Binds what `library` defines. An unversioned reference takes a default version only if it is the one.
void bind_in(const Image& library, References& references) {
  std::unordered_map<Reference*, Tally> tallies;
  for (const Symbol& definition : library.symbols) {
    if (!definition.defined || !definition.global) {
      continue;
    }
    const auto wanted = references.find(definition.name);
    if (wanted == references.end()) {
      continue;
    }
    for (Reference& reference : wanted->second) {
      if (reference.settled) {
        continue;
      }
      const Match match = match_of(*reference.symbol, definition, library);
      Tally& tally = tallies[&reference];
      tally.matched = tally.matched || match == Match::yes;
      tally.dies = tally.dies || match == Match::dies;
      tally.defaults += match == Match::only_default ? 1 : 0;
    }
  }
  for (const auto& [reference, tally] : tallies) {
    reference->bound = !tally.dies && (tally.matched || tally.defaults == 1);
    reference->settled = reference->bound || tally.dies;
    if (tally.dies || (!reference->bound && reference->other_version_in == nullptr)) {
      reference->other_version_in = &library;
    }
  }
}

} // namespace

std::vector<Unbound> unbound_symbols(const Image& image, const std::vector<const Image*>& scope) {
  References references = references_of(image);
  for (const Image* library : scope) {
    bind_in(*library, references);
  }
  bind_in(image, references); // another version of the name may be its own

  std::vector<Unbound> unbound;
  for (const Symbol& symbol : image.symbols) { // in the order of the table
    const auto found = references.find(symbol.name);
    if (found == references.end()) {
      continue;
    }
    for (const Reference& reference : found->second) {
      if (reference.symbol == &symbol && !reference.bound) {
        unbound.push_back({.symbol = symbol,
                           .wrong_version_in = reference.other_version_in == nullptr
                                                   ? std::filesystem::path{}
                                                   : reference.other_version_in->path});
      }
    }
  }
  return unbound;
}

} // namespace dcuop::elf
