#include "ascend_program.hpp"

#include <algorithm>

namespace dcuop::check::ascend {
namespace {

bool ends_block(const Step& step) {
  return step.kind == Step::Kind::leaves || step.kind == Step::Kind::breaks ||
         step.kind == Step::Kind::continues || step.kind == Step::Kind::jumps;
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
      if (const Function* macro = macro_of(child)) {
        const Node next = child.next();
        const bool takes_next = expand(*macro, child, next, into);
        child = takes_next ? next : child;
        continue;
      }
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

  /// NAME; of a macro without parameters.
  [[nodiscard]] const Function* macro_of(Node statement) const {
    const Node only = statement.is("expression_statement") ? statement.first() : Node();
    return only.is("identifier") ? program_.names.model.last_object_macro(only.text(), function_.file)
                                 : nullptr;
  }

  /// Its text in the place of its name; `if (x)` at its end takes what follows. Whether it did.
  bool expand(const Function& macro, Node use, Node next, Steps& into) {
    if (macros_.size() > 8 || !macros_.insert(&macro).second) {
      return false;
    }
    const auto outer = std::exchange(tail_, {next, false});
    Steps steps;
    for (Node child = macro.body.first(); child; child = child.next()) {
      statement(child, steps);
    }
    const bool took = std::exchange(tail_, outer).taken;
    macros_.erase(&macro);
    move_to(use, steps);
    std::move(steps.begin(), steps.end(), std::back_inserter(into));
    return took;
  }

  /// What a macro does is found where it is used.
  void move_to(Node use, Steps& steps) const {
    for (Step& step : steps) {
      const Node node = step.event.node;
      if (step.kind == Step::Kind::event && node && node.tree() != use.tree()) {
        step.event.node = use;
      }
      move_to(use, step.yes);
      move_to(use, step.no);
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

  /// The text with the loop's own variable as "#": what it is called does not matter. Constants as their numbers.
  [[nodiscard]] std::string without_name(Node node, std::string_view variable) const {
    std::string text;
    Offset from = node.begin();
    const auto replace = [&](Node one, const std::string& by) {
      text += std::string(node.text().substr(from - node.begin(), one.begin() - from)) + by;
      from = one.end();
    };
    node.each([&](Node one) {
      const bool is_name = one.is("identifier") && one.field() != "field" && one.begin() >= from;
      if (is_name && one.text() == variable) {
        replace(one, "#");
      } else if (is_name) {
        if (const auto value = program_.names.model.fold(one, &function_)) {
          replace(one, std::to_string(*value));
        }
      }
    });
    return text + std::string(node.text().substr(from - node.begin()));
  }

  [[nodiscard]] std::string trips_of(Node node) const {
    if (node.is("for_statement")) {
      const Node initial = node.child("initializer");
      const Node declared = initial.child("declarator");
      const std::string_view variable =
          declared ? source::declared_name(declared).text() : std::string_view();
      const Node value = declared.child("value");
      std::string update = without_name(node.child("update"), variable);
      for (const std::string_view sign : {"++", "--"}) { // ++i as i++
        const std::string prefix = std::string(sign) + "#";
        update = update == prefix ? "#" + std::string(sign) : update;
      }
      return one_line((value ? without_name(value, variable) : without_name(initial, variable)) + ";" +
                      without_name(node.child("condition"), variable) + ";" + update);
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
    } else if (type == "goto_statement" || type == "labeled_statement") {
      Step step;
      step.kind = type == "goto_statement" ? Step::Kind::jumps : Step::Kind::label;
      step.label = std::string(node.child("label").text());
      into.push_back(std::move(step));
      for (Node child = node.child("label").next(); child; child = child.next()) {
        statement(child, into);
      }
    } else if (type == "else_clause" || type == "attributed_statement") {
      for (Node child = node.first(); child; child = child.next()) {
        statement(child, into);
      }
    } else if (type == "expression_statement" && !node.first() && tail_.next &&
               node.tree() != tail_.next.tree()) { // `if (x) ;`, open for what follows
      tail_.taken = true;
      statement(std::exchange(tail_.next, {}), into);
    } else if (const Function* macro = macro_of(node)) {
      expand(*macro, node, {}, into);
    } else {
      expression(node, into);
    }
  }

  /// Behind the use of a macro that is being expanded.
  struct Tail {
    Node next;
    bool taken = false;
  };
  Program& program_;
  const Function& function_;
  Tail tail_;
  std::set<const Function*> macros_; ///< that are being expanded
};

/// Callees before those that call them.
class PostOrder {
 public:
  explicit PostOrder(const Names& names) : names_(names) {}

  void add(const Function& root) {
    open(root);
    while (!open_.empty()) {
      Frame& top = open_.back();
      if (top.next == top.callees.size()) {
        order.push_back(top.function);
        open_.pop_back();
      } else {
        open(*top.callees[top.next++]); // top is gone from here on
      }
    }
  }
  std::vector<const Function*> order;

 private:
  struct Frame {
    const Function* function = nullptr;
    std::vector<const Function*> callees;
    std::size_t next = 0;
  };

  void open(const Function& function) {
    if (!seen_.insert(&function).second) {
      return;
    }
    Frame frame{&function, {}, 0};
    for (const Call& call : function.calls) {
      for (const auto* all : {&names_.callees(call, function), &names_.model.handed(call)}) {
        frame.callees.insert(frame.callees.end(), all->begin(), all->end());
      }
    }
    open_.push_back(std::move(frame));
  }

  const Names& names_;
  std::set<const Function*> seen_;
  std::vector<Frame> open_;
};

} // namespace

Program::Program(const Names& all_names, const Cores& all_cores) : names(all_names), cores(all_cores) {
  // So that none is read while hundreds of its callers are: calls may be nested deeper than a stack is.
  PostOrder sorted(names);
  for (const auto* all : {&names.model.lambdas(), &names.model.functions()}) {
    for (const auto& function : *all) {
      if (is_device_file(*function->file)) {
        sorted.add(*function);
      }
    }
  }
  for (const Function* function : sorted.order) {
    (void)steps_of(*function);
  }
}

const Steps& Program::steps_of(const Function& function) {
  static const Steps none;
  auto& made = made_[&function];
  if (made == nullptr) {
    made = std::make_unique<Made>();
    Made& mine = *made; // the map may grow meanwhile
    Steps steps = Builder(*this, function).body(function.body);
    const bool is_return = steps.size() == 1 && steps.back().kind == Step::Kind::leaves &&
                           steps.back().node.is("return_statement");
    if (is_return && !function.is_macro) {
      steps.clear();
    }
    mine.steps = std::move(steps);
    mine.is_ready = true;
    return mine.steps;
  }
  return made->is_ready ? made->steps : none; // a function that calls itself
}

} // namespace dcuop::check::ascend
