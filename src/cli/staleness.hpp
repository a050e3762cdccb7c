#pragma once
// Would the directories that asked for an entry still ask for it, on this machine as it is now?

#include <filesystem>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "command.hpp"
#include "dcuop/op/op.hpp"
#include "dcuop/store/eviction.hpp"

namespace dcuop::cli {

struct Standing {
  enum class Kind {
    current,   ///< what a build there would hit
    stale,     ///< no build there can hit it again unless something is changed back
    elsewhere, ///< of another Python or torch, whose files are as they were
    unknown,   ///< the op cannot be read, or this machine lacks what it needs: that proves nothing
  };
  Kind kind = Kind::unknown;
  std::string reason; ///< of stale: "its origin is gone", "op.h changed since"
};
[[nodiscard]] std::string to_string(Standing::Kind kind);

/// Reads each op once, and gathers facts once for each of its arch sets.
class Staleness {
 public:
  explicit Staleness(Context& context);
  ~Staleness();
  Staleness(const Staleness&) = delete;
  Staleness& operator=(const Staleness&) = delete;

  /// Stale only when it is at every origin.
  [[nodiscard]] Standing standing_of(const store::Candidate& candidate);

 private:
  struct Place;
  Standing standing_at(const std::filesystem::path& origin, const store::Candidate& candidate);
  Standing standing_for(op::Backend backend, const std::filesystem::path& origin,
                        const store::Candidate& candidate);
  Standing standing_in(Place& place, const store::Candidate& candidate);
  /// Of an op with a manifest one; of those that were described one each.
  std::vector<Place*> places_at(const std::filesystem::path& origin, const std::string& name,
                                op::Backend backend);
  /// `read` is empty where there is nothing; it finds nullopt where what is there has not the backend.
  Place& place_of(const std::string& key, const std::function<std::optional<op::Op>()>& read);

  Context& context_;
  std::map<std::string, std::unique_ptr<Place>> places_; ///< by origin and backend, or description
};

/// For store::Selection.
[[nodiscard]] store::StaleTest stale_test(Context& context);

} // namespace dcuop::cli
