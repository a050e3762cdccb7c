// The tracer's records, as they come out of the pipe: whole, and in pieces. The first byte is the pieces' size.

#include "../../src/support/trace_reader.hpp"
#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  if (size == 0) {
    return 0;
  }
  const std::string_view bytes = fuzz::text_of(data + 1, size - 1);
  const std::size_t piece = std::size_t{data[0]} + 1;
  TraceReader whole;
  whole.add(std::string(bytes));
  TraceReader pieces;
  for (std::size_t at = 0; at < bytes.size(); at += piece) {
    pieces.add(std::string(bytes.substr(at, piece)));
  }
  const auto first = whole.take();
  const auto second = pieces.take();
  fuzz::require(first.has_value() == second.has_value(), "pieces make no difference");
  if (first) {
    fuzz::require(first->accesses.size() == second->accesses.size() &&
                      first->is_complete == second->is_complete,
                  "nor of what was seen");
  }
  return 0;
}
