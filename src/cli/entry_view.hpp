#pragma once
// Cache entries as list, clean and prune show them.

#include <chrono>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/store/eviction.hpp"
#include "dcuop/support/environment.hpp"

namespace dcuop::cli {

/// The builder's facts as columns; "-" for what an entry does not know.
struct EntryFacts {
  std::string backend = "hip"; ///< what entries from before there were others are for
  std::string arch = "-";
  std::string torch = "-";
  std::string python = "-";
};
[[nodiscard]] EntryFacts facts_of(const store::Entry& entry);

[[nodiscard]] std::string short_key(const store::Entry& entry); ///< "3f9c1e2a…"
/// Where it was asked from, and whether that is still there.
[[nodiscard]] std::string origin_text(const store::Candidate& candidate, const Environment& environment);
[[nodiscard]] std::string age_text(std::chrono::system_clock::time_point time);

[[nodiscard]] nlohmann::json to_json(const store::Candidate& candidate);
[[nodiscard]] nlohmann::json to_json(const std::vector<store::Candidate>& candidates);
/// JSON text in which bytes that are not UTF-8 are replaced.
[[nodiscard]] std::string text_of(const nlohmann::json& document);

/// One line each: op, arch, size, entry, why it goes.
[[nodiscard]] std::vector<std::string> lines_of(const std::vector<store::Candidate>& candidates);
/// "2 entries and 3 objects"; "1 entry" alone when there are no objects.
[[nodiscard]] std::string counted_candidates(const std::vector<store::Candidate>& candidates);

} // namespace dcuop::cli
