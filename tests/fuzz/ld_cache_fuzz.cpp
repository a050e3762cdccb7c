// /etc/ld.so.cache, of this machine or of a saved one.

#include <elf.h>

#include "../../src/elf/ld_cache.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  for (const std::uint16_t machine : {EM_X86_64, EM_AARCH64}) {
    const dcuop::elf::LdCache cache(dcuop::fuzz::text_of(data, size), machine, {"x86-64-v3", "x86-64-v2"});
    static_cast<void>(cache.find("libc.so.6"));
  }
  return 0;
}
