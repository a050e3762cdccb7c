// The small readers of words, sizes and names.

#include "dcuop/elf/bundle.hpp"
#include "dcuop/op/op.hpp"
#include "dcuop/support/digest.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  const std::string_view text = fuzz::text_of(data, size);
  fuzz::require(unescaped_bytes(escaped_bytes(text)) == text, "escaped bytes come back");
  static_cast<void>(unescaped_bytes(text));
  static_cast<void>(shell_words(text));
  static_cast<void>(parse_duration(text));
  static_cast<void>(parse_size(text));
  static_cast<void>(cut_to_width(text, 20));
  static_cast<void>(Digest::from_hex(text));
  static_cast<void>(elf::demangled(std::string(text)));
  static_cast<void>(op::is_target_id(std::string(text)));
  if (const auto id = elf::TargetId::parse(text)) {
    fuzz::require(elf::TargetId::parse(id->text()) == id, "a target id's text is one");
  }
  return 0;
}
