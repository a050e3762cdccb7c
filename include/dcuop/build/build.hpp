#pragma once
// Request -> artifact in the cache: look up, lock, compile what is missing, link, inspect, publish.

#include <chrono>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/build/job_slots.hpp"
#include "dcuop/key/request.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/process.hpp"

namespace dcuop::build {

enum class Status { hit, built, failed, would_build };
[[nodiscard]] std::string to_string(Status status);

struct UnitResult {
  std::string source;
  bool compiled = false; ///< else its object was in the cache
  std::string reason;    ///< why it was compiled: "op.h changed", "first build"
  std::chrono::milliseconds wall{0};
  std::uint64_t peak_memory = 0; ///< bytes; 0 when it was not compiled
};

struct OpResult {
  std::string name;
  Status status = Status::failed;
  store::Entry entry;               ///< of a hit or a built op
  std::string reason;               ///< of a miss, one line; of a hit: "" or how it was found
  std::vector<UnitResult> units;    ///< of a build
  std::vector<std::string> remarks; ///< "not cached: unknown flag --foo"
  bool cached = true;               ///< false: the artifact lies in a private directory
  std::chrono::milliseconds wall{0};
  std::optional<store::Failure> failure;
};

struct Options {
  bool force = false;     ///< compile everything again
  bool dry_run = false;   ///< say what would be done
  bool forbidden = false; ///< DCUOP_BUILD=never: Error(build_forbidden) instead of a build
  std::optional<std::chrono::seconds> lock_timeout; ///< Error(lock_timeout) when it passes
  std::chrono::seconds lock_wait{600};              ///< after that the op is built privately
  bool trace = true; ///< false: inputs are taken from depfiles, as where the kernel does not permit tracing
};

/// Told what happens, from several threads. Calls are made outside of any lock of the builder's.
class Observer {
 public:
  virtual ~Observer() = default;
  virtual void will_build(const key::Request& request, const std::string& reason) = 0;
  virtual void started(const key::Request& request, const std::string& step) = 0;
  virtual void finished(const key::Request& request, const std::string& step,
                        std::chrono::milliseconds wall) = 0;
  virtual void waiting(const key::Request& request, const std::optional<store::Holder>& holder,
                       std::chrono::milliseconds so_far) = 0;
};

/// References are borrowed for the length of a call.
struct Workshop {
  store::Store& store;
  const std::vector<store::Store>& shared; ///< read-only caches that are asked after the user's own
  ProcessRunner& processes;
  JobSlots& slots;
  Observer& observer;
  const Options& options;
  const Environment& environment; ///< TMPDIR, for what cannot be built in the cache
};

/// The main flow. A compile or link that fails is a result (Status::failed); Error is thrown for what stops the
/// command: build_forbidden, lock_timeout, environment.
[[nodiscard]] OpResult build_op(const key::Request& request, const Workshop& workshop);

} // namespace dcuop::build
