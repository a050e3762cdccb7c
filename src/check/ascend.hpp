#pragma once
// What the rules of an Ascend SuperKernel share.

#include <string>
#include <vector>

#include "ascend_flow.hpp"
#include "ascend_kernels.hpp"
#include "dcuop/check/superkernel.hpp"

namespace dcuop::check::ascend {

/// What the rules are asked of.
struct Subject {
  const SuperKernelRequest& request;
  const source::Model& model;
  const Names& names;
  const Cores& cores;
  Program& program;
  const std::vector<Kernel>& kernels;
  Findings& findings;

  /// At an event; `values` lacks {function}.
  finding::Finding& add(std::string_view rule, const Event& event, finding::Values values = {}) const;
  finding::Finding& add(std::string_view rule, const Function& function, Node node,
                        finding::Values values = {}) const;
};

/// Calls `visit(event, object, way)` for each event of a kernel's side.
template <class Visit> void each_event(Program& program, const Kernel& kernel, Sides side, Visit visit) {
  struct Client {
    Visit& visit;
    void event(const Event& event, const std::string& object, int&, const Way& way) {
      visit(event, object, way);
    }
    static int joined(int, int) { return 0; }
  };
  Client client{visit};
  Flow<int, Client>(program, client, side).run(*kernel.function, 0);
}

/// A phrase in both languages, as values of a finding: "what" and "what:zh".
inline void put(finding::Values& values, const std::string& name, std::string en, std::string zh) {
  values[name] = std::move(en);
  values[name + ":zh"] = std::move(zh);
}
inline std::string to_text(Sides side) {
  return side == aic ? "AIC" : "AIV";
}
inline constexpr Sides each_side[] = {aic, aiv};

/// The host code of the kernel's operator calls SetScheduleMode(1).
[[nodiscard]] bool sets_batch_mode(const Subject& subject, const Kernel& kernel);

void check_sync_all(const Subject& subject);                               ///< R1
void check_flags(const Subject& subject);                                  ///< R2, R3, R9
void check_pairs(const Subject& subject);                                  ///< R4
void check_indices(const Subject& subject);                                ///< R5
void check_cache(const Subject& subject);                                  ///< R6
void check_early_start(const Subject& subject);                            ///< R7
void check_pipes(const Subject& subject);                                  ///< R8
void check_host(const Subject& subject);                                   ///< R10, R11
void check_bindings(const Subject& subject);                               ///< R12
void check_options(const SuperKernelRequest& request, Findings& findings); ///< Python files

} // namespace dcuop::check::ascend
