// A code object's metadata note (MessagePack).

#include "../../src/elf/metadata.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dcuop::elf::CodeObject object;
  static_cast<void>(dcuop::elf::read_metadata(dcuop::fuzz::text_of(data, size), object));
  return 0;
}
