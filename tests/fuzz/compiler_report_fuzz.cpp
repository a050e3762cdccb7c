// Depfiles of compilers and linkers, and what they print with -v.

#include "dcuop/key/compiler_report.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop::key;
  const std::string_view text = dcuop::fuzz::text_of(data, size);
  for (const auto& parse :
       {parse_depfile, parse_link_depfile, parse_search_directories, parse_library_directories}) {
    for (const std::filesystem::path& path : parse(text, "/op")) {
      dcuop::fuzz::require(path.is_absolute(), "paths are absolute");
    }
  }
  return 0;
}
