#pragma once
// Logs as people paste them, line by line, without what terminals, launchers and log collectors put around them.

#include <functional>
#include <string>
#include <string_view>

namespace dcuop::doctor {

struct MessageLine {
  std::size_t number = 0; ///< from 1, as an editor counts
  std::string rank;       ///< of "[rank3]:", "12: ", "[1,3]<stderr>:"; empty: none
  std::string text;       ///< printable, quotes made plain, at most 16 KiB
};

/// Colours and control characters, box drawing and typographic quotes taken away or made plain.
[[nodiscard]] std::string plain_line(std::string_view raw);
/// Takes a launcher's prefix off the line, and returns the rank that it names.
std::string take_rank(std::string& line);

/// Calls `use` for each line that is not blank. Carriage returns and a literal "\n" (of JSON logs) end lines too.
/// `number` lines stand before the text; returns it with the text's own.
std::size_t for_each_line(std::string_view text, const std::function<void(const MessageLine&)>& use,
                          std::size_t number = 0);

} // namespace dcuop::doctor
