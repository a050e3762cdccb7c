// A saved output of rocminfo.

#include "dcuop/probe/devices.hpp"
#include "dcuop/support/error.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  try {
    const probe::SavedRocminfo saved = probe::read_saved_rocminfo(fuzz::text_of(data, size), "saved.txt");
    for (const probe::RocminfoAgent& agent : saved.told.agents) {
      fuzz::require(!agent.name.empty(), "every agent has a name");
    }
  } catch (const Error&) {
    // It is none.
  }
  return 0;
}
