#pragma once
// What setup_reader() prints, as it is used.

#include <string>
#include <vector>

namespace dcuop::op {

struct Unread {
  std::string field; ///< of the extension; empty for what is assumed
  std::size_t line = 0;
  std::string text;
};

struct SetupExtension {
  std::string type; ///< "CUDAExtension"
  std::string name; ///< "pkg._C"; empty when that is not written down
  std::size_t line = 0;
  std::vector<std::string> sources, include_dirs, macros, undef_macros, cxx_flags, nvcc_flags, link_flags,
      libraries, library_dirs;
  std::vector<Unread> unread;
};

struct ForeignSetup {
  std::vector<SetupExtension> extensions; ///< in the file's order
  std::vector<Unread> assumed;
  std::string problem;
};

/// Empty text: there was nothing to read. A text that is not the reader's is a problem, no exception.
[[nodiscard]] ForeignSetup read_foreign_setup(const std::string& text);

} // namespace dcuop::op
