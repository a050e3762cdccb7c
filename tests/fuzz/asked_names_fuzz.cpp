// The names that a build asked for: packed text, and the text in it.

#include "../../src/key/asked_names.hpp"
#include "dcuop/support/packed_text.hpp"

#include "fuzz.hpp"

namespace {

void visit(const std::string& packed) {
  static_cast<void>(
      dcuop::key::for_each_asked(packed, [](std::string_view, std::string_view, dcuop::key::Found) {}));
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  const std::string bytes(dcuop::fuzz::text_of(data, size));
  visit(bytes);
  const std::string packed = dcuop::pack_text(bytes);
  visit(packed);
  dcuop::fuzz::require(dcuop::unpack_text(packed, size) == bytes, "unpacked is what was packed");
  dcuop::fuzz::require(size == 0 || !dcuop::unpack_text(packed, size - 1), "the limit holds");
  return 0;
}
