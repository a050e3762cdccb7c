// A compressed offload bundle: its header, and what it unpacks to.

#include "../../src/elf/ccob.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  const std::string_view bytes = fuzz::text_of(data, size);
  const elf::CcobHeader header = elf::read_ccob_header(bytes);
  if (!header.problem.empty()) {
    return 0;
  }
  const elf::Unpacked unpacked = elf::unpack_ccob(header, bytes.substr(header.header_size));
  fuzz::require(unpacked.bytes.size() <= header.unpacked_size, "no more is unpacked than the header gives");
  fuzz::require(!unpacked.problem.empty() || unpacked.bytes.size() == header.unpacked_size,
                "what is no fault has the header's size");
  fuzz::require(header.hash != 0 || elf::hash_problem(header, unpacked.bytes).empty(),
                "no hash, no complaint of it");
  return 0;
}
