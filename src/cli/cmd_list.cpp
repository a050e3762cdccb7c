// dcuop list: what is in the cache.

#include <algorithm>
#include <tuple>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "dcuop/store/eviction.hpp"
#include "dcuop/support/text.hpp"
#include "entry_view.hpp"
#include "staleness.hpp"
#include "table.hpp"

namespace dcuop::cli {

namespace {

constexpr const char* examples =
    "  dcuop list              every entry: for which arch and torch, when built and used, from where\n"
    "  dcuop list affine       those of one op\n"
    "  dcuop list --json       with paths and all that the build noted";

std::vector<store::Candidate> entries_in(const store::Store& store, const std::vector<std::string>& names) {
  std::vector<store::Candidate> entries = store::candidates(store, store::Shelf::entries);
  std::erase_if(entries, [&](const store::Candidate& candidate) {
    const bool is_damaged = candidate.entry.artifact.empty();
    const bool is_wanted =
        names.empty() || std::find(names.begin(), names.end(), candidate.entry.name) != names.end();
    return is_damaged || !is_wanted;
  });
  std::stable_sort(entries.begin(), entries.end(), [](const store::Candidate& a, const store::Candidate& b) {
    return std::tie(a.entry.name, b.last_use) < std::tie(b.entry.name, a.last_use);
  });
  return entries;
}

nlohmann::json with_standings(Context& context, const std::vector<store::Candidate>& entries) {
  Staleness staleness(context);
  nlohmann::json list = nlohmann::json::array();
  for (const store::Candidate& candidate : entries) {
    nlohmann::json entry = to_json(candidate);
    const Standing standing = staleness.standing_of(candidate);
    entry["state"] = to_string(standing.kind);
    if (!standing.reason.empty()) {
      entry["stale_because"] = standing.reason;
    }
    list.push_back(std::move(entry));
  }
  return list;
}

void print_table(Context& context, const std::vector<store::Candidate>& entries) {
  std::vector<std::vector<std::string>> rows{
      {"op", "backend", "arch", "torch", "built", "last use", "size", "entry", "origin", "state"}};
  Staleness staleness(context);
  for (const store::Candidate& candidate : entries) {
    const EntryFacts facts = facts_of(candidate.entry);
    rows.push_back(
        {candidate.entry.name, facts.backend, facts.arch, facts.torch, age_text(candidate.entry.built),
         age_text(candidate.last_use), human_size(candidate.entry.size), short_key(candidate.entry),
         origin_text(candidate, context.environment), to_string(staleness.standing_of(candidate).kind)});
  }
  const std::vector<std::string> lines = aligned(rows);
  context.terminal.answer(context.terminal.styled(lines.front(), Style::bold));
  for (std::size_t i = 1; i < lines.size(); ++i) {
    context.terminal.answer(lines[i]);
  }
}

ExitCode list(Context& context, const std::vector<std::string>& names) {
  const std::vector<store::Candidate> entries = entries_in(context.store(), names);
  if (context.json()) {
    context.terminal.answer(text_of({{"schema", 1},
                                     {"cache", context.store().root().string()},
                                     {"entries", with_standings(context, entries)}}));
    return ExitCode::ok;
  }
  const std::string cache = shortened(context.store().root(), context.environment);
  if (entries.empty()) {
    context.terminal.remark("no entries" + (names.empty() ? "" : " of " + join(names, ", ")) + " in " +
                            cache);
    return ExitCode::ok;
  }
  print_table(context, entries);
  context.terminal.remark(counted(entries.size(), "entry") + ", " + human_size(store::size_of(entries)) +
                          " in " + cache);
  return ExitCode::ok;
}

} // namespace

void add_list(Commands& commands) {
  const Subcommand subcommand = commands.add("list", "What is in the cache", examples);
  const auto names = std::make_shared<std::vector<std::string>>();
  subcommand.option("OP", *names, "Only entries of these ops, by name");
  commands.run(subcommand, [names](Context& context) { return list(context, *names); });
}

} // namespace dcuop::cli
