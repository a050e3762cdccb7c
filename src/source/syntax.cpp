#include "dcuop/source/syntax.hpp"

#include <stdexcept>

#include <tree_sitter/api.h>

extern "C" const TSLanguage* tree_sitter_cpp(void);

namespace dcuop::source {
namespace {

/// Whoever walks a tree calls itself once a level; no source that a person wrote is half as deep.
constexpr std::size_t deepest = 2000;

struct ParserDeleter {
  void operator()(TSParser* parser) const { ts_parser_delete(parser); }
};
struct TreeDeleter {
  void operator()(TSTree* tree) const { ts_tree_delete(tree); }
};

/// One a thread: making one allocates tables.
TSParser* parser() {
  thread_local const std::unique_ptr<TSParser, ParserDeleter> one = [] {
    std::unique_ptr<TSParser, ParserDeleter> made(ts_parser_new());
    if (made == nullptr || !ts_parser_set_language(made.get(), tree_sitter_cpp())) {
      throw std::runtime_error("tree-sitter does not take its C++ grammar");
    }
    ts_parser_set_timeout_micros(made.get(), 5'000'000);
    return made;
  }();
  return one.get();
}

class Cursor {
 public:
  explicit Cursor(TSNode node) : cursor_(ts_tree_cursor_new(node)) {}
  Cursor(const Cursor&) = delete;
  Cursor& operator=(const Cursor&) = delete;
  ~Cursor() { ts_tree_cursor_delete(&cursor_); }
  TSTreeCursor* operator&() { return &cursor_; }

 private:
  TSTreeCursor cursor_;
};

} // namespace

Tree::Tree(std::shared_ptr<const std::string> text, Offset begin, Offset end) : text_(std::move(text)) {
  // Points are not asked for: rows and columns come from offsets.
  const TSRange range = {{0, begin}, {0, end}, begin, end};
  ts_parser_set_included_ranges(parser(), &range, 1);
  const std::unique_ptr<TSTree, TreeDeleter> parsed(
      ts_parser_parse_string(parser(), nullptr, text_->data(), static_cast<std::uint32_t>(text_->size())));
  if (parsed == nullptr) {
    ts_parser_reset(parser()); // it would go on with this text
    throw std::runtime_error("tree-sitter did not come to an end");
  }
  Cursor cursor(ts_tree_root_node(parsed.get()));
  struct Level {
    std::uint32_t index;
    std::uint32_t last; ///< child, 0 for none yet
  };
  std::vector<Level> levels;
  for (bool descends = true;;) {
    const TSNode node = ts_tree_cursor_current_node(&cursor);
    const char* const field = ts_tree_cursor_current_field_name(&cursor);
    const bool kept = levels.empty() || ts_node_is_named(node) || field != nullptr;
    if (descends && kept) {
      const auto index = static_cast<std::uint32_t>(entries_.size());
      Entry entry{ts_node_type(node),
                  field == nullptr ? "" : field,
                  ts_node_start_byte(node),
                  ts_node_end_byte(node),
                  0,
                  0,
                  0,
                  ts_node_has_error(node)};
      if (!levels.empty()) {
        entry.parent = levels.back().index;
        (levels.back().last == 0 ? entries_[entry.parent].first : entries_[levels.back().last].next) = index;
        levels.back().last = index;
      }
      if (std::string_view(entry.type) == "ERROR" || ts_node_is_missing(node)) {
        damaged_.emplace_back(entry.begin, entry.end);
      }
      entries_.push_back(entry);
      if (levels.size() == deepest && ts_node_named_child_count(node) > 0) {
        damaged_.emplace_back(entry.begin, entry.end);
        for (std::uint32_t at = index; !entries_[at].is_damaged; at = entries_[at].parent) {
          entries_[at].is_damaged = true;
        }
      } else if (ts_tree_cursor_goto_first_child(&cursor)) {
        levels.push_back({index, 0});
        continue;
      }
    }
    if (ts_tree_cursor_goto_next_sibling(&cursor)) {
      descends = true;
      continue;
    }
    if (!ts_tree_cursor_goto_parent(&cursor)) {
      break;
    }
    levels.pop_back();
    descends = false;
  }
}

std::string_view Node::type() const {
  return tree_ == nullptr ? std::string_view() : tree_->entries_[index_].type;
}
std::string_view Node::text() const {
  return tree_ == nullptr ? std::string_view()
                          : std::string_view(tree_->text()).substr(begin(), end() - begin());
}
Offset Node::begin() const {
  return tree_ == nullptr ? 0 : tree_->entries_[index_].begin;
}
Offset Node::end() const {
  return tree_ == nullptr ? 0 : tree_->entries_[index_].end;
}
bool Node::is_damaged() const {
  return tree_ != nullptr && tree_->entries_[index_].is_damaged;
}
std::string_view Node::field() const {
  return tree_ == nullptr ? std::string_view() : tree_->entries_[index_].field;
}
Node Node::parent() const {
  return tree_ == nullptr || index_ == 0 ? Node() : Node(tree_, tree_->entries_[index_].parent);
}
Node Node::first() const {
  const std::uint32_t index = tree_ == nullptr ? 0 : tree_->entries_[index_].first;
  return index == 0 ? Node() : Node(tree_, index);
}
Node Node::next() const {
  const std::uint32_t index = tree_ == nullptr ? 0 : tree_->entries_[index_].next;
  return index == 0 ? Node() : Node(tree_, index);
}
Node Node::child(std::string_view name) const {
  for (Node node = first(); node; node = node.next()) {
    if (node.field() == name) {
      return node;
    }
  }
  return {};
}
std::vector<Node> Node::children() const {
  std::vector<Node> all;
  for (Node node = first(); node; node = node.next()) {
    all.push_back(node);
  }
  return all;
}

} // namespace dcuop::source
