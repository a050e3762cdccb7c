// __cxa_demangle cannot be bounded: each "S_" of a name may stand for all that came before it, so that a name of 250
// bytes is gigabytes when demangled. libiberty's demangler is the same code, and hands out its text piece by piece.

#include <libiberty/demangle.h>

#include "dcuop/elf/image.hpp"

namespace dcuop::elf {

namespace {

constexpr std::size_t longest_text = std::size_t{256} << 10; // far above any in the torch libraries

struct TooLong {};

void append(const char* text, std::size_t length, void* into) {
  auto& demangled = *static_cast<std::string*>(into);
  if (length > longest_text - demangled.size()) {
    throw TooLong{}; // through the demangler's frames, which hold nothing that had to be released
  }
  demangled.append(text, length);
}

} // namespace

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) {
    return name;
  }
  std::string text;
  try {
    const bool done = cplus_demangle_v3_callback(name.c_str(), DMGL_PARAMS | DMGL_TYPES, &append, &text) != 0;
    return done ? text : name;
  } catch (const TooLong&) {
    return name;
  }
}

} // namespace dcuop::elf
