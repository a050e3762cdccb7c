// A memo file. Its digest is made right, as else the fuzzer would never get behind it; so is the version, which seeds
// write as "@version@".

#include "../../src/support/byte_reader.hpp"
#include "../../src/support/memo_file.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  std::string text(fuzz::text_of(data, size));
  constexpr std::string_view version = "@version@";
  if (const std::size_t at = text.find(version); at != std::string::npos) {
    text.replace(at, version.size(), DCUOP_VERSION);
  }
  static_cast<void>(memo_from(text));
  const Digest digest = digest_of(text);
  if (const auto memo = memo_from(std::string(memo_magic).append(bytes_of(digest)).append(text))) {
    const auto again = memo_from(memo_text(*memo));
    fuzz::require(again && again->value == memo->value && again->witnesses.size() == memo->witnesses.size(),
                  "what is written again is the same");
  }
  return 0;
}
