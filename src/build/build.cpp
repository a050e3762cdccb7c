#include "dcuop/build/build.hpp"

#include <algorithm>
#include <thread>

#include <nlohmann/json.hpp>

#include "diagnose.hpp"
#include "inspect.hpp"
#include "look_up.hpp"
#include "units.hpp"
#include "workplace.hpp"

#include "dcuop/build/explain.hpp"
#include "dcuop/build/find_entry.hpp"
#include "dcuop/key/explain.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/steps.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::build {

namespace {

using Clock = std::chrono::steady_clock;

std::chrono::milliseconds since(Clock::time_point start) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
}

/// Of a described op: from the Python file that is its label, when it is one.
std::string command_that_builds(const key::Request& request) {
  const std::string archs = request.archs.empty() ? "" : " --arch " + join(request.archs, ",");
  if (request.op.description.empty()) {
    const bool is_hip = request.op.backend == op::Backend::hip;
    return "dcuop build " + shell_quoted({request.op.directory.string()}) +
           (is_hip ? "" : " --backend " + op::to_string(request.op.backend)) + archs;
  }
  const std::string label = request.op.manifest.string();
  const std::string file = label.substr(0, label.rfind(':'));
  return file.ends_with(".py") ? "dcuop build --from " + shell_quoted({file}) + archs
                               : "load it once where building is not forbidden";
}

class OpBuild {
 public:
  OpBuild(const key::Request& request, const Workshop& workshop)
      : request_(request), workshop_(workshop), memo_(input_memo_file(request, workshop.store)) {
    result_.name = request.op.name;
  }

  OpResult run();

 private:
  bool serve_hit();
  void take_lock();
  bool take_result_of_other();
  void explain_miss(const LookUp& found);
  void make();
  void link_and_publish(const std::vector<UnitOutcome>& units);
  void publish(const Digest& link_request, StepResult& link, store::PrivateDirectory directory);
  void publish_entry(const Digest& link_request, const StepResult& link, const key::InputSet& all,
                     store::PrivateDirectory&& directory);
  void keep_privately(const Digest& key, store::PrivateDirectory directory);
  void finish_hit(store::Entry entry);
  void fail(const FailedCommand& failed);
  void fail_artifact(const std::string& fault, const StepResult& link);
  [[nodiscard]] std::string facts_with_time() const;
  [[nodiscard]] bool cacheable() const { return uncacheable_.empty(); }

  const key::Request& request_;
  const Workshop& workshop_;
  DigestMemo memo_;
  OpResult result_;
  std::optional<store::BuildLock> lock_;
  bool waited_ = false;
  std::optional<store::Failure> failure_before_wait_;
  std::vector<std::string> uncacheable_;
  std::vector<key::InputSet> inputs_; ///< of the units, then of the link
  std::string log_;
};

/// The main flow; the op was read, the facts gathered, the arch resolved and the request digested before.
OpResult OpBuild::run() {
  const Clock::time_point start = Clock::now();
  uncacheable_ = request_.uncacheable;
  if (!serve_hit()) {
    if (workshop_.options.dry_run) {
      result_.status = Status::would_build;
    } else if (workshop_.options.forbidden) {
      throw Error(ExitCode::build_forbidden,
                  request_.op.name + " is not in the cache (request " + request_.digest.hex() +
                      "), and building is forbidden (DCUOP_BUILD=never): " + result_.reason,
                  command_that_builds(request_));
    } else {
      take_lock();
      if (!take_result_of_other()) {
        workshop_.observer.will_build(request_, result_.reason);
        make();
      }
    }
  }
  lock_.reset();
  if (result_.status == Status::built && cacheable()) {
    LookUp found; // so that the first hit costs no more than those to come
    (void)look_up_hit(workshop_.store, request_, memo_, found);
  }
  if (!workshop_.options.dry_run) {
    memo_.save();
  }
  result_.wall = since(start);
  return std::move(result_);
}

bool OpBuild::serve_hit() {
  if (workshop_.options.force) {
    result_.reason = "--force";
    return false;
  }
  if (!request_.uncacheable.empty()) {
    result_.reason = request_.uncacheable.front();
    return false;
  }
  LookUp found;
  if (std::optional<store::Entry> entry = look_up_hit(workshop_.store, request_, memo_, found)) {
    finish_hit(std::move(*entry));
    return true;
  }
  for (const store::Store& shared : workshop_.shared) {
    LookUp there;
    if (std::optional<store::Entry> entry = look_up_hit(shared, request_, memo_, there)) {
      result_.entry = std::move(*entry);
      result_.status = Status::hit;
      result_.reason = "from the system cache " + shared.root().string();
      return true;
    }
  }
  explain_miss(found);
  return false;
}

