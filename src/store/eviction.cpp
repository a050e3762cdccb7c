#include "dcuop/store/eviction.hpp"

#include <algorithm>
#include <iterator>
#include <map>
#include <nlohmann/json.hpp>

#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"
#include "entry.hpp"
#include "layout.hpp"
#include "origins.hpp"

namespace dcuop::store {

namespace {

using std::chrono::system_clock;

/// The builder's note of the op directory: all that objects have, and what is left of an entry whose origin
/// could not be recorded.
std::optional<fs::path> origin_in_facts(const Entry& entry) {
  const nlohmann::json facts = json_or_discarded(entry.facts_json);
  if (!facts.is_object() || !facts.contains("origin") || !facts["origin"].is_string()) {
    return std::nullopt;
  }
  return facts["origin"].get<std::string>();
}

/// Origins by name and key, read once for all entries.
class OriginTable {
 public:
  explicit OriginTable(const Layout& layout) : layout_(layout) {}

  std::vector<fs::path> of(Shelf shelf, const Entry& entry) {
    std::vector<fs::path> origins;
    if (shelf == Shelf::entries) {
      origins = table_of(entry.name)[entry.key.hex()];
    }
    if (origins.empty()) {
      if (std::optional<fs::path> origin = origin_in_facts(entry)) {
        origins.push_back(std::move(*origin));
      }
    }
    return origins;
  }

 private:
  using Table = std::map<std::string, std::vector<fs::path>>; ///< by key

  Table& table_of(const std::string& name) {
    const auto [place, is_new] = tables_.try_emplace(name);
    if (is_new) {
      place->second = origins_by_key(layout_, name);
    }
    return place->second;
  }

  const Layout& layout_;
  std::map<std::string, Table> tables_;
};

/// What a manifest that cannot be read says nothing of: it has no name, and is removed by age, by size and
/// with all.
Entry damaged_entry(const Digest& key, const fs::path& directory) {
  Entry entry;
  entry.key = key;
  entry.directory = directory;
  entry.size = bytes_below(directory);
  entry.facts_json = "{}";
  if (const std::optional<FileIdentity> identity = identity_of(directory)) {
    entry.built = system_clock::time_point(
        std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(identity->mtime_ns)));
  }
  return entry;
}

bool matches(const Candidate& candidate, const Target& target) {
  const std::vector<fs::path>& origins = candidate.origins;
  return (!target.name || candidate.entry.name == *target.name) &&
         (!target.origin || std::find(origins.begin(), origins.end(), *target.origin) != origins.end());
}

/// All filters hold; the last one that was asked for gives the reason.
bool passes(Candidate& candidate, const Selection& selection, system_clock::time_point now) {
  const bool is_meant = std::any_of(selection.targets.begin(), selection.targets.end(),
                                    [&](const Target& target) { return matches(candidate, target); });
  if (!selection.targets.empty() && !is_meant) {
    return false;
  }
  candidate.reason = candidate.entry.artifact.empty() ? "damaged" : "selected";
  if (selection.older_than) {
    if (candidate.last_use + *selection.older_than > now) {
      return false;
    }
    const auto age = std::chrono::duration_cast<std::chrono::seconds>(now - candidate.last_use);
    candidate.reason = "last used " + human_age(age);
  }
  if (selection.stale) {
    const std::optional<std::string> why = selection.stale(candidate);
    if (!why) {
      return false;
    }
    candidate.reason = *why;
  }
  return true;
}

/// Trimming to the limit itself would have to be done again after the next build.
std::uint64_t goal_of(std::uint64_t limit) {
  return limit / 10 * 9 + limit % 10 * 9 / 10;
}

/// Whether the size policy has come to its end, with `total` bytes left and `candidate` the least recently
/// used.
bool is_enough(const Selection& selection, std::uint64_t total, const Candidate& candidate,
               system_clock::time_point now) {
  const bool spared = selection.spared_age.count() > 0 && candidate.last_use + selection.spared_age > now;
  return spared || total <= goal_of(selection.max_size.value_or(0));
}

} // namespace

std::vector<Candidate> candidates(const Store& store, Shelf shelf) {
  const Layout layout(store.root());
  OriginTable origins(layout);
  std::vector<Candidate> found;
  for (const Digest& key : keys_below(layout.shelf(shelf))) {
    const fs::path directory = layout.entry(shelf, key);
    if (!is_real_directory(directory)) {
      continue;
    }
    const std::optional<Manifest> manifest = read_manifest(directory, shelf, key);
    Candidate candidate;
    candidate.shelf = shelf;
    candidate.entry = manifest ? entry_from(key, directory, *manifest) : damaged_entry(key, directory);
    candidate.origins = origins.of(shelf, candidate.entry);
    candidate.last_use = store.last_use(shelf, key).value_or(candidate.entry.built);
    found.push_back(std::move(candidate));
  }
  return found;
}

bool Selection::is_empty() const {
  return !all && targets.empty() && !stale && !older_than && !max_size;
}

std::uint64_t size_of(const std::vector<Candidate>& candidates) {
  std::uint64_t bytes = 0;
  for (const Candidate& candidate : candidates) {
    bytes += candidate.entry.size;
  }
  return bytes;
}

EvictionPlan select(const Store& store, const Selection& selection) {
  EvictionPlan plan;
  if (selection.is_empty()) {
    return plan;
  }
  const system_clock::time_point now = system_clock::now();
  std::vector<Candidate> all = candidates(store, Shelf::entries);
  std::vector<Candidate> objects = candidates(store, Shelf::objects);
  std::move(objects.begin(), objects.end(), std::back_inserter(all));
  std::uint64_t total = size_of(all) + selection.bytes_besides;
  plan.bytes = total;
  if (selection.max_size && total <= *selection.max_size) {
    return plan;
  }
  std::erase_if(all, [&](Candidate& candidate) { return !passes(candidate, selection, now); });
  std::stable_sort(all.begin(), all.end(),
                   [](const Candidate& a, const Candidate& b) { return a.last_use < b.last_use; });
  for (Candidate& candidate : all) {
    if (selection.max_size) {
      if (is_enough(selection, total, candidate, now)) {
        break;
      }
      candidate.reason = "least recently used, beyond " + human_size(*selection.max_size);
    }
    if (store.in_use(candidate.entry.key)) {
      plan.keep_in_use.push_back(std::move(candidate));
      continue;
    }
    total -= std::min(total, candidate.entry.size);
    plan.remove.push_back(std::move(candidate));
  }
  return plan;
}

EvictionPlan apply(Store& store, const EvictionPlan& plan) {
  EvictionPlan done;
  done.keep_in_use = plan.keep_in_use;
  done.bytes = plan.bytes;
  for (const Candidate& candidate : plan.remove) {
    const bool removed = store.remove(candidate.shelf, candidate.entry.key);
    (removed ? done.remove : done.keep_in_use).push_back(candidate);
  }
  return done;
}

} // namespace dcuop::store
