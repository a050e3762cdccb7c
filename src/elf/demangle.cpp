#include <cstdlib>
#include <memory>

#include <cxxabi.h>

#include "dcuop/elf/image.hpp"

namespace dcuop::elf {

std::string demangled(const std::string& name) {
  if (!name.starts_with("_Z")) {
    return name; // __cxa_demangle would read "i" as the type int
  }
  int status = 0;
  const std::unique_ptr<char, decltype(&std::free)> text(
      abi::__cxa_demangle(name.c_str(), nullptr, nullptr, &status), &std::free);
  return text == nullptr ? name : std::string(text.get());
}

} // namespace dcuop::elf
