// Which functions a called variable holds: lambdas, pointers to functions, objects with an operator ().
#include <algorithm>

#include "collect.hpp"

namespace dcuop::source {
namespace {

using Held = std::map<std::string, std::vector<const Function*>, std::less<>>; ///< by a variable's name

void add(std::vector<const Function*>& all, const std::vector<const Function*>& more) {
  for (const Function* one : more) {
    if (std::find(all.begin(), all.end(), one) == all.end()) {
      all.push_back(one);
    }
  }
}

/// f of f, (f), std::move(f), std::ref(f), &f.
std::string_view variable_in(Node argument) {
  for (int depth = 0; argument && depth < 4; ++depth) {
    if (argument.is("identifier")) {
      return argument.text();
    }
    if (argument.is("call_expression")) {
      const std::string name = last_name(argument.child("function"));
      argument = name == "move" || name == "ref" || name == "cref" || name == "forward"
                     ? argument.child("arguments").first()
                     : Node();
    } else if (argument.is("parenthesized_expression")) {
      argument = argument.first();
    } else {
      argument = argument.is("pointer_expression") ? argument.child("argument") : Node();
    }
  }
  return {};
}

} // namespace

class LambdaLinks {
 public:
  explicit LambdaLinks(Model& model) : model_(model) {}

  void link() {
    for (const auto& function : model_.functions_) {
      find_lambdas(*function);
    }
    for (const auto& function : model_.functions_) {
      find_pointers(*function);
      hand_on(*function);
    }
    while (!waiting_.empty()) { // they hand on what they were handed
      const Function* next = waiting_.back();
      waiting_.pop_back();
      hand_on(*next);
    }
    for (const auto& function : model_.functions_) {
      find_calls(*function);
    }
    for (const auto& lambda : model_.lambdas_) {
      find_calls(*lambda);
    }
  }

 private:
  static auto key(const Call& call) {
    return std::tuple(call.node.tree(), call.node.begin(), call.node.end());
  }

  void find_lambdas(const Function& function) {
    if (function.is_macro || function.name.starts_with("lambda ")) { // a bound one is part of another
      return;
    }
    function.body.each([&](Node node) {
      if (node.is("lambda_expression") && node.child("body")) {
        model_.lambdas_.push_back(lambda_function(function, node));
        const Function* made = model_.lambdas_.back().get();
        model_.lambda_by_node_[{node.tree(), node.begin()}] = made;
        if (made->name != "lambda") {
          held_[&function][made->name].push_back(made);
        }
      }
    });
  }

  /// void (*f)() = wait; auto f = &wait;
  void find_pointers(const Function& function) {
    function.body.each([&](Node node) {
      const Node value = node.is("init_declarator") ? node.child("value") : Node();
      if (!value.is("identifier") && !value.is("pointer_expression")) {
        return;
      }
      const std::string_view name = variable_in(value);
      if (!name.empty() && model_.by_name_.contains(name) && function.parameter(name) == nullptr) {
        add(held_[&function][std::string(declared_name(node).text())], model_.named(name, function.file));
      }
    });
  }

  [[nodiscard]] std::vector<const Function*> held_by(Node argument, const Function& function) const {
    if (argument.is("lambda_expression")) {
      const Function* lambda = model_.lambda(argument);
      return lambda == nullptr ? std::vector<const Function*>() : std::vector{lambda};
    }
    return held_by(variable_in(argument), function);
  }
  [[nodiscard]] std::vector<const Function*> held_by(std::string_view name, const Function& function) const {
    const auto variables = name.empty() ? held_.end() : held_.find(&function);
    if (variables == held_.end()) {
      return {};
    }
    const auto held = variables->second.find(name);
    return held == variables->second.end() ? std::vector<const Function*>() : held->second;
  }

  /// What a function's calls are given, their callees' parameters hold.
  void hand_on(const Function& function) {
    for (const Call& call : function.calls) {
      for (std::size_t index = 0; index < call.arguments.size(); ++index) {
        const auto given = held_by(call.arguments[index], function);
        if (given.empty()) {
          continue;
        }
        for (const Function* callee : model_.callees(call)) {
          const std::size_t position = parameter_index(call, *callee, index);
          if (position >= callee->parameters.size() || callee == &function) {
            continue;
          }
          auto& held = held_[callee][callee->parameters[position].name];
          const std::size_t before = held.size();
          add(held, given);
          if (held.size() != before) {
            waiting_.push_back(callee);
          }
        }
      }
    }
  }

  void find_calls(const Function& function) {
    for (const Call& call : function.calls) {
      for (const Node argument : call.arguments) {
        if (const auto given = held_by(variable_in(argument), function); !given.empty()) {
          add(model_.handed_[key(call)], given);
        }
      }
      if (call.receiver || call.qualified != call.name || !call.node.is("call_expression")) {
        continue;
      }
      auto held = held_by(call.name, function);
      if (held.empty() && !model_.by_name_.contains(call.name)) {
        held = operators_of(call.name, function);
      }
      if (!held.empty()) {
        model_.held_[key(call)] = std::move(held);
      }
    }
  }

  /// Of an object whose class has an operator ().
  [[nodiscard]] std::vector<const Function*> operators_of(const std::string& name,
                                                          const Function& function) const {
    std::vector<const Function*> all;
    if (!model_.by_name_.contains("operator()")) {
      return all;
    }
    std::string type = model_.type_of(name, function);
    type = type.substr(0, type.find('<'));
    type.erase(std::remove_if(type.begin(), type.end(), [](char c) { return c == '&' || c == ' '; }),
               type.end());
    if (type.starts_with("const")) {
      type.erase(0, std::string_view("const").size());
    }
    for (const Function* one : model_.named("operator()", function.file)) {
      if (!type.empty() && ("::" + one->scope).ends_with("::" + type)) {
        all.push_back(one);
      }
    }
    return all;
  }

  Model& model_;
  std::map<const Function*, Held> held_;
  std::vector<const Function*> waiting_;
};

void Model::index_lambdas() {
  LambdaLinks(*this).link();
}

} // namespace dcuop::source
