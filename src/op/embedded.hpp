#pragma once
// Texts of the source tree that the program carries in itself (cmake/Embed.cmake).

#include <string_view>
#include <vector>

namespace dcuop::op {

struct EmbeddedText {
  std::string_view path; ///< below the tree's root
  std::string_view text;
};

/// The files that a new op is made of: ops/affine, and where other kinds differ from it, templates/.
[[nodiscard]] const std::vector<EmbeddedText>& template_texts();
/// One: what reads a setup.py, for an interpreter.
[[nodiscard]] const std::vector<EmbeddedText>& setup_reader_texts();

} // namespace dcuop::op
