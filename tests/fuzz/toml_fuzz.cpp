// Any TOML file of dcuop, as a tree.

#include "dcuop/op/toml_file.hpp"
#include "dcuop/support/error.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  static const fuzz::InputFile file;
  file.write(fuzz::text_of(data, size));
  try {
    static_cast<void>(op::TomlFile::read(file.path()));
  } catch (const Error&) {
    // It is none.
  }
  return 0;
}
