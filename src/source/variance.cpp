#include "dcuop/source/variance.hpp"

#include <algorithm>
#include <memory>

namespace dcuop::source {
namespace {

/// The call that a name is the callee of; nothing when it is not one.
Node called_by(Node name) {
  Node node = name;
  for (Node above = node.parent(); above; node = above, above = above.parent()) {
    if (above.is("call_expression")) {
      return node.field() == "function" ? above : Node();
    }
    const bool is_last = node.field() == "name" || node.field() == "field" || !node.next();
    const std::string_view type = above.type();
    const bool names = type == "qualified_identifier" || type == "template_function" ||
                       type == "field_expression" || type == "dependent_name" || type == "template_method" ||
                       type == "parenthesized_expression";
    if (!names || (!is_last && type != "template_function" && type != "template_method")) {
      return {};
    }
  }
  return {};
}

/// Conditions between a node and the body that it is in.
template <class Visit> void each_condition_around(Node node, Node body, const Visit& visit) {
  for (Node above = node.parent(); above && above != body; above = above.parent()) {
    if (above.is("lambda_expression")) {
      return;
    }
    if (above.is("if_statement") || above.is("switch_statement")) {
      visit(above.child("condition"));
    }
  }
}

bool is_literal(Node node) {
  return node.type().ends_with("_literal") || node.is("true") || node.is("false");
}

} // namespace

bool is_device_code(const Function& function) {
  return function.is_macro || function.has_mark("__device__") || function.has_mark("__global__");
}

const VarianceSeeds& hip_seeds() {
  static const VarianceSeeds seeds = {{"threadIdx", {true, false}},
                                      {"blockIdx", {false, true}},
                                      {"hipThreadIdx_x", {true, false}},
                                      {"hipThreadIdx_y", {true, false}},
                                      {"hipThreadIdx_z", {true, false}},
                                      {"hipBlockIdx_x", {false, true}},
                                      {"hipBlockIdx_y", {false, true}},
                                      {"hipBlockIdx_z", {false, true}},
                                      {"__lane_id", {true, false}},
                                      {"thread_rank", {true, true}},
                                      {"block_rank", {false, true}},
                                      {"group_index", {false, true}},
                                      {"thread_index", {true, false}},
                                      {"__builtin_amdgcn_workitem_id_x", {true, false}},
                                      {"__builtin_amdgcn_workitem_id_y", {true, false}},
                                      {"__builtin_amdgcn_workitem_id_z", {true, false}},
                                      {"__builtin_amdgcn_workgroup_id_x", {false, true}},
                                      {"__builtin_amdgcn_workgroup_id_y", {false, true}},
                                      {"__builtin_amdgcn_workgroup_id_z", {false, true}}};
  return seeds;
}

bool Results::set(const Function& function, Result result) {
  Result& known = results_[&function];
  if (known == result) {
    return false;
  }
  known = std::move(result);
  names_.insert(function.name);
  return true;
}

Variance Results::of_name(Node name, const Function& function) const {
  if (!is_known(name.text())) {
    return {};
  }
  if (const Function* macro = model_.object_macro(name.text(), function.file)) {
    const auto known = results_.find(macro);
    return known == results_.end() ? Variance() : known->second.returned;
  }
  const Node call = called_by(name);
  if (!call) {
    return {};
  }
  Variance all{true, true}; // names are all that is known of methods: every one that may be meant
  bool any = false;
  for (const Function* callee : callees_(call_of(call, *function.variants.front()), function)) {
    const auto known = results_.find(callee);
    all &= known == results_.end() ? Variance() : known->second.returned;
    any = true;
  }
  return any ? all : Variance();
}

void Results::set_members(const std::string& scope, const Variances& members) {
  members_[scope] = members;
  for (const auto& [name, variance] : members) {
    fields_.insert(name);
  }
}

Variance Results::of_field(Node field, const Function& function) const {
  const Node object = field.parent().is("field_expression") ? field.parent().child("argument") : Node();
  if (!object || !fields_.contains(field.text())) {
    return {};
  }
  std::string type = model_.type_of(object, function);
  type = type.substr(0, type.find('<'));
  type = type.substr(type.find("const ") == 0 ? std::string_view("const ").size() : 0);
  type.erase(
      std::remove_if(type.begin(), type.end(), [](char c) { return c == '*' || c == '&' || c == ' '; }),
      type.end());
  Variance variance;
  for (const auto& [scope, members] : members_) {
    const auto member = members.find(field.text());
    if (!type.empty() && member != members.end() && ("::" + scope).ends_with("::" + type)) {
      variance |= member->second;
    }
  }
  return variance;
}

void Results::each_given(Node node, const Function& function,
                         const std::function<void(Node, Variance)>& give) const {
  const std::string name = last_name(node.child("function"));
  if (!is_known(name)) {
    return;
  }
  const Call call = call_of(node, *function.variants.front());
  const auto& callees = callees_(call, function);
  if (callees.size() != 1) {
    return;
  }
  const auto known = results_.find(callees.front());
  for (std::size_t index = 0; known != results_.end() && index < call.arguments.size(); ++index) {
    const std::size_t position = parameter_index(call, *callees.front(), index);
    if (position < known->second.parameters.size() && known->second.parameters[position].any()) {
      give(call.arguments[index], known->second.parameters[position]);
    }
  }
}

VarianceTable::VarianceTable(const Function& function, const VarianceSeeds& seeds, const Variances& given,
                             const Results* results)
    : function_(function), seeds_(seeds), results_(results), names_(given) {
  const auto shared = shared_names();
  for (const std::string& name : shared) {
    names_.erase(name);
  }
  bool changed = true;
  for (int round = 0; changed && round < 8; ++round) {
    changed = read_once(shared);
  }
}

std::set<std::string, std::less<>> VarianceTable::shared_names() const {
  std::set<std::string, std::less<>> shared;
  for (const Variant* variant : function_.variants) {
    for (const Mark& mark : variant->marks) {
      if (mark.name != "__shared__" || mark.at < function_.body.begin() || mark.at >= function_.body.end()) {
        continue;
      }
      function_.body.each([&](Node node) {
        const bool near = node.is("declaration") && mark.at < node.end() && mark.at + 40 > node.begin();
        if (near) {
          shared.insert(std::string(declared_name(node.child("declarator")).text()));
        }
      });
    }
  }
  return shared;
}

bool VarianceTable::take(std::string name, Variance value) {
  if (name.empty() || !value.any()) {
    return false;
  }
  Variance& known = names_[std::move(name)];
  const Variance before = known;
  known |= value;
  return !(before == known);
}

bool VarianceTable::read_once(const std::set<std::string, std::less<>>& shared) {
  bool changed = false;
  std::set<std::string_view> texts;
  std::set<std::string_view> alone; // what is assigned in two places may be so on every way
  function_.body.each([&](Node node) {
    if (node.is("assignment_expression") && !texts.insert(node.text()).second) {
      alone.erase(node.text());
    } else if (node.is("assignment_expression")) {
      alone.insert(node.text());
    }
  });
  const auto assign = [&](Node target, Variance value) {
    if (target.is("subscript_expression") || target.is("pointer_expression")) {
      return; // memory
    }
    const bool mine = target.is("field_expression") && target.child("argument").is("this");
    std::string name = mine ? std::string(target.child("field").text()) : base_name(target);
    if (!shared.contains(name)) {
      changed = take(std::move(name), value) || changed;
    }
  };
  function_.node.each([&](Node node) {
    if (node.is("init_declarator")) {
      assign(declared_name(node), of(node.child("value")));
    } else if (node.is("field_initializer")) { // of a constructor
      changed = take(last_name(node.first()), of(node.first().next())) || changed;
    } else if (node.is("assignment_expression")) {
      Variance value = of(node.child("right"));
      if (is_literal(node.child("right")) && alone.contains(node.text())) { // a flag that some set
        each_condition_around(node, function_.body, [&](Node condition) { value |= of(condition); });
      }
      assign(node.child("left"), value);
    } else if (results_ != nullptr && node.is("call_expression")) {
      results_->each_given(node, function_, assign);
    }
  });
  return changed;
}

Variance VarianceTable::of(Node expression, const Variances& instead) const {
  Variance variance;
  Offset same = 0; // up to here it is what a vote of the block gives: the same for all its threads
  expression.each([&](Node node) {
    const std::string_view type = node.type();
    if (type == "call_expression" && node.child("function").text().starts_with("__syncthreads_")) {
      same = std::max(same, node.end());
    }
    if (node.begin() < same) {
      return;
    }
    if (type != "identifier" && type != "field_identifier") {
      return;
    }
    if (const auto replaced = instead.find(node.text()); replaced != instead.end() && type == "identifier") {
      variance |= replaced->second;
      return;
    }
    if (const auto seed = seeds_.find(node.text()); seed != seeds_.end()) {
      variance |= seed->second;
    }
    if (const auto name = names_.find(node.text()); name != names_.end() && type == "identifier") {
      variance |= name->second;
    }
    if (results_ != nullptr) {
      variance |= results_->of_name(node, function_);
      variance |= type == "field_identifier" ? results_->of_field(node, function_) : Variance();
    }
  });
  return variance;
}

Results::Result VarianceTable::result() const {
  Results::Result result;
  if (function_.is_macro) {
    result.returned = of(function_.body);
    return result;
  }
  std::set<std::string_view> texts;
  Variance decided;
  function_.body.each([&](Node node) {
    if (node.is("return_statement") && node.first()) {
      bool inner = false; // a lambda's
      for (Node above = node.parent(); above && above != function_.body; above = above.parent()) {
        inner = inner || above.is("lambda_expression");
      }
      if (!inner) {
        texts.insert(node.text());
        result.returned |= of(node);
        each_condition_around(node, function_.body, [&](Node condition) { decided |= of(condition); });
      }
    }
  });
  if (texts.size() > 1) {
    result.returned |= decided;
  }
  for (const Parameter& parameter : function_.parameters) {
    const bool is_output =
        parameter.type.find('&') != std::string::npos && parameter.type.find("const ") == std::string::npos;
    const auto name = names_.find(parameter.name);
    result.parameters.push_back(is_output && name != names_.end() ? name->second : Variance());
  }
  return result;
}

ModelVariance::ModelVariance(const Model& model, const VarianceSeeds& seeds)
    : model_(model), seeds_(seeds),
      results_(model, [&model](const Call& call, const Function&) -> const std::vector<const Function*>& {
        return model.callees(call);
      }) {
  for (const Declared& declared : model.declared()) {
    if (declared.node.is("field_declaration")) { // names of a namespace are not its functions' own
      member_names_[declared.scope].insert(declared.name);
      all_members_.insert(declared.name);
    }
  }
  const auto add = [this](const Function& function) {
    if (!is_device_code(function)) {
      return;
    }
    if (member_names_.contains(function.scope) && !function.scope.empty()) {
      methods_[function.scope].push_back(&function);
    }
    for (const Call& call : function.calls) {
      for (const Function* callee : model_.callees(call)) {
        callers_[callee].insert(&function);
      }
    }
    function.body.each([&](Node node) {
      const bool is_field = node.is("field_identifier") && all_members_.contains(node.text());
      if (is_field || (node.is("identifier") && model_.object_macro(node.text(), function.file) != nullptr)) {
        users_[std::string(node.text())].insert(&function);
      }
    });
    ask_again(&function);
  };
  for (const auto& macro : model.object_macros()) {
    add(*macro);
  }
  for (const auto& function : model.functions()) {
    add(*function);
  }
  for (const auto& function : model.lambdas()) {
    add(*function);
  }
  while (!waiting_.empty()) {
    const Function* next = waiting_.front();
    waiting_.pop_front();
    is_waiting_.erase(next);
    process(*next);
  }
}

void ModelVariance::ask_again(const Function* function) {
  if (is_device_code(*function) && is_waiting_.insert(function).second) {
    waiting_.push_back(function);
  }
}

Variances ModelVariance::members_of(const Function& function) const {
  const auto found = members_.find(function.scope);
  return found == members_.end() || function.scope.empty() ? Variances() : found->second;
}

void ModelVariance::process(const Function& function) {
  const Variances members = members_of(function);
  Variances given = members;
  for (const auto& [name, variance] : parameters_[&function]) {
    given[name] |= variance;
  }
  auto table = std::make_unique<VarianceTable>(function, seeds_, given, &results_);
  // What it returns for what it is given is asked of the arguments where it is called.
  const bool same = given == members || function.is_macro;
  Results::Result result =
      same ? table->result() : VarianceTable(function, seeds_, members, &results_).result();
  const bool any = result.returned.any() || std::any_of(result.parameters.begin(), result.parameters.end(),
                                                        [](Variance one) { return one.any(); });
  if (any && results_.set(function, std::move(result))) {
    for (const Function* user : function.is_object_like ? users_[function.name] : callers_[&function]) {
      ask_again(user);
    }
  }
  spread_arguments(function, *table);
  spread_members(function, *table);
  tables_[&function] = std::move(table);
}

void ModelVariance::spread_arguments(const Function& function, const VarianceTable& table) {
  for (const Call& call : function.calls) {
    const auto& callees = model_.callees(call);
    const Function* callee = callees.size() == 1 ? callees.front() : nullptr; // else another may be meant
    if (callee == nullptr || callee == &function || callee->has_mark("__global__") ||
        !is_device_code(*callee)) {
      continue;
    }
    bool changed = false;
    Variances& parameters = parameters_[callee];
    const auto add = [&](const std::string& name, Variance variance) {
      Variance& known = parameters[name];
      const Variance before = known;
      known |= variance;
      changed = changed || !(before == known);
    };
    if (callee->is_macro || callee->is_lambda) { // it sees what its user sees
      for (const auto& [name, variance] : table.names()) {
        if (callee->parameter(name) == nullptr) {
          add(name, variance);
        }
      }
    }
    for (std::size_t index = 0; index < call.arguments.size(); ++index) {
      const std::size_t position = parameter_index(call, *callee, index);
      if (position < callee->parameters.size()) {
        add(callee->parameters[position].name, table.of(call.arguments[index]));
      }
    }
    if (changed) {
      ask_again(callee);
    }
  }
}

void ModelVariance::spread_members(const Function& function, const VarianceTable& table) {
  const auto names = member_names_.find(function.scope);
  if (function.scope.empty() || names == member_names_.end()) {
    return;
  }
  Variances& members = members_[function.scope];
  bool changed = false;
  for (const auto& [name, variance] : table.names()) {
    if (names->second.contains(name) && function.parameter(name) == nullptr && variance.any()) {
      Variance& known = members[name];
      const Variance before = known;
      known |= variance;
      changed = changed || !(before == known);
    }
  }
  if (changed) {
    results_.set_members(function.scope, members);
    for (const Function* method : methods_[function.scope]) {
      ask_again(method);
    }
    for (const auto& [name, variance] : members) {
      for (const Function* user : users_[name]) {
        ask_again(user);
      }
    }
  }
}

const VarianceTable& ModelVariance::of(const Function& function) const {
  return *tables_.at(&function);
}

} // namespace dcuop::source
