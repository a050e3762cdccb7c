#include "ascend_cores.hpp"

#include <algorithm>

namespace dcuop::check::ascend {
namespace {

using source::Variance;
using source::VarianceTable;

// https://www.hiascend.com/document, "GetBlockIdx", "GetSubBlockIdx": `thread` is the vector core of a pair here.
const source::VarianceSeeds& seeds() {
  static const source::VarianceSeeds all = {
      {"GetBlockIdx", {false, true}},    {"GetBlockIdxImpl", {false, true}},
      {"get_block_idx", {false, true}},  {"block_idx", {false, true}},
      {"get_coreid", {false, true}},     {"GetSubBlockIdx", {true, false}},
      {"get_subblockid", {true, false}}, {"GetSubBlockIdxImpl", {true, false}}};
  return all;
}

Node unwrapped(Node node) {
  while (node.is("condition_clause") || node.is("parenthesized_expression")) {
    const Node inner = node.child("value") ? node.child("value") : node.first();
    if (!inner) {
      return node;
    }
    node = inner;
  }
  return node;
}

bool is_index_call(Node node) {
  return node.is("call_expression") &&
         is_any_of(source::last_name(node.child("function")), {"GetBlockIdx", "get_block_idx"});
}

struct SidesOf {
  Sides yes = both_sides, no = both_sides;
};

SidesOf sides_of(Node node) {
  node = unwrapped(node);
  if (node.is("identifier")) {
    const std::string_view name = node.text();
    return name == "AIV_ASCEND_" ? SidesOf{aiv, aic} : name == "AIC_ASCEND_" ? SidesOf{aic, aiv} : SidesOf();
  }
  if (node.is("unary_expression") && node.child("operator").text() == "!") {
    const SidesOf inner = sides_of(node.child("argument"));
    return {inner.no, inner.yes};
  }
  if (!node.is("binary_expression")) {
    return {};
  }
  const std::string_view sign = node.child("operator").text();
  const Node left = node.child("left");
  const Node right = node.child("right");
  if (sign == "&&" || sign == "||") {
    const SidesOf a = sides_of(left);
    const SidesOf b = sides_of(right);
    const auto narrow = [](Sides x, Sides y) { return static_cast<Sides>(x & y); };
    const auto wide = [](Sides x, Sides y) { return static_cast<Sides>(x | y); };
    return sign == "&&" ? SidesOf{narrow(a.yes, b.yes), wide(a.no, b.no)}
                        : SidesOf{wide(a.yes, b.yes), narrow(a.no, b.no)};
  }
  if ((sign == "==" || sign == "!=") && contains(left.text(), "g_coreType")) {
    const std::string core = source::last_name(right);
    const Sides named = core == "AIC" ? aic : core == "AIV" ? aiv : both_sides;
    if (named != both_sides) {
      const auto other = static_cast<Sides>(both_sides & ~named);
      return sign == "==" ? SidesOf{named, other} : SidesOf{other, named};
    }
  }
  return {};
}

std::string key_in(Node node) {
  std::string key;
  node.each([&key](Node one) {
    if (one.is("call_expression") && source::last_name(one.child("function")) == "TILING_KEY_IS") {
      key = one_line(one.child("arguments").first().text());
    } else if (one.is("identifier") && one.text() == "TILING_KEY_VAR" && key.empty()) {
      key = "TILING_KEY_VAR";
    }
  });
  return key;
}

std::string assigned_name(Node target) {
  if (target.is("identifier")) {
    return std::string(target.text());
  }
  const bool mine = target.is("field_expression") && target.child("argument").is("this");
  return mine ? std::string(target.child("field").text()) : std::string();
}

} // namespace

std::string Condition::text() const {
  const Node inner = unwrapped(node);
  if (in == nullptr || !inner) {
    return {};
  }
  const bool is_here = inner.tree() == in->node.tree(); // and not in a macro's text
  return one_line(is_here
                      ? std::string_view(in->file->text).substr(inner.begin(), inner.end() - inner.begin())
                      : inner.text());
}

bool is_device_file(const File& file) {
  for (const source::Variant& variant : file.masked.variants) {
    for (const source::Mark& mark : variant.marks) {
      if (mark.name == "__aicore__" || mark.name == "__global__" || mark.name == "__sk__") {
        return true;
      }
    }
  }
  return false;
}

Cores::Cores(const Names& names)
    : names_(names),
      results_(names.model,
               [&names](const Call& call, const Function& in) -> const std::vector<const Function*>& {
                 return names.callees(call, in);
               }) {
  std::set<const File*> files;
  for (const auto& file : names.model.files()) {
    if (is_device_file(*file)) {
      files.insert(file.get());
    }
  }
  const auto& model = names.model;
  for (const auto* all : {&model.object_macros(), &model.functions(), &model.lambdas()}) {
    for (const auto& function : *all) {
      if (function->is_macro || files.contains(function->file)) {
        take(*function);
      }
    }
  }
  while (!waiting_.empty()) {
    const Function* next = waiting_.front();
    waiting_.pop_front();
    is_waiting_.erase(next);
    process(*next);
  }
}

void Cores::take(const Function& function) {
  find_indices(function);
  for (const Call& call : function.calls) {
    for (const Function* callee : names_.callees(call, function)) {
      users_[callee].insert(&function);
    }
  }
  function.body.each([&](Node node) {
    const Function* macro =
        node.is("identifier") ? names_.model.object_macro(node.text(), function.file) : nullptr;
    if (macro != nullptr) {
      users_[macro].insert(&function);
    }
  });
  if (const std::string owner = names_.class_of(function); !owner.empty()) {
    for (const std::string& one : names_.with_bases(owner)) {
      methods_[one].push_back(&function);
    }
  }
  device_.insert(&function);
  ask_again(function);
}

void Cores::ask_again(const Function& function) {
  if (device_.contains(&function) && is_waiting_.insert(&function).second) {
    waiting_.push_back(&function);
  }
}

void Cores::process(const Function& function) {
  const Known members = members_in(function);
  const Known known = known_in(function);
  auto table = std::make_unique<VarianceTable>(function, seeds(), known, &results_);
  // What it gives back for what it is given is asked of the arguments where it is called.
  source::Results::Result result = known == members || function.is_macro
                                       ? table->result()
                                       : VarianceTable(function, seeds(), members, &results_).result();
  tables_[&function] = std::move(table);
  const bool any = result.returned.any() || std::any_of(result.parameters.begin(), result.parameters.end(),
                                                        [](Variance one) { return one.any(); });
  if (any && results_.set(function, std::move(result))) {
    for (const Function* user : users_[&function]) {
      ask_again(*user);
    }
  }
  spread_assignments(function);
  spread_arguments(function);
}

/// Which names are given GetBlockIdx() and nothing else.
void Cores::find_indices(const Function& function) {
  const std::string owner = names_.class_of(function);
  const auto& locals = names_.locals_of(function);
  const auto note = [&](const std::string& name, bool is_index) {
    if (name.empty()) {
      return;
    }
    if (locals.contains(name) || owner.empty() || function.parameter(name) != nullptr) {
      (is_index ? index_locals_ : other_locals_)[&function].insert(name);
    } else {
      (is_index ? index_members_ : other_members_)[owner].insert(name);
    }
  };
  function.body.each([&](Node node) {
    if (node.is("init_declarator")) {
      note(std::string(source::declared_name(node).text()), is_index_call(unwrapped(node.child("value"))));
    } else if (node.is("assignment_expression")) {
      const bool plain = node.child("operator").text() == "=";
      note(assigned_name(node.child("left")), plain && is_index_call(unwrapped(node.child("right"))));
    } else if (node.is("update_expression")) {
      note(assigned_name(node.child("argument")), false);
    }
  });
}

bool Cores::is_block_index(Node node, const Function& function) const {
  node = unwrapped(node);
  if (is_index_call(node) || node.text() == "block_idx") {
    return true;
  }
  if (node.is("cast_expression")) {
    return is_block_index(node.child("value"), function);
  }
  if (node.is("call_expression") && source::last_name(node.child("function")) == "static_cast") {
    return is_block_index(node.child("arguments").first(), function);
  }
  const std::string name = assigned_name(node);
  const auto has = [&name](const auto& table, const auto& key) {
    const auto found = table.find(key);
    return found != table.end() && found->second.contains(name);
  };
  if (name.empty()) {
    return false;
  }
  if (has(index_locals_, &function)) {
    return !has(other_locals_, &function);
  }
  for (const std::string& owner : names_.with_bases(names_.class_of(function))) {
    if (has(index_members_, owner)) {
      return !has(other_members_, owner);
    }
  }
  return false;
}

bool Cores::add(Known& known, const std::string& name, Variance variance) const {
  Variance& before = known[name];
  const bool changed = (variance.thread && !before.thread) || (variance.block && !before.block);
  before |= variance;
  return changed;
}

Cores::Known Cores::members_in(const Function& function) const {
  Known known;
  const std::string own = names_.class_of(function);
  for (const std::string& owner : names_.with_bases(own)) {
    const auto members = own.empty() ? members_.end() : members_.find(owner);
    if (members != members_.end()) {
      known.insert(members->second.begin(), members->second.end());
    }
  }
  for (const auto& [name, locals] : names_.locals_of(function)) {
    known.erase(name);
  }
  return known;
}

Cores::Known Cores::known_in(const Function& function) const {
  Known known = members_in(function);
  if (const auto found = locals_.find(&function); found != locals_.end()) {
    for (const auto& [name, variance] : found->second) {
      known[name] |= variance;
    }
  }
  return known;
}

/// Members that are given what differs, and variables that say which of a pair this is. What is assigned where a condition
/// differs is not counted: both ways may assign the same.
void Cores::spread_assignments(const Function& function) {
  const auto& table = *tables_.at(&function);
  const std::string owner = names_.class_of(function);
  const auto& locals = names_.locals_of(function);
  bool changed = false;
  bool changed_here = false;
  function.node.each([&](Node node) { // Role() : core_(GetBlockIdx())
    const bool is_initial = node.is("field_initializer") && !owner.empty();
    const Variance variance = is_initial ? table.of(node.first().next()) : Variance();
    if (variance.any()) {
      changed = add(members_[owner], source::last_name(node.first()), variance) || changed;
    }
  });
  function.body.each([&](Node node) {
    const bool initial = node.is("init_declarator");
    if (!initial && !node.is("assignment_expression")) {
      return;
    }
    const std::string name =
        initial ? std::string(source::declared_name(node).text()) : assigned_name(node.child("left"));
    const Node value = node.child(initial ? "value" : "right");
    if (name.empty()) {
      return;
    }
    Variance variance = initial ? Variance() : table.of(value);
    variance.thread = variance.thread || picks_of_pair(value, function);
    if (!variance.any()) {
      return;
    }
    const bool local = locals.contains(name) || function.parameter(name) != nullptr;
    if (local) {
      changed_here = add(locals_[&function], name, variance) || changed_here;
    } else if (!owner.empty()) {
      changed = add(members_[owner], name, variance) || changed;
    }
  });
  if (changed_here) {
    ask_again(function);
  }
  if (changed) {
    for (const Function* method : methods_[owner]) {
      ask_again(*method);
    }
  }
}

void Cores::spread_arguments(const Function& function) {
  const auto& table = *tables_.at(&function);
  for (const Call& call : function.calls) {
    std::vector<Variance> given;
    bool any = false;
    for (const Node argument : call.arguments) {
      given.push_back(table.of(argument));
      any = any || given.back().any();
    }
    for (const Function* callee : names_.callees(call, function)) {
      bool changed = false;
      if (callee->is_macro || callee->is_lambda) { // it sees what its user sees
        for (const auto& [name, variance] : table.names()) {
          const bool own = callee->parameter(name) != nullptr;
          changed = (!own && variance.any() && add(locals_[callee], name, variance)) || changed;
        }
      }
      if (!any) {
        if (changed) {
          ask_again(*callee);
        }
        continue;
      }
      for (std::size_t index = 0; index < std::min(given.size(), callee->parameters.size()); ++index) {
        // An address: what lies there is not what differs.
        const bool address = contains_any(callee->parameters[index].type, {"*", "GM_ADDR", "Tensor"});
        if (given[index].any() && !callee->parameters[index].name.empty() && !address) {
          changed = add(locals_[callee], callee->parameters[index].name, given[index]) || changed;
        }
      }
      if (changed) {
        ask_again(*callee);
      }
    }
  }
}

Variance Cores::variance(Node node, const Function& function) const {
  const auto table = tables_.find(&function);
  return table == tables_.end() ? Variance() : table->second->of(node);
}

bool Cores::varies(Node node, const Function& function) const {
  return variance(node, function).any();
}

/// GetBlockIdx() < GetBlockNum(): true wherever the kernel runs.
bool Cores::holds_for_all(Node node, const Function& function) const {
  node = unwrapped(node);
  if (!node.is("binary_expression") || !is_block_index(node.child("left"), function)) {
    return false;
  }
  bool only_counts = true;
  bool any = false;
  node.child("right").each([&](Node one) {
    if (one.is("identifier") && one.field() != "name") {
      const bool count = is_any_of(one.text(), {"GetBlockNum", "GetTaskRatio", "GetTaskRation", "AscendC"});
      only_counts = only_counts && count;
      any = any || one.text() == "GetBlockNum";
    }
    any = any || (one.is("call_expression") && source::last_name(one.child("function")) == "GetBlockNum");
  });
  return any && only_counts && is_any_of(node.child("operator").text(), {"<", ">="});
}

/// Whether a condition differs among cores.
bool Cores::differs(Node node, const Function& function) const {
  node = unwrapped(node);
  const std::string_view sign = node.child("operator").text();
  if (node.is("binary_expression") && (sign == "&&" || sign == "||")) {
    return differs(node.child("left"), function) || differs(node.child("right"), function);
  }
  if (node.is("unary_expression") && sign == "!") {
    return differs(node.child("argument"), function);
  }
  return varies(node, function) && !holds_for_all(node, function);
}

bool Cores::picks_of_pair(Node node, const Function& function) const {
  bool picks = variance(node, function).thread;
  node.each([&](Node one) {
    if (!one.is("binary_expression") || !is_block_index(one.child("left"), function)) {
      return;
    }
    const std::string_view sign = one.child("operator").text();
    const std::string_view right = one.child("right").text();
    const bool ratio = contains_any(right, {"GetTaskRatio", "GetTaskRation", "GetSubBlockNum"});
    picks = picks || (sign == "%" && (right == "2" || ratio)) || (sign == "&" && right == "1");
  });
  return picks;
}

Condition Cores::condition(Node node, const Function& function) const {
  Condition condition;
  condition.node = node;
  condition.in = &function;
  if (!node) {
    return condition;
  }
  const SidesOf sides = sides_of(node);
  condition.yes = sides.yes;
  condition.no = sides.no;
  condition.by_core = differs(node, function);
  condition.by_pair = picks_of_pair(node, function);
  condition.tiling_key = key_in(node);
  return condition;
}

} // namespace dcuop::check::ascend
