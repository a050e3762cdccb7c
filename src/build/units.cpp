#include "units.hpp"

#include <algorithm>
#include <atomic>
#include <thread>

#include <nlohmann/json.hpp>

#include "dcuop/build/find_entry.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/log.hpp"
#include "look_up.hpp"
#include "workplace.hpp"

namespace dcuop::build {

namespace {

/// The object of a unit as it is in the cache; nullopt when it must be compiled, with the reason.
class ObjectFinder {
 public:
  ObjectFinder(const key::Request& request, const Workshop& workshop, DigestMemo& memo, std::string why)
      : request_(request), workshop_(workshop), memo_(memo), why_(std::move(why)) {}

  /// `reason` is set when there is none.
  std::optional<UnitOutcome> find(const key::UnitRequest& unit, std::string& reason) {
    reason = why_;
    if (workshop_.options.force) {
      reason = "--force";
      return std::nullopt;
    }
    if (!unit.uncacheable.empty()) {
      reason = unit.uncacheable.front();
      return std::nullopt;
    }
    LookUp found = look_up(workshop_.store, store::Shelf::objects, unit.request, request_.base, memo_);
    if (found.entry) {
      if (std::optional<UnitOutcome> outcome = reused(unit, found.entry->key, std::move(found.inputs))) {
        return outcome;
      }
    }
    if (found.must_ask_compiler) {
      if (std::optional<UnitOutcome> outcome = ask(unit)) {
        return outcome;
      }
    }
    if (!found.differences.empty()) {
      reason = key::summary(found.differences);
    }
    return std::nullopt;
  }

 private:
  /// Held until the link is done: nobody may evict it in between. nullopt when somebody just did.
  std::optional<UnitOutcome> reused(const key::UnitRequest& unit, const Digest& key, key::InputSet inputs) {
    store::Store& store = workshop_.store;
    UnitOutcome outcome;
    outcome.in_use = store.lock_for_use(key);
    std::optional<store::Entry> object = store.find(store::Shelf::objects, key);
    if (!object) {
      return std::nullopt;
    }
    store.stamp_use(store::Shelf::objects, key);
    outcome.result.source = unit.name();
    outcome.object = std::move(*object);
    outcome.inputs = std::move(inputs);
    return outcome;
  }

  /// A directory on the search path has a new name: which headers would be read now?
  std::optional<UnitOutcome> ask(const key::UnitRequest& unit) {
    const JobSlots::Slot slot = workshop_.slots.acquire(0);
    const Workplace place = make_workplace(workshop_);
    StepResult step =
        ask_dependencies(request_, unit, {place.directory.path(), workshop_.processes, memo_, false});
    if (!step.ok || !step.uncacheable.empty()) {
      return std::nullopt;
    }
    const Digest key = key_of(unit.request, step.inputs);
    const std::string text = key::to_json_text(step.inputs);
    const Digest record = step.inputs.record_digest();
    std::optional<UnitOutcome> outcome = reused(unit, key, std::move(step.inputs));
    if (outcome) {
      try_add_record(workshop_.store, unit.request, record, {key, text});
    }
    return outcome;
  }

