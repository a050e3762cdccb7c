// dcuop cache dir|stats|verify|prune: the cache as a whole.

#include <limits>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "dcuop/store/eviction.hpp"
#include "dcuop/store/prune.hpp"
#include "dcuop/store/statistics.hpp"
#include "dcuop/support/text.hpp"
#include "entry_view.hpp"
#include "table.hpp"

namespace dcuop::cli {

namespace {

constexpr const char* examples =
    "  dcuop cache dir         where it is\n"
    "  dcuop cache stats       what is in it, and what it spared\n"
    "  dcuop cache verify      reads every file again; exit 1 when one is damaged\n"
    "  dcuop cache prune       removes leftovers, and what is beyond max_size";

ExitCode print_directory(Context& context) {
  const std::filesystem::path directory = context.config.cache_dir();
  if (context.json()) {
    context.terminal.answer(text_of({{"schema", 1},
                                     {"cache", directory.string()},
                                     {"origin", context.config.value("cache_dir").origin}}));
  } else {
    context.terminal.answer(directory.string());
  }
  return ExitCode::ok;
}

ExitCode print_statistics(Context& context) {
  const store::Store& store = context.store();
  const store::Usage usage = store.usage();
  const store::Totals totals = store::totals(store);
  if (context.json()) {
    context.terminal.answer(text_of({{"schema", 1},
                                     {"cache", store.root().string()},
                                     {"read_only", store.read_only()},
                                     {"entries", usage.entries},
                                     {"entry_bytes", usage.entry_bytes},
                                     {"objects", usage.objects},
                                     {"object_bytes", usage.object_bytes},
                                     {"index_records", usage.index_records},
                                     {"other_bytes", usage.other_bytes},
                                     {"hits", totals.hits},
                                     {"built", totals.built},
                                     {"failed", totals.failed},
                                     {"saved_ms", totals.saved.count()}}));
    return ExitCode::ok;
  }
  const std::string place = shortened(store.root(), context.environment);
  for (const std::string& line :
       aligned({{"cache", place + (store.read_only() ? " (read-only)" : "")},
                {"entries", std::to_string(usage.entries) + ", " + human_size(usage.entry_bytes)},
                {"objects", std::to_string(usage.objects) + ", " + human_size(usage.object_bytes)},
                {"index", counted(usage.index_records, "record") + "; index, logs, memos and results " +
                              human_size(usage.other_bytes)},
                {"since ever", counted(totals.hits, "hit") + ", " + std::to_string(totals.built) +
                                   " built, " + std::to_string(totals.failed) + " failed; hits spared " +
                                   human_duration(totals.saved) + " of compiling"}})) {
    context.terminal.answer(line);
  }
  return ExitCode::ok;
}

ExitCode verify(Context& context) {
  const store::Store& store = context.store();
  const std::vector<store::Damage> damages = store.verify();
  const store::Usage usage = store.usage();
  const ExitCode code = damages.empty() ? ExitCode::ok : ExitCode::failed;
  if (context.json()) {
    nlohmann::json list = nlohmann::json::array();
    for (const store::Damage& damage : damages) {
      list.push_back({{"path", damage.path.string()}, {"damage", damage.what}});
    }
    context.terminal.answer(text_of({{"schema", 1},
                                     {"cache", store.root().string()},
                                     {"entries", usage.entries},
                                     {"objects", usage.objects},
                                     {"index_records", usage.index_records},
                                     {"damaged", list}}));
    return code;
  }
  for (const store::Damage& damage : damages) {
    context.terminal.answer(shortened(damage.path, context.environment) + ": " + damage.what);
  }
  context.terminal.answer("verified " + counted(usage.entries, "entry") + ", " +
                          counted(usage.objects, "object") + " and " +
                          counted(usage.index_records, "index record") + ": " +
                          (damages.empty() ? "no damage" : std::to_string(damages.size()) + " damaged"));
  if (!damages.empty()) {
    context.terminal.remark("a damaged entry is never used: the next build that asks for it replaces it");
  }
  return code;
}

ExitCode prune(Context& context) {
  store::Store& store = context.store();
  constexpr std::uint64_t unlimited = std::numeric_limits<std::uint64_t>::max();
  const store::Pruned pruned = store::prune(store, context.config.size("max_size").value_or(unlimited));
  if (context.json()) {
    context.terminal.answer(text_of({{"schema", 1},
                                     {"cache", store.root().string()},
                                     {"elsewhere", pruned.elsewhere},
                                     {"removed", to_json(pruned.done.remove)},
                                     {"removed_bytes", store::size_of(pruned.done.remove)},
                                     {"kept_in_use", to_json(pruned.done.keep_in_use)},
                                     {"leftovers", pruned.leftovers},
                                     {"bytes_left", pruned.bytes_left}}));
    return ExitCode::ok;
  }
  if (pruned.elsewhere) {
    context.terminal.answer("another process is pruning this cache");
    return ExitCode::ok;
  }
  for (const std::string& line : lines_of(pruned.done.remove)) {
    context.terminal.answer(line);
  }
  context.terminal.answer("removed " + counted_candidates(pruned.done.remove) + ", " +
                          human_size(store::size_of(pruned.done.remove)) + ", and " +
                          counted(pruned.leftovers, "leftover"));
  return ExitCode::ok;
}

void add_part(Commands& commands, const Subcommand& parent, const char* name, const char* summary,
              ExitCode (*run)(Context&)) {
  commands.run(parent.subcommand(name, summary), run);
}

} // namespace

void add_cache(Commands& commands) {
  const Subcommand subcommand =
      commands.add("cache", "Where the cache is, its figures, its health", examples);
  subcommand.require_subcommand();
  add_part(commands, subcommand, "dir", "Where the cache is", print_directory);
  add_part(commands, subcommand, "stats", "What is in it, and what it spared", print_statistics);
  add_part(commands, subcommand, "verify", "Read every file again", verify);
  add_part(commands, subcommand, "prune", "Remove leftovers, and what is beyond max_size", prune);
}

} // namespace dcuop::cli
