#pragma once
// A command line that was not understood, in dcuop's words.

#include <string>
#include <vector>

#include "dcuop/support/error.hpp"

namespace dcuop::cli {

struct Misunderstanding {
  std::string command;               ///< as far as the line was understood: "dcuop cache"
  std::vector<std::string> commands; ///< that may stand below it
  std::vector<std::string> options;  ///< that it takes, "--json"
  std::vector<std::string> left;     ///< what nothing took
  std::string fault;                 ///< what the parser says
};

/// Names the command or option that does not exist, and the one that is probably meant; else what the parser says.
[[nodiscard]] Error misunderstood(const Misunderstanding& line);

} // namespace dcuop::cli
