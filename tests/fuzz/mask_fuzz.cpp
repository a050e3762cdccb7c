// Sources as they are masked: every text is as long as the file, with its lines where they were.

#include "dcuop/source/mask.hpp"

#include "fuzz.hpp"

namespace {

using namespace dcuop;

void require_fits(std::string_view text, const source::Masked& masked) {
  const std::size_t size = text.size();
  fuzz::require(!masked.variants.empty() && masked.variants.front().assumed.empty(),
                "the first configuration assumes nothing");
  for (const source::Variant& variant : masked.variants) {
    fuzz::require(variant.text.size() == size, "as long as the file");
    for (std::size_t at = 0; at < size; ++at) {
      fuzz::require((text[at] == '\n') == (variant.text[at] == '\n'), "lines stay where they are");
    }
    for (const source::Mark& mark : variant.marks) {
      fuzz::require(text.substr(mark.at, mark.name.size()) == mark.name, "a mark stands where it says");
    }
    for (const source::Launch& launch : variant.launches) {
      fuzz::require(launch.open < launch.end && launch.end < size && variant.text[launch.open] == '(',
                    "a launch has its parenthesis");
    }
    for (const source::MacroDefinition& macro : variant.macros) {
      fuzz::require(macro.at <= macro.begin && macro.begin <= macro.end && macro.end <= size,
                    "a macro lies in the file");
    }
  }
  for (const source::Comment& comment : masked.comments) {
    fuzz::require(comment.begin < comment.end && comment.end <= size, "a comment lies in the file");
  }
  for (const source::Offset at : masked.unread) {
    fuzz::require(at < size, "a branch lies in the file");
  }
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string_view text = fuzz::text_of(data, size);
  require_fits(text, source::mask(text, source::hip_dialect()));
  require_fits(text, source::mask(text, source::ascend_dialect()));
  return 0;
}
