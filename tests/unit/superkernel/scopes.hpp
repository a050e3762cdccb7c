#pragma once
// Scopes in a line an operator.

#include <string>
#include <utility>
#include <vector>

#include "dcuop/superkernel/judge.hpp"
#include "dcuop/superkernel/scope.hpp"

namespace dcuop::superkernel {

inline Operator an_operator(const std::string& name, KernelType type, std::uint32_t blocks) {
  Operator op;
  op.name = name;
  op.op_type = op.kernel = name;
  op.type = type;
  op.block_num = blocks;
  return op;
}

inline Operator aiv(const std::string& name, std::uint32_t blocks) {
  return an_operator(name, KernelType::mix_aiv_1_0, blocks);
}
inline Operator aic(const std::string& name, std::uint32_t blocks) {
  return an_operator(name, KernelType::mix_aic_1_0, blocks);
}
inline Operator mix_1_1(const std::string& name, std::uint32_t blocks) {
  return an_operator(name, KernelType::mix_aic_1_1, blocks);
}
inline Operator mix_1_2(const std::string& name, std::uint32_t blocks) {
  return an_operator(name, KernelType::mix_aic_1_2, blocks);
}

inline Operator with_sync_all(Operator op, SyncAll form = SyncAll::plain) {
  op.sync.all = form;
  return op;
}

/// A3: 24 cube cores and 48 vector cores.
inline Scope a_scope(std::vector<Operator> operators, const std::string& options = {}) {
  Scope scope;
  scope.name = "sk";
  scope.platform.aic = 24;
  scope.platform.aiv = 48;
  scope.ge_options = options;
  scope.operators = std::move(operators);
  return scope;
}

inline Scope on_npugraph_ex(Scope scope) {
  scope.backend = Backend::npugraph_ex;
  scope.ge_options.clear();
  return scope;
}

/// "sync-all-short AIV 20 of 48", of each operator; "" for those that fit.
inline std::vector<std::string> verdicts(const Judgement& judgement) {
  std::vector<std::string> all;
  for (const Verdict& verdict : judgement.operators) {
    std::string text = verdict.is_reached ? "" : "not reached";
    for (const FaultAt& at : verdict.faults) {
      text += (text.empty() ? "" : "; ") + to_string(at.fault) + " " + to_string(at.side) + " " +
              std::to_string(at.waiting) + " of " + std::to_string(at.expected);
    }
    all.push_back(text);
  }
  return all;
}

} // namespace dcuop::superkernel
