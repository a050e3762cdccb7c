#pragma once
// What the parsers of tree-sitter 0.23 ask of <tree_sitter/parser.h> beyond Debian's 0.20.7, whose structures (ABI 14)
// are the same: https://github.com/tree-sitter/tree-sitter/blob/v0.23.0/lib/src/parser.h. Newer headers have it all.
#include_next <tree_sitter/parser.h>

#ifndef ADVANCE_MAP

typedef struct {
  int32_t start;
  int32_t end;
} TSCharacterRange;

/// `ranges` are sorted, and both ends belong to them.
static inline bool set_contains(const TSCharacterRange* ranges, uint32_t count, int32_t lookahead) {
  uint32_t first = 0;
  while (first < count) {
    const uint32_t middle = first + (count - first) / 2;
    if (ranges[middle].end < lookahead) {
      first = middle + 1;
    } else if (lookahead < ranges[middle].start) {
      count = middle;
    } else {
      return true;
    }
  }
  return false;
}

/// Pairs of a character and the state that it leads to.
#define ADVANCE_MAP(...)                                                                                     \
  {                                                                                                          \
    static const uint16_t map[] = {__VA_ARGS__};                                                             \
    for (uint32_t at = 0; at < sizeof(map) / sizeof(map[0]); at += 2) {                                      \
      if (map[at] == lookahead) {                                                                            \
        state = map[at + 1];                                                                                 \
        goto next_state;                                                                                     \
      }                                                                                                      \
    }                                                                                                        \
  }

// 0.20.7 takes the last two by name.
#undef REDUCE
#define REDUCE(symbol_name, children, precedence, production)                                                \
  {                                                                                                          \
    {                                                                                                        \
      .reduce = {.type = TSParseActionTypeReduce,                                                            \
                 .symbol = symbol_name,                                                                      \
                 .child_count = children,                                                                    \
                 .dynamic_precedence = precedence,                                                           \
                 .production_id = production},                                                               \
    }                                                                                                        \
  }

#endif
