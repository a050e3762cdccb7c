#pragma once
// A whole text: its clues in order, the cause first.

#include <string>
#include <string_view>
#include <vector>

#include "message_signs.hpp"

namespace dcuop::doctor {

struct MessageScan {
  std::vector<Clue> clues; ///< each once; the cause first, then the others as they stand in the text
  std::vector<Clue>
      passed_over;           ///< only warned of, before the program ended by something else; then no clues
  std::string last_error;    ///< the last line that looks like an error; else the last line
  std::size_t last_line = 0; ///< its number
  std::size_t lines = 0;     ///< that are not blank
  std::size_t ranks = 0;     ///< that the lines' prefixes name
};
[[nodiscard]] MessageScan scan_message(const MessageText& message);

} // namespace dcuop::doctor
