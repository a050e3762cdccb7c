#pragma once
// Bytes -> texts that a C++ parser understands. Every text is as long as the file: what is taken out becomes spaces, so
// that offsets and lines stay what they are.

#include <cstdint>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <string_view>
#include <vector>

namespace dcuop::source {

using Offset = std::uint32_t;

/// Macros -> text, or nullopt for one that is not defined.
using Macros = std::map<std::string, std::optional<std::string>, std::less<>>;

/// What a family of sources has beyond C++.
struct Dialect {
  Macros known; ///< what its compiler defines, or never does: the other branches are not read
  std::vector<std::string>
      qualifiers; ///< words that are taken out, with the (arguments) behind them, and marked
};
[[nodiscard]] const Dialect& hip_dialect();
[[nodiscard]] const Dialect& ascend_dialect();

/// A qualifier that was taken out: "__global__"; "__launch_bounds__" with "256".
struct Mark {
  Offset at = 0;
  std::string name;
  std::string argument;
};

/// kernel<<<grid, block>>>(x) becomes kernel   (grid, block    x) with a comma: a call whose first arguments, those before
/// `end`, are the launch's.
struct Launch {
  Offset open = 0; ///< of the parenthesis
  Offset end = 0;
};

/// A #define that some configuration reads.
struct MacroDefinition {
  std::string name;
  bool is_function = false;
  std::vector<std::string> parameters;
  Offset at = 0;             ///< of the name
  Offset begin = 0, end = 0; ///< the body, in which continuations are spaces
};

struct Comment {
  Offset begin = 0, end = 0;
};

struct Include {
  Offset at = 0;
  std::string name;
  bool quoted = false;
};

struct File;

/// One way through the #ifs of a file.
struct Variant {
  const File* file = nullptr; ///< when it is one of a model
  Macros assumed;             ///< beyond the dialect's: the base configuration assumes nothing
  std::string text;
  std::vector<Mark> marks;
  std::vector<Launch> launches;
  std::vector<MacroDefinition> macros;
};

struct Masked {
  std::vector<Variant> variants; ///< the base configuration first, then as few as reach every branch
  std::vector<Comment> comments;
  std::vector<Include> includes;
  std::vector<Offset> unread; ///< branches that no configuration found reaches: where their directives stand
};

/// Macros that stand for statements: their uses end without a semicolon, which the grammar needs, and which takes the
/// place of the space behind them.
struct StatementMacros {
  std::set<std::string, std::less<>> plain; ///< without parameters
  std::set<std::string, std::less<>>
      heads; ///< with parameters, and an `if (x)` at the end that what follows belongs to
};

/// What is seen of a file before it is parsed.
struct Scan {
  std::vector<Include> includes;
  StatementMacros macros;
};
[[nodiscard]] Scan scan(std::string_view text);

[[nodiscard]] Masked mask(std::string_view text, const Dialect& dialect, const StatementMacros& macros = {});

} // namespace dcuop::source
