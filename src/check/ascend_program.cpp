#include "ascend_program.hpp"

#include <algorithm>

namespace dcuop::check::ascend {
namespace {

bool ends_block(const Step& step) {
  return step.kind == Step::Kind::leaves || step.kind == Step::Kind::breaks ||
         step.kind == Step::Kind::continues;
}

class Builder {
 public:
  Builder(Program& program, const Function& function) : program_(program), function_(function) {}

  Steps body(Node node) {
    Steps steps;
    statement(node, steps);
    return steps;
  }

 private:
  void expression(Node node, Steps& into) {
    if (node) {
      Steps found = steps_of_expression(program_, function_, node);
      std::move(found.begin(), found.end(), std::back_inserter(into));
    }
  }

  void block(Node node, Steps& into) {
    std::vector<std::pair<std::string, Node>> pipes;
    for (Node child = node.first(); child; child = child.next()) {
      statement(child, into);
      if (child.is("declaration") && !into.empty() && into.back().kind == Step::Kind::event &&
          into.back().event.kind == Event::Kind::pipe_made && into.back().event.node == child) {
        pipes.emplace_back(into.back().event.object, child);
      }
    }
    for (const auto& [name, made] : pipes) {
      Step step;
      step.event.kind = Event::Kind::pipe_ended;
      step.event.node = made;
      step.event.in = &function_;
      step.event.object = name;
      into.push_back(std::move(step));
    }
  }

  void if_statement(Node node, Steps& into) {
    const Node condition = node.child("condition");
    expression(condition, into);
    Step step;
    step.kind = Step::Kind::branch;
    step.condition = program_.cores.condition(condition, function_);
    if (const Node yes = node.child("consequence")) {
      statement(yes, step.yes);
    }
    Node no = node.child("alternative");
    if (no.is("else_clause")) {
      no = no.first();
    }
    if (no) {
      statement(no, step.no);
    }
    add_branch(std::move(step), into);
  }

  static void add_branch(Step step, Steps& into) {
    if (!step.yes.empty() || !step.no.empty()) {
      into.push_back(std::move(step));
    }
  }

  static std::string trips_of(Node node) {
    if (node.is("for_statement")) {
      return one_line(std::string(node.child("initializer").text()) + ";" +
                      std::string(node.child("condition").text()) + ";" +
                      std::string(node.child("update").text()));
    }
    return one_line(node.child(node.is("for_range_loop") ? "right" : "condition").text());
  }

  void loop(Node node, Steps& into) {
    const std::string test = one_line(node.child("condition").text());
    if (node.is("do_statement") && is_any_of(test, {"(0)", "(false)"})) { // of a macro that is one statement
      statement(node.child("body"), into);
      return;
    }
    expression(node.child("initializer"), into);
    expression(node.child("right"), into);
    const Node condition = node.child("condition");
    Step step;
    step.kind = Step::Kind::loop;
    step.runs_once = node.is("do_statement");
    step.condition = program_.cores.condition(condition, function_);
    step.trips = trips_of(node);
    step.is_endless = !node.is("for_range_loop") && is_any_of(test, {"", "true", "1", "(true)", "(1)"});
    if (!step.runs_once) {
      expression(condition, step.yes);
    }
    if (const Node inside = node.child("body")) {
      statement(inside, step.yes);
    }
    expression(node.child("update"), step.yes);
    if (step.runs_once) {
      expression(condition, step.yes);
    }
    if (!step.yes.empty()) {
      into.push_back(std::move(step));
    }
  }

  /// As branches beside one another; the statements of a case go on into the next until a break.
  void switch_statement(Node node, Steps& into) {
    const Node condition = node.child("condition");
    expression(condition, into);
    std::vector<Steps> bodies;
    bool has_default = false;
    std::vector<Steps> open; // cases that fall through
    for (Node label = node.child("body").first(); label; label = label.next()) {
      if (!label.is("case_statement")) {
        continue;
      }
      has_default = has_default || !label.child("value");
      Steps steps;
      for (Node child = label.child("value") ? label.child("value").next() : label.first(); child;
           child = child.next()) {
        statement(child, steps);
      }
      open.emplace_back();
      const bool ends = !steps.empty() && ends_block(steps.back());
      if (ends && steps.back().kind == Step::Kind::breaks) {
        steps.pop_back();
      }
      for (Steps& one : open) {
        one.insert(one.end(), steps.begin(), steps.end());
      }
      if (ends || !label.next()) {
        std::move(open.begin(), open.end(), std::back_inserter(bodies));
        open.clear();
      }
    }
    Steps rest;
    for (auto one = bodies.rbegin(); one != bodies.rend(); ++one) {
      if (rest.empty() && one == bodies.rbegin() && has_default) {
        rest = std::move(*one);
        continue;
      }
      Step step;
      step.kind = Step::Kind::branch;
      step.condition = program_.cores.condition(condition, function_);
      step.yes = std::move(*one);
      step.no = std::move(rest);
      rest.clear();
      add_branch(std::move(step), rest);
    }
    std::move(rest.begin(), rest.end(), std::back_inserter(into));
  }

  void leave(Step::Kind kind, Node node, Steps& into) {
    Step step;
    step.kind = kind;
    step.node = node;
    into.push_back(std::move(step));
  }

  void statement(Node node, Steps& into) {
    const std::string_view type = node.type();
    if (type == "compound_statement" || type == "translation_unit" || type == "declaration_list") {
      block(node, into);
    } else if (type == "if_statement") {
      if_statement(node, into);
    } else if (type == "for_statement" || type == "while_statement" || type == "do_statement" ||
               type == "for_range_loop") {
      loop(node, into);
    } else if (type == "switch_statement") {
      switch_statement(node, into);
    } else if (type == "return_statement") {
      expression(node, into);
      leave(Step::Kind::leaves, node, into);
    } else if (type == "break_statement") {
      leave(Step::Kind::breaks, node, into);
    } else if (type == "continue_statement") {
      leave(Step::Kind::continues, node, into);
    } else if (type == "labeled_statement" || type == "else_clause" || type == "attributed_statement") {
      for (Node child = node.first(); child; child = child.next()) {
        statement(child, into);
      }
    } else {
      expression(node, into);
    }
  }

  Program& program_;
  const Function& function_;
};

} // namespace

const Steps& Program::steps_of(const Function& function) {
  constexpr std::size_t deepest = 100; // calls in calls, each of which is several frames of the stack here
  static const Steps none;
  auto& made = made_[&function];
  if (made == nullptr) {
    if (open_ == deepest) {
      return none;
    }
    made = std::make_unique<Made>();
    Made& mine = *made; // the map may grow meanwhile
    ++open_;
    Steps steps = Builder(*this, function).body(function.body);
    --open_;
    while (!steps.empty() && steps.back().kind == Step::Kind::leaves &&
           steps.back().node.is("return_statement") && steps.size() == 1) {
      steps.pop_back(); // a return and nothing else
    }
    mine.steps = std::move(steps);
    mine.is_ready = true;
    return mine.steps;
  }
  return made->is_ready ? made->steps : none; // a function that calls itself
}

} // namespace dcuop::check::ascend