void OpBuild::finish_hit(store::Entry entry) {
  if (!workshop_.options.dry_run) {
    workshop_.store.stamp_use(store::Shelf::entries, entry.key);
    workshop_.store.record_origin(entry, request_.op.directory, request_.op.description);
  }
  result_.entry = std::move(entry);
  result_.status = Status::hit;
}

/// A record of the same request says which input changed; else the nearest earlier build says which component did.
void OpBuild::explain_miss(const LookUp& found) {
  if (!found.differences.empty()) {
    result_.reason = key::summary(found.differences);
    return;
  }
  const std::optional<Explanation> explanation = explain(request_, workshop_.store, memo_);
  result_.reason = !explanation ? "first build"
                   : explanation->is_of_other_backend()
                       ? "first build for " + op::to_string(request_.op.backend)
                       : key::summary(explanation->differences);
  if (result_.reason.empty()) {
    result_.reason = "its entry is gone from the cache";
  }
}

/// Without it (the wait was too long, or the cache is read-only) the op is built all the same: publishing is safe
/// without a lock, which only saves work.
void OpBuild::take_lock() {
  if (workshop_.store.read_only() || !request_.uncacheable.empty()) {
    return;
  }
  failure_before_wait_ = workshop_.store.last_failure(request_.digest);
  const Clock::time_point start = Clock::now();
  std::chrono::milliseconds pause(20);
  while (true) {
    lock_ = workshop_.store.try_lock_build(request_.digest, "building " + request_.op.name);
    if (lock_) {
      return;
    }
    waited_ = true;
    const std::chrono::milliseconds so_far = since(start);
    const std::optional<store::Holder> holder = workshop_.store.build_holder(request_.digest);
    workshop_.observer.waiting(request_, holder, so_far);
    if (workshop_.options.lock_timeout && so_far >= *workshop_.options.lock_timeout) {
      throw Error(ExitCode::lock_timeout,
                  request_.op.name + ": another process has been building it for " + human_duration(so_far) +
                      (holder ? " (host " + holder->host + " pid " + std::to_string(holder->pid) + ": " +
                                    holder->activity + ")"
                              : ""),
                  "wait longer with --lock-timeout, or look at that process");
    }
    if (so_far >= workshop_.options.lock_wait) {
      result_.remarks.push_back("waited " + human_duration(so_far) +
                                " for another process; built it without the lock");
      return;
    }
    std::this_thread::sleep_for(pause);
    pause = std::min(pause * 2, std::chrono::milliseconds(500));
  }
}

/// Between the look-up and the lock another process may have built it, or failed to while this one waited.
bool OpBuild::take_result_of_other() {
  if (serve_hit()) {
    result_.reason = "built by another process meanwhile";
    return true;
  }
  if (!waited_) {
    return false;
  }
  std::optional<store::Failure> failure = workshop_.store.last_failure(request_.digest);
  const bool is_new = failure && (!failure_before_wait_ || failure_before_wait_->when != failure->when) &&
                      !workshop_.options.force;
  if (is_new) {
    result_.status = Status::failed;
    result_.failure = std::move(failure);
    result_.reason = "another process built it and failed";
  }
  return is_new;
}

void OpBuild::make() {
  if (lock_) {
    lock_->say("compiling " + request_.op.name);
  }
  reach_step();
  std::vector<UnitOutcome> units = make_objects(request_, workshop_, memo_, result_.reason);
  for (UnitOutcome& unit : units) {
    result_.units.push_back(unit.result);
    log_ += unit.log;
    inputs_.push_back(unit.inputs);
    uncacheable_.insert(uncacheable_.end(), unit.uncacheable.begin(), unit.uncacheable.end());
  }
  for (const UnitOutcome& unit : units) {
    if (unit.failure) {
      fail(*unit.failure);
      return;
    }
  }
  link_and_publish(units);
}

