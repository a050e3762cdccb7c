// dcuop clean: removes what was selected, says what and why, and never what is in use.

#include <unistd.h>

#include <algorithm>
#include <iostream>
#include <map>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "dcuop/store/eviction.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "entry_view.hpp"
#include "staleness.hpp"

namespace dcuop::cli {

namespace {

constexpr const char* examples =
    "  dcuop clean affine                 the entries of one op (by name, or by its directory)\n"
    "  dcuop clean --stale                those that no directory would ask for again\n"
    "  dcuop clean --older-than 30d       those not used for 30 days\n"
    "  dcuop clean --max-size 2G          the least recently used, down to 90 % of 2 GiB\n"
    "  dcuop clean --all --dry-run        what would go\n"
    "OP, --stale and --older-than hold together; --max-size takes from what they leave.";

struct Request {
  std::vector<std::string> ops;
  bool stale = false;
  bool all = false;
  bool dry_run = false;
  bool yes = false;
  std::string older_than; ///< as given
  std::string max_size;
};

bool is_path(const std::string& op) {
  return op == "." || op == ".." || op.find('/') != std::string::npos;
}

/// The directories that still have entries of this name; several of them make the name ambiguous.
store::Target target_by_name(const store::Store& store, const std::string& name) {
  std::vector<std::filesystem::path> origins = store.origins_of(name);
  std::erase_if(origins, [&](const auto& origin) { return store.entries_of(name, origin).empty(); });
  if (origins.size() <= 1) {
    return {name, origins.empty() ? std::nullopt : std::optional(origins.front())};
  }
  std::vector<std::string> commands;
  commands.reserve(origins.size());
  for (const std::filesystem::path& origin : origins) {
    commands.push_back("dcuop clean " + shell_quoted({origin.string()}));
  }
  throw Error(ExitCode::usage,
              "'" + name + "' is ambiguous: " + counted(origins.size(), "directory") +
                  " asked for entries of that name",
              "say which: " + join(commands, "; or "));
}

store::Selection selection_of(Context& context, const Request& request) {
  store::Selection selection;
  selection.all = request.all;
  for (const std::string& op : request.ops) {
    selection.targets.push_back(
        is_path(op) ? store::Target{std::nullopt, absolute_from(op, context.working_directory)}
                    : target_by_name(context.store(), op));
  }
  if (request.stale) {
    selection.stale = stale_test(context);
  }
  if (!request.older_than.empty()) {
    selection.older_than = parse_duration(request.older_than);
    if (!selection.older_than) {
      throw Error(ExitCode::usage, "--older-than " + request.older_than + ": not a duration",
                  "give a number and s, m, h or d, such as 30d");
    }
  }
  if (!request.max_size.empty()) {
    selection.max_size = parse_size(request.max_size);
    if (!selection.max_size) {
      throw Error(ExitCode::usage, "--max-size " + request.max_size + ": not a size",
                  "give a number and K, M or G, such as 2G");
    }
  }
  if (selection.is_empty()) {
    throw Error(
        ExitCode::usage, "clean needs to know what to remove",
        "give an op (dcuop clean affine), --stale, --older-than 30d, --max-size 2G or --all; --dry-run shows "
        "what would go");
  }
  if (request.all &&
      !(request.ops.empty() && !request.stale && !selection.older_than && !selection.max_size)) {
    throw Error(ExitCode::usage, "--all removes everything: it does not go with an op or another selection",
                "leave one of them out");
  }
  return selection;
}

bool is_confirmed(Context& context, const store::EvictionPlan& plan) {
  if (isatty(STDIN_FILENO) == 0) {
    throw Error(ExitCode::usage, "clean --all without a terminal needs --yes", "dcuop clean --all --yes");
  }
  context.terminal.error("remove all " + counted_candidates(plan.remove) + " (" +
                         human_size(store::size_of(plan.remove)) + ") from " +
                         shortened(context.store().root(), context.environment) + "? [y/N]");
  std::string answer;
  std::getline(std::cin, answer);
  return answer == "y" || answer == "Y" || answer == "yes";
}

/// "3 whose origin is gone" of the one-line summary.
std::string reasons_of(const std::vector<store::Candidate>& removed) {
  std::map<std::string, std::uint64_t> reasons;
  for (const store::Candidate& candidate : removed) {
    ++reasons[candidate.reason];
  }
  // Ages differ from entry to entry, and stand in their lines.
  if (reasons.size() > 3 || reasons.contains("selected")) {
    return "";
  }
  std::vector<std::string> parts;
  parts.reserve(reasons.size());
  for (const auto& [reason, count] : reasons) {
    parts.push_back(reasons.size() == 1 ? reason : std::to_string(count) + " " + reason);
  }
  return parts.empty() ? "" : ": " + join(parts, ", ");
}

void print(Context& context, const store::EvictionPlan& plan, bool dry_run) {
  if (context.json()) {
    context.terminal.answer(text_of({{"schema", 1},
                                     {"cache", context.store().root().string()},
                                     {"dry_run", dry_run},
                                     {"removed", to_json(plan.remove)},
                                     {"removed_bytes", store::size_of(plan.remove)},
                                     {"kept_in_use", to_json(plan.keep_in_use)}}));
    return;
  }
  for (const std::string& line : lines_of(plan.remove)) {
    context.terminal.answer(line);
  }
  std::string summary = "nothing to remove";
  if (!plan.remove.empty()) {
    summary = std::string(dry_run ? "would remove " : "removed ") + counted_candidates(plan.remove) + ", " +
              human_size(store::size_of(plan.remove)) + reasons_of(plan.remove);
  }
  if (!plan.keep_in_use.empty()) {
    summary +=
        std::string(dry_run ? "; keeps " : "; kept ") + counted_candidates(plan.keep_in_use) + " in use";
  }
  context.terminal.answer(summary);
}

ExitCode clean(Context& context, const Request& request) {
  const store::Selection selection = selection_of(context, request);
  store::Store& store = context.store();
  store::EvictionPlan plan = store::select(store, selection);
  if (request.dry_run) {
    print(context, plan, true);
    return ExitCode::ok;
  }
  if (request.all && !request.yes && !plan.remove.empty() && !is_confirmed(context, plan)) {
    context.terminal.remark("nothing was removed");
    return ExitCode::ok;
  }
  plan = store::apply(store, plan);
  (void)store.prune_leftovers(request.all ? std::chrono::seconds(0) : std::chrono::hours(1));
  print(context, plan, false);
  return ExitCode::ok;
}

} // namespace

void add_clean(Commands& commands) {
  const Subcommand subcommand = commands.add("clean", "Remove entries from the cache", examples);
  const auto request = std::make_shared<Request>();
  subcommand.option("OP", request->ops, "Entries of this op: its name, or its directory (with a slash)");
  subcommand.flag("--stale", request->stale,
                  "Entries whose origin is gone, or would ask for something else now");
  subcommand.option("--older-than", request->older_than, "Entries not used for this long")
      .type_name("DURATION");
  subcommand.option("--max-size", request->max_size, "The least recently used, until the cache is smaller")
      .type_name("SIZE");
  subcommand.flag("--all", request->all, "Everything; asks before, on a terminal");
  subcommand.flag("--dry-run,-n", request->dry_run, "Only say what would be removed");
  subcommand.flag("--yes,-y", request->yes, "Do not ask");
  commands.run(subcommand, [request](Context& context) { return clean(context, *request); });
}

} // namespace dcuop::cli
