#include "entry_view.hpp"

#include <algorithm>
#include <array>
#include <ctime>

#include <nlohmann/json.hpp>

#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"
#include "table.hpp"

namespace dcuop::cli {

namespace {

using nlohmann::json;
using std::chrono::system_clock;

json parsed_facts(const store::Entry& entry) {
  json facts = json_or_discarded(entry.facts_json);
  return facts.is_object() ? facts : json::object();
}

std::string text_in(const json& facts, const char* name) {
  if (!facts.contains(name)) {
    return "-";
  }
  const json& value = facts[name];
  if (value.is_string() && !value.get<std::string>().empty()) {
    return value.get<std::string>();
  }
  std::vector<std::string> parts;
  if (value.is_array()) {
    for (const json& part : value) {
      if (part.is_string()) {
        parts.push_back(part.get<std::string>());
      }
    }
  }
  return parts.empty() ? "-" : join(parts, ",");
}

bool is_there(const fs::path& directory) {
  const std::optional<FileIdentity> identity = identity_of(directory);
  return identity && identity->is_directory();
}

/// RFC 3339, in UTC.
std::string timestamp(system_clock::time_point time) {
  const std::time_t seconds = system_clock::to_time_t(time);
  std::tm parts{};
  std::array<char, 32> text{};
  if (gmtime_r(&seconds, &parts) == nullptr ||
      std::strftime(text.data(), text.size(), "%Y-%m-%dT%H:%M:%SZ", &parts) == 0) {
    return "";
  }
  return text.data();
}

} // namespace

EntryFacts facts_of(const store::Entry& entry) {
  const json facts = parsed_facts(entry);
  EntryFacts result{"hip", text_in(facts, "arch"), text_in(facts, "torch"), text_in(facts, "python")};
  if (const std::string backend = text_in(facts, "backend"); backend != "-") {
    result.backend = backend;
  }
  return result;
}

std::string short_key(const store::Entry& entry) {
  return entry.key.hex().substr(0, 8) + "…";
}

std::string origin_text(const store::Candidate& candidate, const Environment& environment) {
  if (candidate.origins.empty()) {
    return "-";
  }
  const auto living = std::find_if(candidate.origins.begin(), candidate.origins.end(), is_there);
  const bool all_gone = living == candidate.origins.end();
  std::string text = shortened(all_gone ? candidate.origins.front() : *living, environment);
  if (all_gone) {
    text += " (gone)";
  }
  if (candidate.origins.size() > 1) {
    text += " +" + std::to_string(candidate.origins.size() - 1);
  }
  return text;
}

std::string age_text(system_clock::time_point time) {
  return human_age(std::chrono::duration_cast<std::chrono::seconds>(system_clock::now() - time));
}

json to_json(const store::Candidate& candidate) {
  const store::Entry& entry = candidate.entry;
  json origins = json::array();
  for (const fs::path& origin : candidate.origins) {
    origins.push_back({{"directory", origin.string()}, {"exists", is_there(origin)}});
  }
  json object = {{"kind", candidate.shelf == store::Shelf::entries ? "entry" : "object"},
                 {"op", entry.name},
                 {"entry", entry.key.hex()},
                 {"path", entry.artifact_path().string()},
                 {"size", entry.size},
                 {"built", timestamp(entry.built)},
                 {"last_use", timestamp(candidate.last_use)},
                 {"origins", origins},
                 {"facts", parsed_facts(entry)}};
  if (!candidate.reason.empty()) {
    object["reason"] = candidate.reason;
  }
  return object;
}

json to_json(const std::vector<store::Candidate>& candidates) {
  json array = json::array();
  for (const store::Candidate& candidate : candidates) {
    array.push_back(to_json(candidate));
  }
  return array;
}

std::string text_of(const json& document) {
  return json_text(document, 2);
}

std::vector<std::string> lines_of(const std::vector<store::Candidate>& candidates) {
  std::vector<std::vector<std::string>> rows;
  for (const store::Candidate& candidate : candidates) {
    const std::string name = candidate.entry.name.empty() ? "?" : candidate.entry.name;
    rows.push_back({"  " + name + (candidate.shelf == store::Shelf::objects ? " (object)" : ""),
                    facts_of(candidate.entry).arch, human_size(candidate.entry.size),
                    short_key(candidate.entry), candidate.reason});
  }
  return aligned(rows);
}

std::string counted_candidates(const std::vector<store::Candidate>& candidates) {
  const auto entries = static_cast<std::uint64_t>(
      std::count_if(candidates.begin(), candidates.end(),
                    [](const store::Candidate& one) { return one.shelf == store::Shelf::entries; }));
  const std::uint64_t objects = candidates.size() - entries;
  const std::string text = counted(entries, "entry");
  return objects == 0 ? text : text + " and " + counted(objects, "object");
}

} // namespace dcuop::cli
