#pragma once
// The objects of an op: taken from the cache, or compiled, several at once.

#include <vector>

#include "compile.hpp"
#include "dcuop/build/build.hpp"

namespace dcuop::build {

struct UnitOutcome {
  UnitResult result;
  store::Entry object; ///< published, or private when `object_directory` is kept
  key::InputSet inputs;
  std::vector<std::string> uncacheable;
  std::optional<FailedCommand> failure;
  std::string log;
  std::optional<FileLock> in_use;               ///< on a published object, until the link is done
  std::optional<store::PrivateDirectory> keeps; ///< holds an object that must not be published
};

/// What a build remembers of its past: longest first, and how much memory each needs.
class CostBook {
 public:
  explicit CostBook(std::filesystem::path file);
  struct Cost {
    std::uint64_t peak_memory = 0;
    std::chrono::milliseconds wall{0};
  };
  /// Unknown units are guessed from what they read: torch's headers take 1.4 GB with g++, 0.7 GB with clang.
  [[nodiscard]] Cost expected(const key::Request& request, const key::UnitRequest& unit) const;
  void learn(const std::string& unit, const Cost& cost);
  void save() noexcept;

 private:
  std::filesystem::path file_;
  std::vector<std::pair<std::string, Cost>> costs_;
};

/// All units of the request, in its order. `why`: the reason for units that were never built before.
[[nodiscard]] std::vector<UnitOutcome> make_objects(const key::Request& request, const Workshop& workshop,
                                                    DigestMemo& memo, const std::string& why);

} // namespace dcuop::build
