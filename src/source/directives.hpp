#pragma once
// A file without its comments, and its preprocessor lines.

#include <string>
#include <string_view>
#include <vector>

#include "conditions.hpp"
#include "dcuop/source/mask.hpp"

namespace dcuop::source {

struct Directive {
  enum class Kind { begins, otherwise, ends, define, undefine, other };
  Kind kind = Kind::other;
  std::string condition;     ///< of begins and otherwise; "1" for #else
  MacroDefinition macro;     ///< of define and undefine
  std::string body;          ///< of define
  Offset begin = 0, end = 0; ///< the lines
};

struct Lexed {
  std::string bare; ///< without comments
  std::vector<Comment> comments;
  std::vector<Include> includes;
  std::vector<Directive> directives;
};

[[nodiscard]] Lexed lex(std::string_view text);

/// The ranges that are compiled with `assumed` on top of what the dialect knows, the macros defined in them (by the
/// index of their directive), and the branches (by theirs) that were taken.
struct Reading {
  std::vector<std::pair<Offset, Offset>> live;
  std::vector<std::size_t> defined;
  std::vector<bool> taken;
  std::vector<Asked> asked; ///< by directive
};
[[nodiscard]] Reading read_directives(const Lexed& lexed, const Dialect& dialect, const Macros& assumed);

/// Assumptions, the base configuration's (none) first, that together take every branch that can be taken; `unread`
/// gets the others.
[[nodiscard]] std::vector<Macros> configurations(const Lexed& lexed, const Dialect& dialect,
                                                 std::vector<Offset>& unread);

} // namespace dcuop::source
