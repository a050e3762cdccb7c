#include "device_walk.hpp"

#include <algorithm>

namespace dcuop::check {

using source::Guards;
using source::Variance;

DeviceWalk::DeviceWalk(const Sources& sources, const Function& function)
    : sources_(sources), function_(function), table_(sources.variance().of(function)) {}

void DeviceWalk::run(const Visit& visit) {
  visit_ = &visit;
  source::PathWalk<bool, DeviceWalk>(*this).run(function_.body, false);
}

Variance DeviceWalk::here(Node expression) const {
  static const source::Variances none;
  return table_.of(expression, uses_.empty() ? none : uses_.back().parameters);
}

Variance DeviceWalk::of(Node expression) const {
  const auto known = passed_.find({expression.tree(), expression.begin(), expression.end()});
  return known == passed_.end() ? here(expression) : known->second;
}

void DeviceWalk::visit(Node expression, bool&, const Guards& guards) {
  if (!uses_.empty()) {
    passed_[{expression.tree(), expression.begin(), expression.end()}] |= here(expression);
  }
  source::each_evaluated(expression, guards, [this](Node one, const Guards& inner) {
    if (one.is("call_expression")) {
      (*visit_)(source::call_of(one, *function_.variants.front()), inner);
    } else if (one.is("identifier")) { // a macro that is an expression
      const Function* macro = sources_.model.last_object_macro(one.text(), file());
      for (std::size_t index = 0; macro != nullptr && index < macro->calls.size(); ++index) {
        Call call = macro->calls[index];
        call.node = one;
        (*visit_)(call, inner);
      }
    }
  });
}

const Function* DeviceWalk::expands(Node statement) const {
  const Node only = statement.is("expression_statement") ? statement.first() : Node();
  const Function* macro = nullptr;
  if (only.is("identifier")) {
    macro = sources_.model.last_object_macro(only.text(), file());
  } else if (only.is("call_expression") && only.child("function").is("identifier")) {
    Call call = source::call_of(only, *function_.variants.front());
    call.file = file();
    const auto& callees = sources_.model.callees(call);
    macro = callees.size() == 1 && callees.front()->is_macro ? callees.front() : nullptr;
  }
  const bool again =
      std::any_of(uses_.begin(), uses_.end(), [macro](const Use& one) { return one.macro == macro; });
  return again ? nullptr : macro;
}

void DeviceWalk::enters(const Function& macro, Node use) {
  Use made{&macro, use, {}};
  const Node only = use.first();
  // What the macro itself makes of a name that it is given: LOOP(i, n).
  const source::VarianceTable own(macro, source::hip_seeds());
  for (const source::Parameter& parameter : macro.parameters) {
    if (const auto name = own.names().find(parameter.name); name != own.names().end()) {
      made.parameters[parameter.name] |= name->second;
    }
  }
  if (only.is("call_expression")) {
    const Call call = source::call_of(only, *function_.variants.front());
    for (std::size_t index = 0; index < call.arguments.size(); ++index) {
      const std::size_t position = source::parameter_index(call, macro, index);
      if (position < macro.parameters.size()) {
        made.parameters[macro.parameters[position].name] |= here(call.arguments[index]);
      }
    }
  }
  uses_.push_back(std::move(made));
}

} // namespace dcuop::check
