#pragma once
// Syntax trees: what tree-sitter's C++ grammar says of a text, in one array.

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "dcuop/source/mask.hpp"

namespace dcuop::source {

class Tree;

/// A node of a tree, or nothing. Cheap to copy; valid as long as the tree.
class Node {
 public:
  Node() = default;
  Node(const Tree* tree, std::uint32_t index) : tree_(tree), index_(index) {}

  explicit operator bool() const { return tree_ != nullptr; }
  bool operator==(const Node&) const = default;

  /// "call_expression": https://github.com/tree-sitter/tree-sitter-cpp/blob/v0.23.4/src/node-types.json; "" of nothing.
  [[nodiscard]] std::string_view type() const;
  [[nodiscard]] bool is(std::string_view type_name) const { return type() == type_name; }
  [[nodiscard]] std::string_view text() const; ///< of the masked text
  [[nodiscard]] Offset begin() const;
  [[nodiscard]] Offset end() const;
  [[nodiscard]] bool is_damaged() const; ///< there is a syntax error in it
  [[nodiscard]] Node parent() const;
  [[nodiscard]] Node child(std::string_view field) const; ///< the first of that field
  [[nodiscard]] Node first() const;             ///< the first child, of named ones and those with a field
  [[nodiscard]] Node next() const;              ///< the next sibling
  [[nodiscard]] std::string_view field() const; ///< of its parent that it is; may be ""
  [[nodiscard]] std::vector<Node> children() const;
  /// Every node below, and itself, in the order of the text.
  template <class Visit> void each(Visit&& visit) const;
  [[nodiscard]] const Tree* tree() const { return tree_; }

 private:
  const Tree* tree_ = nullptr;
  std::uint32_t index_ = 0;
};

/// Parsed from a text that it keeps.
class Tree {
 public:
  /// The nodes of `range` of `text` alone. Throws std::runtime_error when it takes longer than some seconds.
  Tree(std::shared_ptr<const std::string> text, Offset begin, Offset end);

  [[nodiscard]] Node root() const { return {this, 0}; }
  [[nodiscard]] const std::string& text() const { return *text_; }
  [[nodiscard]] const std::vector<std::pair<Offset, Offset>>& damaged() const { return damaged_; }

 private:
  friend class Node;
  struct Entry {
    const char* type = "";
    const char* field = "";
    Offset begin = 0, end = 0;
    std::uint32_t parent = 0, first = 0, next = 0;
    bool is_damaged = false;
  };
  std::shared_ptr<const std::string> text_;
  std::vector<Entry> entries_;
  std::vector<std::pair<Offset, Offset>> damaged_;
};

template <class Visit> void Node::each(Visit&& visit) const {
  if (tree_ == nullptr) {
    return;
  }
  // Entries are in the order of the text, parents before their children.
  const Offset last = end();
  for (std::uint32_t index = index_; index < tree_->entries_.size(); ++index) {
    const Node node(tree_, index);
    if (index != index_ && (node.begin() >= last || tree_->entries_[index].parent < index_)) {
      break;
    }
    visit(node);
  }
}

} // namespace dcuop::source
