// A scope of `dcuop superkernel plan`, and all that is worked out from one that can be read.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "dcuop/superkernel/plan.hpp"
#include "dcuop/superkernel/simulate.hpp"
#include "dcuop/support/error.hpp"

#include "fuzz.hpp"

namespace {

/// What is simulated takes time by cores and operators: this is about reading.
bool is_small(const dcuop::superkernel::Scope& scope) {
  return scope.operators.size() <= 8 && scope.platform.aic <= 64 && scope.platform.aiv <= 128 &&
         std::all_of(scope.operators.begin(), scope.operators.end(),
                     [](const auto& op) { return op.block_num <= 64; });
}

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop;
  using namespace dcuop::superkernel;
  try {
    const Scope scope = parse_scope("/scope.toml", std::string(fuzz::text_of(data, size)));
    if (!is_small(scope)) {
      return 0;
    }
    const Plan plan = make_plan(scope);
    const Simulation simulation = simulate(scope, Detail::timeline);
    fuzz::require(disagreement(scope, plan.judgement, simulation).empty(), "predicates and simulation agree");
    static_cast<void>(to_json(scope, plan, &simulation).dump());
    static_cast<void>(timeline_svg(scope, plan, simulation, finding::LanguageOfText::zh));
  } catch (const Error&) {
    // It describes none.
  }
  return 0;
}
