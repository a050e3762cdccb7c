// Any file that `dcuop inspect` is given: shared object, .o, code object or offload bundle.

#include "dcuop/elf/bundle.hpp"
#include "dcuop/support/error.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  static const fuzz::InputFile file;
  file.write(fuzz::text_of(data, size));
  try {
    static_cast<void>(elf::read_device_file(file.path()).code.targets());
  } catch (const Error&) {
    // What a reader says of a damaged file.
  }
  return 0;
}
