#pragma once
// The plan of a scope: the judgement, what would mend it, the options to give, what early start and fewer launches can
// save, and the findings of all that.

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/finding/finding.hpp"
#include "dcuop/superkernel/judge.hpp"
#include "dcuop/superkernel/simulate.hpp"

namespace dcuop::superkernel {

struct Phrase {
  std::string en, zh;
  [[nodiscard]] const std::string& in(finding::LanguageOfText language) const {
    return language == finding::LanguageOfText::zh && !zh.empty() ? zh : en;
  }
};

/// A change that takes a fault away, adds none, and was judged to do so.
struct Fix {
  enum class Kind {
    option,      ///< of the scope
    block_count, ///< of the operator's tiling
    tiling,      ///< SetScheduleMode(1)
    source,      ///< of the operator, or of another one
    own_scope,
  };
  Kind kind = Kind::option;
  Phrase text;
  std::vector<std::pair<std::string, std::string>> options; ///< of Kind::option
};

struct OperatorPlan {
  std::vector<Fix> fixes; ///< of its first fault: two at most, the smaller change first
  std::string recipe; ///< options under which the operator alone shows its faults; empty where it has no sync
};

/// One writes scalars that the other reads, and the data cache is between them.
struct CacheFault {
  bool is_unflushed = true; ///< else the reader may have an old copy
  std::size_t writer = 0, reader = 0;
  std::string buffer;
  bool by_assignment = false; ///< gm(i) = x, else a dcci option
};

/// How much time early start can save: a bound.
struct Overlap {
  struct Part {
    std::size_t first = 0, second = 0; ///< operators
    double at_most_us = 0;
  };
  std::optional<double> at_most_us; ///< nullopt: times are not given
  double total_us = 0;              ///< without it, synchronisations between operators included
  std::vector<Part> parts;          ///< those that save something
  Phrase why_none;                  ///< where nothing can be saved, or said
};

struct Plan {
  Judgement judgement;
  std::vector<OperatorPlan> operators;
  std::vector<CacheFault> cache_faults;
  std::vector<std::pair<std::string, std::string>> options; ///< recommended
  Overlap overlap;
  std::size_t kernels_before = 0, kernels_after = 0;
  std::optional<double> launches_save_us; ///< nullopt: launch_gap_us is not given
  std::vector<finding::Finding> findings; ///< most severe first
};

[[nodiscard]] Plan make_plan(const Scope& scope);

/// As it is in the plan, alone.
[[nodiscard]] Overlap overlap_of(const Scope& scope, const Judgement& judgement);

/// "AIV 20", "1:1 24": type and cores in short.
[[nodiscard]] std::string short_text(const Operator& op);
/// "MIX_AIC_1_2 x 24 (24 AIC + 48 AIV)".
[[nodiscard]] std::string launch_text(const Launch& launch);
/// Of an operator's first fault: "HANGS: SyncAll() waits for 48 vector cores, 20 enter"; else "fits".
[[nodiscard]] Phrase fault_text(const Scope& scope, const Judgement& judgement, std::size_t op);
/// What ended a kernel: "load cannot be fused".
[[nodiscard]] Phrase split_text(const Scope& scope, const Judgement& judgement, std::size_t segment);

/// `simulation` may be null.
[[nodiscard]] nlohmann::json to_json(const Scope& scope, const Plan& plan, const Simulation* simulation);

/// The simulated run as a picture: cores by time. Colours follow the reader's light or dark setting.
[[nodiscard]] std::string timeline_svg(const Scope& scope, const Plan& plan, const Simulation& simulation,
                                       finding::LanguageOfText language);

} // namespace dcuop::superkernel
