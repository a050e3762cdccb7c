// The digest memo's file: the input is the count of records and the records, the head is made for it.

#include <algorithm>
#include <cstring>

#include "dcuop/support/memo.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  static const fuzz::InputFile file;
  const std::string_view input = fuzz::text_of(data, size);
  std::string count(sizeof(std::uint64_t), '\0');
  const std::string_view given = input.substr(0, count.size());
  std::copy(given.begin(), given.end(), count.begin());
  const std::string_view records = input.substr(given.size());
  const Digest digest = digest_of(records);
  std::string bytes = "dcuop digests 1\n" + count;
  bytes.append(reinterpret_cast<const char*>(digest.bytes.data()), digest.bytes.size()).append(records);
  file.write(bytes);
  DigestMemo memo(file.path());
  // A device: its content is none, so that nothing is learnt or read.
  fuzz::require(!memo.digest("/dev/null") || bytes.find("/dev/null") != std::string::npos,
                "what no record gives is not known");
  return 0;
}
