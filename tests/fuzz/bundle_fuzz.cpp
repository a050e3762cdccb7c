// A run of offload bundles, as a section and as pages among other data.

#include "../../src/elf/bundle_reader.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  const elf::ByteSource source(fuzz::text_of(data, size));
  for (const elf::Between between : {elf::Between::padding, elf::Between::anything}) {
    std::uint64_t end = 0;
    for (const elf::Bundle& bundle : elf::read_bundles(source, between, 0)) {
      fuzz::require(bundle.offset >= end && bundle.size <= size - bundle.offset,
                    "bundles follow one another inside the file");
      end = bundle.offset + bundle.size;
    }
  }
  return 0;
}
