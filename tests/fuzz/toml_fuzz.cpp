// Any TOML file of dcuop, as a tree.

#include "dcuop/support/error.hpp"
#include "dcuop/support/toml_file.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  static const fuzz::InputFile file;
  file.write(fuzz::text_of(data, size));
  try {
    static_cast<void>(TomlFile::read(file.path()));
  } catch (const Error&) {
    // It is none.
  }
  return 0;
}
