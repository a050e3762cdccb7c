#pragma once
// What a line of a log tells of: the loader's, the runtime's, the compilers', Python's and torch's own words.

#include <optional>
#include <string>
#include <string_view>

#include "dcuop/doctor/message.hpp"
#include "dcuop/finding/finding.hpp"

namespace dcuop::doctor {

/// How much a line tells.
enum class Weight {
  cause,       ///< the failure itself
  hint,        ///< a cause only where nothing better is said: "Segmentation fault"
  consequence, ///< said of something that failed before: "Error building extension"
};

struct Sighting {
  Clue clue;
  Weight weight = Weight::cause;
};

/// nullopt: nothing that is known.
[[nodiscard]] std::optional<Sighting> recognised(std::string_view line);

// Its parts, in the order in which they are asked.
[[nodiscard]] std::optional<Sighting> recognised_linking(std::string_view line); ///< ld.so, dlopen, import
[[nodiscard]] std::optional<Sighting> recognised_build(std::string_view line); ///< compilers, linkers, ninja
[[nodiscard]] std::optional<Sighting> recognised_running(std::string_view line); ///< HIP, HSA, torch

/// A text that means a rule wherever it stands in a line.
struct Sign {
  std::string_view text;
  std::string_view rule;
  Weight weight = Weight::cause;
  finding::Text fix; ///< empty: the rule's
};

// Parts of lines.

/// The path that stands before `at`, behind the last ": ", quote or blank: "ImportError: /a b/c.so" -> "/a b/c.so".
[[nodiscard]] std::string path_before(std::string_view line, std::size_t at);
/// From `at` to the next blank, quote, comma or bracket.
[[nodiscard]] std::string word_at(std::string_view line, std::size_t at);
/// What stands in the quotes that begin at or behind `at`; empty: there are none.
[[nodiscard]] std::string quoted_at(std::string_view line, std::size_t at);
/// A target id that the line names: "gfx90a:sramecc+:xnack-"; empty: none.
[[nodiscard]] std::string arch_in(std::string_view line);
/// The line from its last "SomeError: " on, cut to a readable length.
[[nodiscard]] std::string telling_part(std::string_view line);

} // namespace dcuop::doctor
