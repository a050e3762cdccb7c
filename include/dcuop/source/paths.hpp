#pragma once
// Ways through a function: which expressions run, in which order, under which conditions.

#include <algorithm>
#include <iterator>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/source/model.hpp"

namespace dcuop::source {

/// A condition that was decided on the way.
struct Guard {
  /// What those have left that went the other way: nothing, when the condition surrounds what is guarded.
  enum class Left { nothing, loop, label, function };

  Node condition;
  bool taken = true;    ///< it holds
  bool is_loop = false; ///< it is decided again and again
  Left left = Left::nothing;
  std::string_view label = {}; ///< of Left::label
};
/// Those that surround first, then what was left at.
using Guards = std::vector<Guard>;

/// Calls `visit(Node, Guards)` for what an expression evaluates, outer nodes first: the right side of && and || under the
/// left one, the branches of ?: under its condition. A lambda that a variable is given runs when that is called.
template <class Visit> void each_evaluated(Node expression, const Guards& guards, const Visit& visit) {
  if (expression.is("lambda_expression") && expression.parent().is("init_declarator")) {
    return;
  }
  visit(expression, guards);
  const std::string_view sign = expression.child("operator").text();
  const bool logical = expression.is("binary_expression") && (sign == "&&" || sign == "||");
  const Node condition = logical                                   ? expression.child("left")
                         : expression.is("conditional_expression") ? expression.child("condition")
                                                                   : Node();
  for (Node child = expression.first(); child; child = child.next()) {
    if (condition && child != condition) {
      Guards inner = guards; // surrounding ones before what was left at
      const bool holds = logical ? sign == "&&" : child.field() == "consequence";
      inner.insert(inner.begin(), {condition, holds});
      each_evaluated(child, inner, visit);
    } else {
      each_evaluated(child, guards, visit);
    }
  }
}

/// Walks the statements of a body. State is copied at branches and joined behind them.
///
/// Client: void visit(Node expression, State&, const Guards&) for what is evaluated, in order (conditions too, before
/// their guard); State joined(State, const State&); void leaves(Node statement, const State&, const Guards&) at each
/// return, and at the end of the body (with the body). A loop's body is joined with not running it, and walked again when
/// some leave it early. Where a client has them, const Function* expands(Node statement) says which macro a statement is:
/// its body is walked in its place, between void enters(const Function&, Node statement) and void comes_back().
template <class State, class Client> class PathWalk {
 public:
  explicit PathWalk(Client& client) : client_(client) {}

  void run(Node body, State state) {
    find_jumps(body);
    std::optional<State> end = statement(body, std::move(state));
    if (end) {
      client_.leaves(body, *end, guards());
    }
  }

 private:
  using Flow = std::optional<State>; ///< nothing when control does not come out behind a statement
  using Left = Guard::Left;
  static constexpr std::size_t most_expanded = 8; ///< macros in macros

  struct Tail {
    Node empty;     ///< the statement that a macro leaves open: `if (x) ;`
    Node statement; ///< what stands behind its use
    const Function* macro = nullptr;
    Node use;
  };

  [[nodiscard]] Guards guards() const {
    Guards all = guards_;
    all.insert(all.end(), left_.begin(), left_.end());
    return all;
  }
  void visit(Node node, State& state) { client_.visit(node, state, guards()); }

  Flow joined(Flow a, const Flow& b) {
    if (!a) {
      return b;
    }
    return b ? client_.joined(std::move(*a), *b) : std::move(a);
  }

  /// Those for whom a condition around this place, from `first` on, does not hold go on behind what is left.
  void note_leaving(Left left, std::size_t first, std::string_view label = {}) {
    for (std::size_t index = first; index < guards_.size(); ++index) {
      Guard guard = guards_[index];
      guard.taken = !guard.taken;
      guard.left = left;
      guard.label = label;
      const bool is_new = std::none_of(left_.begin(), left_.end(), [&](const Guard& one) {
        return one.condition == guard.condition && one.left == left && one.label == label;
      });
      if (is_new) { // a loop's body is walked again
        left_.push_back(guard);
      }
    }
  }
  void forget(Left left, std::size_t from, std::string_view label = {}) {
    const auto begin = left_.begin() + static_cast<std::ptrdiff_t>(std::min(from, left_.size()));
    left_.erase(std::remove_if(begin, left_.end(),
                               [&](const Guard& one) { return one.left == left && one.label == label; }),
                left_.end());
  }

  const Function* expansion(Node node) {
    if constexpr (requires(Client & client) { client.expands(node); }) {
      return expanded_ < most_expanded ? client_.expands(node) : nullptr;
    }
    return nullptr;
  }

  /// `if (x)` of a macro that leaves open what follows.
  static Node open_end(Node statement) {
    for (Node last = statement; last;) {
      if (last.is("expression_statement")) {
        return last.first() ? Node() : last;
      }
      const bool is_if = last.is("if_statement") && !last.child("alternative");
      if (!is_if && !last.is("for_statement") && !last.is("while_statement")) {
        return {};
      }
      last = last.child(is_if ? "consequence" : "body");
    }
    return {};
  }

  Flow expand(const Function& macro, Node use, Node next, State state) {
    if constexpr (requires(Client & client) { client.comes_back(); }) {
      Node last = macro.body.first();
      while (last.next()) {
        last = last.next();
      }
      tails_.push_back({next ? open_end(last) : Node(), next, &macro, use});
      client_.enters(macro, use);
      ++expanded_;
      Flow end = sequence(macro.body.first(), std::move(state));
      --expanded_;
      client_.comes_back();
      tails_.pop_back();
      return end;
    }
    return state;
  }

  Flow tail(State state) {
    const Tail mine = tails_.back();
    tails_.pop_back();
    if constexpr (requires(Client & client) { client.comes_back(); }) {
      client_.comes_back();
      Flow end = statement(mine.statement, std::move(state));
      client_.enters(*mine.macro, mine.use);
      tails_.push_back(mine);
      return end;
    }
    return state;
  }

  Flow sequence(Node first, Flow state) {
    for (Node node = first; node; node = node.next()) {
      if (node.is("labeled_statement")) {
        state = arrived(node, std::move(state));
      }
      if (!state) {
        continue; // a label may follow
      }
      const Function* macro = expansion(node);
      if (macro == nullptr) {
        state = statement(node, std::move(*state));
        continue;
      }
      Node last = macro->body.first();
      while (last.next()) {
        last = last.next();
      }
      const bool is_open = open_end(last) && node.next();
      const Node next = is_open ? node.next() : Node();
      state = expand(*macro, node, next, std::move(*state));
      node = is_open ? next : node;
    }
    return state;
  }

  Flow branch(Node body, State state, Guard guard) {
    guards_.push_back(guard);
    Flow end = body ? statement(body, std::move(state)) : Flow(std::move(state));
    guards_.pop_back();
    return end;
  }

  Flow if_statement(Node node, State state) {
    const Node condition = node.child("condition");
    visit(condition, state);
    const std::size_t before = left_.size();
    Flow yes = branch(node.child("consequence"), state, {condition, true});
    // Who left in one branch is not missing in the other.
    const Guards of_yes(left_.begin() + static_cast<std::ptrdiff_t>(std::min(before, left_.size())),
                        left_.end());
    left_.resize(std::min(before, left_.size()));
    Node otherwise = node.child("alternative");
    if (otherwise.is("else_clause")) {
      otherwise = otherwise.first();
    }
    Flow no = branch(otherwise, std::move(state), {condition, false});
    left_.insert(left_.end(), of_yes.begin(), of_yes.end());
    return joined(std::move(yes), no);
  }

  Flow loop(Node node, State state) {
    const Node body = node.child("body");
    const Node condition = node.child("condition");
    if (const Node initial = node.child("initializer")) {
      visit(initial, state);
    }
    if (const Node range = node.child("right")) {
      visit(range, state);
    }
    const bool runs = node.is("do_statement");
    if (condition && !runs) {
      visit(condition, state);
    }
    Flow around = runs ? Flow() : Flow(state);
    std::vector<Flow> outer;
    std::swap(outer, breaks_);
    const std::size_t outer_guards = std::exchange(breakable_, guards_.size() + 1);
    const std::size_t before = left_.size();
    ++loops_;
    Flow end = branch(body, std::move(state), {condition, true, true});
    const bool some_left = left_.size() > before;
    if (end) {
      if (const Node update = node.child("update")) {
        visit(update, *end);
      }
      if (condition && runs) {
        visit(condition, *end);
      }
    }
    around = joined(std::move(around), end);
    if (some_left && end && loops_ <= 2) { // the next round goes without them
      around = joined(std::move(around), branch(body, *end, {condition, true, true}));
    }
    --loops_;
    for (const Flow& broken : breaks_) {
      around = joined(std::move(around), broken);
    }
    forget(Left::loop, before);
    breakable_ = outer_guards;
    std::swap(outer, breaks_);
    return around;
  }

  Flow switch_statement(Node node, State state) {
    const Node condition = node.child("condition");
    visit(condition, state);
    std::vector<Flow> outer;
    std::swap(outer, breaks_);
    const std::size_t outer_guards = std::exchange(breakable_, guards_.size() + 1);
    const std::size_t before = left_.size();
    bool has_default = false;
    Flow falling;
    guards_.push_back({condition, true});
    for (Node label = node.child("body").first(); label; label = label.next()) {
      Flow entered = joined(Flow(state), falling);
      has_default = has_default || (label.is("case_statement") && !label.child("value"));
      const Node first =
          label.is("case_statement") && label.child("value") ? label.child("value").next() : label.first();
      falling = label.is("case_statement") ? sequence(first, std::move(entered))
                                           : statement(label, std::move(*entered));
    }
    guards_.pop_back();
    Flow end = has_default ? falling : joined(Flow(std::move(state)), falling);
    for (const Flow& broken : breaks_) {
      end = joined(std::move(end), broken);
    }
    forget(Left::loop, before);
    breakable_ = outer_guards;
    std::swap(outer, breaks_);
    return end;
  }

  void find_jumps(Node body) {
    body.each([this](Node node) {
      if (node.is("goto_statement")) {
        jumps_.push_back(node);
      }
    });
  }

  static std::string_view label_of(Node node) { return node.child("label").text(); }

  /// At a label: those come here that jumped forward; those that jump back come again, as in a loop.
  Flow arrived(Node node, Flow state) {
    const std::string_view label = label_of(node);
    forget(Left::label, 0, label);
    if (const auto waiting = jumped_.find(label); waiting != jumped_.end()) {
      state = joined(std::move(state), waiting->second);
      jumped_.erase(waiting);
    }
    for (const Node jump : jumps_) {
      if (label_of(jump) != label || jump.begin() < node.begin() || jump.tree() != node.tree()) {
        continue;
      }
      for (Node above = jump.parent(); above && above.begin() > node.begin(); above = above.parent()) {
        if (above.is("if_statement")) {
          left_.push_back({above.child("condition"), true, true, Left::label, label});
        }
      }
    }
    return state;
  }

  Flow jump(Node node, State state) {
    const std::string_view label = label_of(node);
    bool is_back = false;
    for (const Guard& one : left_) {
      is_back = is_back || (one.left == Left::label && one.label == label && one.is_loop);
    }
    if (is_back) {
      forget(Left::label, 0, label);
      return {};
    }
    note_leaving(Left::label, 0, label);
    Flow& waiting = jumped_[std::string(label)];
    waiting = joined(Flow(std::move(state)), waiting);
    return {};
  }

  Flow statement(Node node, State state) {
    const std::string_view type = node.type();
    if (type == "compound_statement" || type == "translation_unit" || type == "declaration_list") {
      return sequence(node.first(), std::move(state));
    }
    if (type == "if_statement") {
      return if_statement(node, std::move(state));
    }
    if (type == "for_statement" || type == "while_statement" || type == "do_statement" ||
        type == "for_range_loop") {
      return loop(node, std::move(state));
    }
    if (type == "switch_statement") {
      return switch_statement(node, std::move(state));
    }
    if (type == "labeled_statement") {
      return sequence(node.child("label").next(), std::move(state));
    }
    if (type == "goto_statement") {
      return jump(node, std::move(state));
    }
    if (type == "break_statement" || type == "continue_statement") {
      note_leaving(Left::loop, breakable_);
      breaks_.push_back(std::move(state)); // behind the loop, as after its last round
      return {};
    }
    if (!tails_.empty() && tails_.back().empty == node && node) {
      return tail(std::move(state));
    }
    if (const Function* macro = expansion(node)) {
      return expand(*macro, node, {}, std::move(state));
    }
    visit(node, state);
    if (type == "return_statement" || type == "throw_statement" || type == "co_return_statement") {
      client_.leaves(node, state, guards());
      note_leaving(Left::function, 0);
      return {};
    }
    return state;
  }

  Client& client_;
  Guards guards_; ///< that surround
  Guards left_;   ///< at which some left
  std::vector<Flow> breaks_;
  std::vector<Node> jumps_;
  std::map<std::string, Flow, std::less<>> jumped_;
  std::vector<Tail> tails_;
  std::size_t breakable_ = 0; ///< guards outside of the innermost loop or switch, and its own
  std::size_t loops_ = 0, expanded_ = 0;
};

} // namespace dcuop::source
