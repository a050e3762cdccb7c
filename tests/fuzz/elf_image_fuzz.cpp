// An ELF file on its way to a diagnosis: identity, image, the search for its libraries, what stays unbound.

#include "dcuop/elf/image.hpp"
#include "dcuop/elf/loader.hpp"
#include "dcuop/support/error.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  static const fuzz::InputFile file;
  file.write(fuzz::text_of(data, size));
  const elf::Identity identity = elf::identify(file.path());
  fuzz::require(identity.file_size == size, "the identity's size is the file's");
  try {
    const elf::Image image = elf::read_image(file.path());
    for (const elf::Symbol& symbol : image.symbols) {
      static_cast<void>(elf::demangled(symbol.name));
    }
    static_cast<void>(elf::unbound_symbols(image, {&image}));
    elf::LoaderContext context;
    context.root = "/nonexistent"; // no library of this machine is to be read
    static_cast<void>(elf::resolve_closure(image, context));
  } catch (const Error&) {
    // What a reader says of a damaged file.
  }
  return 0;
}
