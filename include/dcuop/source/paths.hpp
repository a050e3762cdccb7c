#pragma once
// Ways through a function: which expressions run, in which order, under which conditions.

#include <functional>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/source/model.hpp"

namespace dcuop::source {

/// A condition that was decided on the way.
struct Guard {
  Node condition;
  bool taken = true;    ///< it holds
  bool is_loop = false; ///< it is decided again and again
};
using Guards = std::vector<Guard>;

/// How a value differs among those that run a kernel.
struct Variance {
  bool thread = false; ///< among the threads of a block
  bool block = false;  ///< among the blocks of a grid (cores of a launch)
  Variance& operator|=(Variance other) {
    thread = thread || other.thread;
    block = block || other.block;
    return *this;
  }
  [[nodiscard]] bool any() const { return thread || block; }
};
/// Names (of variables and of functions) whose values differ from the start.
using VarianceSeeds = std::map<std::string, Variance, std::less<>>;
[[nodiscard]] const VarianceSeeds& hip_seeds();

/// The variance of a function's variables, whatever the order of its statements. What lies in memory that threads share
/// is taken to be the same for all of them; parameters as `parameters` says.
class VarianceTable {
 public:
  VarianceTable(const Function& function, const VarianceSeeds& seeds,
                const std::map<std::string, Variance>& parameters = {});
  [[nodiscard]] Variance of(Node expression) const;

 private:
  const VarianceSeeds& seeds_;
  std::map<std::string, Variance, std::less<>> names_;
};

/// Walks the statements of a body. State is copied at branches and joined behind them.
///
/// Client: void visit(Node expression, State&, const Guards&) for what is evaluated, in order (conditions too, before
/// their guard); State joined(State, const State&); void leaves(Node statement, const State&, const Guards&) at each
/// return, and at the end of the body (with the body). A loop's body is walked once, and joined with not running it.
template <class State, class Client> class PathWalk {
 public:
  explicit PathWalk(Client& client) : client_(client) {}

  void run(Node body, State state) {
    std::optional<State> end = statement(body, std::move(state));
    if (end) {
      client_.leaves(body, *end, guards_);
    }
  }

 private:
  using Flow = std::optional<State>; ///< nothing when control does not come out behind a statement

  Flow joined(Flow a, const Flow& b) {
    if (!a) {
      return b;
    }
    return b ? client_.joined(std::move(*a), *b) : std::move(a);
  }

  Flow sequence(Node first, Flow state) {
    // `if (uniform) return;` guards what follows, so guards that leave the block are kept until its end.
    const std::size_t depth = guards_.size();
    for (Node node = first; node && state; node = node.next()) {
      state = statement(node, std::move(*state), true);
    }
    guards_.resize(depth);
    return state;
  }

  Flow branch(Node body, State state, Guard guard) {
    guards_.push_back(guard);
    Flow end = body ? statement(body, std::move(state)) : Flow(std::move(state));
    guards_.pop_back();
    return end;
  }

  Flow if_statement(Node node, State state, bool in_sequence) {
    const Node condition = node.child("condition");
    client_.visit(condition, state, guards_);
    Flow yes = branch(node.child("consequence"), state, {condition, true, false});
    Node otherwise = node.child("alternative");
    if (otherwise.is("else_clause")) {
      otherwise = otherwise.first();
    }
    Flow no = branch(otherwise, std::move(state), {condition, false, false});
    if (in_sequence && (!yes || !no) && (yes || no)) {
      guards_.push_back({condition, bool(yes), false});
    }
    return joined(std::move(yes), no);
  }

  Flow loop(Node node, State state) {
    const Node body = node.child("body");
    const Node condition = node.child("condition");
    if (const Node initial = node.child("initializer")) {
      client_.visit(initial, state, guards_);
    }
    if (const Node range = node.child("right")) {
      client_.visit(range, state, guards_);
    }
    const bool runs = node.is("do_statement");
    if (condition && !runs) {
      client_.visit(condition, state, guards_);
    }
    Flow around = runs ? Flow() : Flow(state);
    std::vector<Flow> outer;
    std::swap(outer, breaks_);
    Flow end = branch(body, std::move(state), {condition, true, true});
    if (end) {
      if (const Node update = node.child("update")) {
        client_.visit(update, *end, guards_);
      }
      if (condition && runs) {
        client_.visit(condition, *end, guards_);
      }
    }
    around = joined(std::move(around), end);
    for (const Flow& broken : breaks_) {
      around = joined(std::move(around), broken);
    }
    std::swap(outer, breaks_);
    return around;
  }

  Flow switch_statement(Node node, State state) {
    const Node condition = node.child("condition");
    client_.visit(condition, state, guards_);
    std::vector<Flow> outer;
    std::swap(outer, breaks_);
    bool has_default = false;
    Flow falling;
    guards_.push_back({condition, true, false});
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
    std::swap(outer, breaks_);
    return end;
  }

  Flow statement(Node node, State state, bool in_sequence = false) {
    const std::string_view type = node.type();
    if (type == "compound_statement" || type == "translation_unit" || type == "declaration_list") {
      return sequence(node.first(), std::move(state));
    }
    if (type == "if_statement") {
      return if_statement(node, std::move(state), in_sequence);
    }
    if (type == "for_statement" || type == "while_statement" || type == "do_statement" ||
        type == "for_range_loop") {
      return loop(node, std::move(state));
    }
    if (type == "switch_statement") {
      return switch_statement(node, std::move(state));
    }
    if (type == "break_statement") {
      breaks_.push_back(std::move(state));
      return {};
    }
    if (type == "continue_statement") {
      breaks_.push_back(std::move(state)); // behind the loop, as after its last round
      return {};
    }
    client_.visit(node, state, guards_);
    if (type == "return_statement" || type == "throw_statement" || type == "co_return_statement") {
      client_.leaves(node, state, guards_);
      return {};
    }
    return state;
  }

  Client& client_;
  Guards guards_;
  std::vector<Flow> breaks_;
};

} // namespace dcuop::source