  const key::Request& request_;
  const Workshop& workshop_;
  DigestMemo& memo_;
  std::string why_;
};

/// As an entry's, with the unit's own request: `clean` asks of both whether an origin would still ask for it.
std::string facts_of(const key::Request& request, const key::UnitRequest& unit) {
  nlohmann::json facts = json_from(request.facts_json);
  facts["unit"] = unit.name();
  facts["request"] = unit.request.hex();
  return json_text(facts);
}

/// To the cache, or kept for this build alone when it must not or cannot be published.
void publish_object(const key::Request& request, const key::UnitRequest& unit, const Workshop& workshop,
                    store::PrivateDirectory directory, UnitOutcome& outcome) {
  const Digest key = key_of(unit.request, outcome.inputs);
  if (outcome.uncacheable.empty()) {
    try {
      outcome.in_use = workshop.store.lock_for_use(key);
      outcome.object = workshop.store.publish(
          store::Shelf::objects, std::move(directory),
          {key, request.op.name, object_name, facts_of(request, unit), workshop.options.force});
      workshop.store.add_record(unit.request, outcome.inputs.record_digest(),
                                {key, key::to_json_text(outcome.inputs)});
      return;
    } catch (const Error& fault) {
      outcome.uncacheable.emplace_back(fault.what());
    }
  }
  if (outcome.object.directory
          .empty()) { // else it was published, and only its index record could not be written
    outcome.object.directory = directory.path();
    outcome.object.artifact = object_name;
    outcome.object.key = key;
    outcome.keeps = std::move(directory);
  }
}

UnitOutcome compile_one(const key::Request& request, const key::UnitRequest& unit, const Workshop& workshop,
                        std::uint64_t expected_memory) {
  const JobSlots::Slot slot = workshop.slots.acquire(expected_memory);
  workshop.observer.started(request, unit.name());
  Workplace place = make_workplace(workshop);
  DigestMemo memo(input_memo_file(request, workshop.store)); // its own: a memo is for one thread
  StepResult step =
      compile_unit(request, unit, {place.directory.path(), workshop.processes, memo, workshop.options.trace});
  memo.save();
  workshop.observer.finished(request, unit.name(), step.wall);
  UnitOutcome outcome;
  outcome.result = {unit.name(), true, {}, step.wall, step.peak_memory};
  outcome.log = std::move(step.log);
  if (!step.ok) {
    outcome.failure = std::move(step.failure);
    return outcome;
  }
  outcome.inputs = std::move(step.inputs);
  outcome.uncacheable = unit.uncacheable;
  outcome.uncacheable.insert(outcome.uncacheable.end(), step.uncacheable.begin(), step.uncacheable.end());
  if (!place.problem.empty()) {
    outcome.uncacheable.push_back(place.problem);
  }
  publish_object(request, unit, workshop, std::move(place.directory), outcome);
  return outcome;
}

std::string cost_name(const key::Request& request, const std::string& unit) {
  return request.op.name + "/" + unit;
}

} // namespace

CostBook::CostBook(fs::path file) : file_(std::move(file)) {
  const nlohmann::json document = json_or_discarded(read_file(file_).value_or(""));
  if (!document.is_object()) {
    return;
  }
  for (const auto& [unit, cost] : document.items()) {
    if (cost.is_array() && cost.size() == 2 && cost[0].is_number_unsigned() && cost[1].is_number_unsigned()) {
      costs_.push_back(
          {unit, {cost[0].get<std::uint64_t>(), std::chrono::milliseconds(cost[1].get<std::int64_t>())}});
    }
  }
}

CostBook::Cost CostBook::expected(const key::Request& request, const key::UnitRequest& unit) const {
  const std::string name = cost_name(request, unit.name());
  for (const auto& [known, cost] : costs_) {
    if (known == name) {
      return cost;
    }
  }
  constexpr std::uint64_t mebibyte = std::uint64_t{1} << 20U;
  const bool can_read_torch =
      unit.source.language == op::Language::cxx || unit.source.language == op::Language::cuda;
  const bool reads_torch = request.op.abi != op::Abi::none && can_read_torch;
  if (!reads_torch) {
    return {300 * mebibyte, std::chrono::seconds(1)};
  }
  const bool is_gccs =
      unit.compiler.family == probe::Family::gcc || unit.compiler.family == probe::Family::nvcc;
  return is_gccs ? Cost{1434 * mebibyte, std::chrono::seconds(14)}
                 : Cost{717 * mebibyte, std::chrono::seconds(9)};
}

void CostBook::learn(const std::string& unit, const Cost& cost) {
  std::erase_if(costs_, [&](const auto& known) { return known.first == unit; });
  costs_.emplace_back(unit, cost);
}

void CostBook::save() noexcept {
  try {
    nlohmann::json document = nlohmann::json::object();
    for (const auto& [unit, cost] : costs_) {
      document[unit] = {cost.peak_memory, static_cast<std::uint64_t>(cost.wall.count())};
    }
    if (!try_write_file_atomic(file_, json_text(document))) {
      log_debug("the cost book could not be written");
    }
  } catch (const std::exception& fault) {
    log_debug(fault.what());
  }
}

std::vector<UnitOutcome> make_objects(const key::Request& request, const Workshop& workshop, DigestMemo& memo,
                                      const std::string& why) {
  std::vector<UnitOutcome> outcomes(request.units.size());
  std::vector<std::string> reasons(request.units.size());
  std::vector<std::size_t> missing;
  ObjectFinder finder(request, workshop, memo, why);
  for (std::size_t index = 0; index < request.units.size(); ++index) {
    if (std::optional<UnitOutcome> found = finder.find(request.units[index], reasons[index])) {
      outcomes[index] = std::move(*found);
    } else {
      missing.push_back(index);
    }
  }
  CostBook costs(workshop.store.memo_directory() / "unit-costs.json");
  const auto expected = [&](std::size_t index) { return costs.expected(request, request.units[index]); };
  std::stable_sort(missing.begin(), missing.end(), [&](std::size_t a, std::size_t b) {
    return expected(a).wall > expected(b).wall; // longest first
  });
  std::vector<std::exception_ptr> faults(missing.size());
  std::atomic<std::size_t> next{0};
  const auto work = [&] {
    for (std::size_t job = next++; job < missing.size(); job = next++) {
      const std::size_t index = missing[job];
      try {
        outcomes[index] = compile_one(request, request.units[index], workshop, expected(index).peak_memory);
        outcomes[index].result.reason = reasons[index];
      } catch (...) {
        faults[job] = std::current_exception();
      }
    }
  };
  {
    std::vector<std::jthread> workers;
    const std::size_t threads = std::min(missing.size(), static_cast<std::size_t>(workshop.slots.jobs()));
    for (std::size_t thread = 1; thread < threads; ++thread) {
      workers.emplace_back(work);
    }
    work();
  }
  for (const std::exception_ptr& fault : faults) {
    if (fault) {
      std::rethrow_exception(fault);
    }
  }
  for (const std::size_t index : missing) {
    if (!outcomes[index].failure) {
      costs.learn(cost_name(request, outcomes[index].result.source),
                  {outcomes[index].result.peak_memory, outcomes[index].result.wall});
    }
  }
  if (!missing.empty()) {
    costs.save();
  }
  return outcomes;
}

} // namespace dcuop::build
