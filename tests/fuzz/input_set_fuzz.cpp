// An input set as the index holds it.

#include "../../src/key/asked_names.hpp"
#include "dcuop/key/input_set.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  const auto set = key::input_set_from_json_text(std::string(fuzz::text_of(data, size)));
  if (!set) {
    return 0;
  }
  const auto again = key::input_set_from_json_text(key::to_json_text(*set));
  fuzz::require(again && again->record_digest() == set->record_digest(), "what is written again is the same");
  for (const key::Input& input : set->inputs) {
    static_cast<void>(set->readers_of(input));
  }
  static_cast<void>(key::for_each_asked(set->asked, [](auto, auto, auto) {}));
  return 0;
}
