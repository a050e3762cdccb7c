#include "dcuop/build/explain.hpp"

#include <algorithm>
#include <utility>

#include <nlohmann/json.hpp>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/log.hpp"

namespace dcuop::build {

namespace {

constexpr std::size_t candidates = 16; ///< of the newest; older ones are rarely nearer, and each costs a read

std::optional<key::Components> components_of(const store::Entry& entry) {
  try {
    const std::string text = read_file(entry.directory / "components.json").value_or("");
    return key::components_from_json(json_from(text));
  } catch (const nlohmann::json::exception& fault) {
    log_debug(entry.directory.string() + ": " + fault.what());
  } catch (const Error& fault) {
    log_debug(entry.directory.string() + ": " + fault.what());
  }
  return std::nullopt;
}

/// An entry of another backend is further away than any of the same.
std::pair<bool, std::size_t> distance_of(const Explanation& explanation) {
  return {explanation.is_of_other_backend(), explanation.differences.size()};
}

std::optional<Explanation> nearest_of(const std::vector<store::Entry>& entries, const key::Components& now) {
  std::optional<Explanation> nearest;
  for (std::size_t index = 0; index < entries.size() && index < candidates; ++index) {
    const std::optional<key::Components> components = components_of(entries[index]);
    if (!components) {
      continue;
    }
    std::vector<key::Difference> differences = key::compare_components(*components, now);
    const std::size_t all = now.all().size();
    const std::size_t unchanged = all - std::min(all, differences.size());
    Explanation explanation{entries[index], std::move(differences), unchanged, 0};
    if (!nearest || distance_of(explanation) < distance_of(*nearest)) {
      nearest = std::move(explanation);
    }
  }
  return nearest;
}

/// Files of the nearest entry that changed, but for the sources, which are components already.
void add_file_differences(Explanation& explanation, const key::Request& request, DigestMemo& memo) {
  const std::string text = read_file(explanation.nearest.directory / "inputs.json").value_or("");
  const std::optional<key::InputSet> inputs = key::input_set_from_json_text(text);
  if (!inputs) {
    return;
  }
  key::Comparison comparison = key::compare(*inputs, request.base, memo, false);
  explanation.unchanged_inputs = inputs->inputs.size() - comparison.changed.size();
  std::erase_if(comparison.changed, [&](const key::Input& input) {
    return std::any_of(request.units.begin(), request.units.end(),
                       [&](const key::UnitRequest& unit) { return unit.name() == input.path; });
  });
  for (key::Difference& difference : key::describe(comparison, *inputs, request.base)) {
    explanation.differences.push_back(std::move(difference));
  }
}

} // namespace

bool Explanation::is_of_other_backend() const {
  return !differences.empty() && differences.front().group == key::Group::op &&
         differences.front().name == key::backend_component;
}

std::optional<Explanation> explain(const key::Request& request, const store::Store& store, DigestMemo& memo) {
  std::optional<Explanation> nearest =
      nearest_of(store.entries_of(request.op.name, request.op.directory), request.components);
  if (!nearest) {
    nearest = nearest_of(store.entries_of(request.op.name, {}), request.components);
  }
  if (nearest) {
    add_file_differences(*nearest, request, memo);
  }
  return nearest;
}

} // namespace dcuop::build
