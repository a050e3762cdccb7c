// A code object in memory: its header, notes, kernels and kernel descriptors.

#include "dcuop/elf/bundle.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  dcuop::elf::CodeObject object;
  dcuop::elf::read_code_object(dcuop::fuzz::text_of(data, size), object);
  static_cast<void>(dcuop::elf::target_of_flags(object.elf_flags, object.code_object_version));
  return 0;
}
