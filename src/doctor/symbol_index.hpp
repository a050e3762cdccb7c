#pragma once
// Who defines a name, or one like it, among many libraries.

#include <string>
#include <string_view>
#include <vector>

#include "dcuop/elf/image.hpp"

namespace dcuop::doctor {

/// Borrows the images.
class SymbolIndex {
 public:
  explicit SymbolIndex(const std::vector<const elf::Image*>& images);

  struct Definition {
    std::string_view name;
    const elf::Image* image = nullptr;
  };
  /// The first image, in the order given, that defines `name`; nullptr: none.
  [[nodiscard]] const elf::Image* provider(std::string_view name) const;
  /// Definitions of the same qualified name with other parameters, the nearest first; none for an unmangled
  /// name.
  [[nodiscard]] std::vector<Definition> alike(std::string_view mangled) const;

 private:
  std::vector<Definition> definitions_; ///< sorted by name, then in the images' order
};

} // namespace dcuop::doctor