void OpBuild::link_and_publish(const std::vector<UnitOutcome>& units) {
  std::vector<fs::path> objects;
  Hasher hasher;
  hasher.digest("request", request_.digest);
  for (const UnitOutcome& unit : units) {
    objects.push_back(unit.object.artifact_path());
    hasher.digest("object", unit.object.key);
  }
  const Digest link_request = hasher.finish();
  if (cacheable() && !workshop_.options.force) {
    LookUp found = look_up(workshop_.store, store::Shelf::entries, link_request, request_.base, memo_);
    if (found
            .entry) { // the same objects were linked before: only the index did not know it under these inputs
      inputs_.push_back(found.inputs);
      const key::InputSet all = key::merge(inputs_, request_.base);
      try_add_record(workshop_.store, request_.digest, all.record_digest(),
                     {found.entry->key, key::to_json_text(all)});
      finish_hit(std::move(*found.entry));
      return;
    }
  }
  const JobSlots::Slot slot = workshop_.slots.acquire(0);
  workshop_.observer.started(request_, "link");
  if (lock_) {
    lock_->say("linking " + request_.op.name);
  }
  Workplace place = make_workplace(workshop_);
  if (!place.problem.empty()) {
    uncacheable_.push_back(place.problem);
  }
  StepResult link = link_objects(
      request_, objects, {place.directory.path(), workshop_.processes, memo_, workshop_.options.trace});
  workshop_.observer.finished(request_, "link", link.wall);
  log_ += link.log;
  if (!link.ok) {
    fail(link.failure);
    return;
  }
  if (const std::string fault = fault_of_artifact(request_, place.directory.path() / request_.artifact);
      !fault.empty()) {
    fail_artifact(fault, link);
    return;
  }
  publish(link_request, link, std::move(place.directory));
}

void OpBuild::publish(const Digest& link_request, StepResult& link, store::PrivateDirectory directory) {
  uncacheable_.insert(uncacheable_.end(), link.uncacheable.begin(), link.uncacheable.end());
  inputs_.push_back(link.inputs);
  const key::InputSet all = key::merge(inputs_, request_.base);
  write_file_atomic(directory.path() / "components.json", json_text(key::to_json(request_.components), 1));
  write_file_atomic(directory.path() / "inputs.json", key::to_json_text(all));
  write_file_atomic(directory.path() / "build.log", log_);
  result_.status = Status::built;
  if (cacheable()) {
    try {
      publish_entry(link_request, link, all, std::move(directory));
      return;
    } catch (const Error& fault) {
      uncacheable_.emplace_back(fault.what());
    }
  }
  keep_privately(key_of(link_request, link.inputs), std::move(directory));
}

void OpBuild::publish_entry(const Digest& link_request, const StepResult& link, const key::InputSet& all,
                            store::PrivateDirectory&& directory) {
  store::Store& store = workshop_.store;
  const Digest key = key_of(link_request, link.inputs);
  result_.entry =
      store.publish(store::Shelf::entries, std::move(directory),
                    {key, request_.op.name, request_.artifact, facts_with_time(), workshop_.options.force});
  reach_step();
  store.add_record(link_request, link.inputs.record_digest(), {key, key::to_json_text(link.inputs)});
  reach_step();
  store.add_record(request_.digest, all.record_digest(), {key, key::to_json_text(all)});
  reach_step();
  store.forget_failure(request_.digest);
  store.record_origin(result_.entry, request_.op.directory, request_.op.description);
  store.stamp_use(store::Shelf::entries, key);
}

/// The result is right and usable; only the next build will not find it.
void OpBuild::keep_privately(const Digest& key, store::PrivateDirectory directory) {
  for (const std::string& reason : uncacheable_) {
    result_.remarks.push_back("not cached: " + reason);
  }
  if (!result_.entry.directory.empty()) {
    return; // it was published, and only its index record could not be written
  }
  result_.cached = false;
  result_.entry.key = key;
  result_.entry.directory = workshop_.store.keep(store::Shelf::entries, key, std::move(directory));
  result_.entry.artifact = request_.artifact;
  result_.entry.name = request_.op.name;
}

/// Compile time is kept with the entry: every later hit saves it.
std::string OpBuild::facts_with_time() const {
  nlohmann::json facts = json_from(request_.facts_json);
  std::chrono::milliseconds compiled{0};
  for (const UnitResult& unit : result_.units) {
    compiled += unit.wall;
  }
  facts["compile_ms"] = compiled.count();
  return json_text(facts);
}

void OpBuild::fail(const FailedCommand& failed) {
  result_.status = Status::failed;
  store::Failure failure = describe_failure(request_, failed, limits_of_this_process());
  failure.log = workshop_.store.record_failure(request_.digest, failure, log_);
  result_.failure = std::move(failure);
}

void OpBuild::fail_artifact(const std::string& fault, const StepResult& link) {
  result_.status = Status::failed;
  store::Failure failure;
  failure.message = request_.artifact + " was linked, but " + fault;
  failure.when = std::chrono::system_clock::now();
  failure.log = workshop_.store.record_failure(request_.digest, failure, log_ + link.log);
  result_.failure = std::move(failure);
}

} // namespace

std::string to_string(Status status) {
  switch (status) {
  case Status::hit:
    return "hit";
  case Status::built:
    return "built";
  case Status::failed:
    return "failed";
  case Status::would_build:
    return "would-build";
  }
  return "failed";
}

OpResult build_op(const key::Request& request, const Workshop& workshop) {
  return OpBuild(request, workshop).run();
}

} // namespace dcuop::build
