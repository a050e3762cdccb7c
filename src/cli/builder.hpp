#pragma once
// The ops of a selection, built or found: what `dcuop build` does, for all that need an op's file.

#include <chrono>
#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "dcuop/build/build.hpp"
#include "dcuop/store/store.hpp"
#include "selection.hpp"

namespace dcuop::cli {

struct BuildWish {
  int jobs = 0; ///< 0: as the config or the machine says
  bool force = false, dry_run = false;
  std::optional<std::string> lock_timeout;                     ///< a duration, as given
  enum class Show { all, failures, nothing } show = Show::all; ///< of the results; progress is shown always
};

struct Built {
  std::vector<build::OpResult> results; ///< in the order of the requests
  std::vector<store::Store> shared_caches;

  /// That of the first op that failed.
  [[nodiscard]] ExitCode exit_code() const;
};

/// Throws what build::build_op throws when there is one op; of several, each failure is a result.
[[nodiscard]] Built build_selected(Context& context, const Prepared& prepared, const BuildWish& wish);

/// What a hit saved: the compile time that its entry's builder recorded.
[[nodiscard]] std::chrono::milliseconds compile_time_of(const store::Entry& entry);

} // namespace dcuop::cli
