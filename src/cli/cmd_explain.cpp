// dcuop explain: why an op would be a hit, or what makes it a miss.

#include <chrono>
#include <map>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "dcuop/build/explain.hpp"
#include "dcuop/build/find_entry.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"
#include "selection.hpp"

namespace dcuop::cli {

namespace {

std::string built(const store::Entry& entry) {
  const auto age = std::chrono::system_clock::now() - entry.built;
  return entry.key.hex().substr(0, 8) + "…, built " +
         human_age(std::chrono::duration_cast<std::chrono::seconds>(age));
}

/// "unchanged: 2 sources, 14 toolchain files, ...": the groups of the request, counted.
std::string group_counts(const key::Components& components) {
  std::map<key::Group, std::uint64_t> counts;
  for (const key::Component& component : components.all()) {
    ++counts[component.group];
  }
  std::vector<std::string> parts;
  const auto part = [&](key::Group group, const char* word) {
    if (counts[group] > 0) {
      parts.push_back(counted(counts[group], word));
    }
  };
  part(key::Group::source, "source");
  part(key::Group::flag, "flag list");
  part(key::Group::toolchain, "toolchain file");
  part(key::Group::bitcode, "device library");
  part(key::Group::environment, "environment variable");
  for (const auto& [group, word] :
       {std::pair(key::Group::torch, "torch"), std::pair(key::Group::python, "python")}) {
    if (counts[group] > 0) {
      parts.emplace_back(word);
    }
  }
  return join(parts, ", ");
}

void show(Context& context, const key::Request& request, const std::optional<store::Entry>& hit,
          const std::optional<build::Explanation>& explanation) {
  Terminal& terminal = context.terminal;
  const bool is_hip = request.op.backend == op::Backend::hip;
  const std::string subject = terminal.styled(request.op.name, Style::bold) +
                              (is_hip ? "" : " " + op::to_string(request.op.backend)) +
                              (request.archs.empty() ? "" : " " + join(request.archs, ","));
  for (const std::string& reason : request.uncacheable) {
    terminal.answer(std::string(subject).append(": is never cached: ").append(reason));
  }
  if (hit) {
    terminal.answer(subject + ": is a hit (entry " + built(*hit) + ")");
    const std::uint64_t inputs = explanation ? explanation->unchanged_inputs : 0;
    terminal.answer("  unchanged: " + group_counts(request.components) + ", " + counted(inputs, "file") +
                    " that the build read");
    return;
  }
  if (!explanation) {
    terminal.answer(subject + ": would be a miss: no earlier build of it is in the cache");
    return;
  }
  terminal.answer(subject + ": would be a miss (nearest entry " + built(explanation->nearest) + ")");
  for (const key::Difference& difference : explanation->differences) {
    std::string group(key::to_string(difference.group));
    group.resize(std::max<std::size_t>(group.size() + 2, 13), ' ');
    terminal.answer(
        std::string("  ").append(group).append(difference.name).append(" ").append(difference.text));
  }
  if (explanation->differences.empty()) {
    terminal.answer("  nothing differs: the entry's index record is gone; a build will find its parts");
  }
  terminal.answer("unchanged: " + counted(explanation->unchanged_components, "component") + ", " +
                  counted(explanation->unchanged_inputs, "file") + " that the build read");
}

nlohmann::json to_json(const key::Request& request, const std::optional<store::Entry>& hit,
                       const std::optional<build::Explanation>& explanation) {
  nlohmann::json item = {{"name", request.op.name},
                         {"backend", op::to_string(request.op.backend)},
                         {"archs", request.archs},
                         {"request", request.digest.hex()},
                         {"status", hit ? "hit" : "miss"},
                         {"uncacheable", request.uncacheable},
                         {"components", key::to_json(request.components)},
                         {"differences", nlohmann::json::array()}};
  item["entry"] = hit ? nlohmann::json(hit->key.hex()) : nlohmann::json();
  item["nearest"] = explanation ? nlohmann::json(explanation->nearest.key.hex()) : nlohmann::json();
  if (explanation && !hit) {
    for (const key::Difference& difference : explanation->differences) {
      item["differences"].push_back({{"group", key::to_string(difference.group)},
                                     {"name", difference.name},
                                     {"text", difference.text}});
    }
  }
  return item;
}

ExitCode run(const Selection& selection, Context& context) {
  const Prepared prepared = prepare(context, selection);
  nlohmann::json ops = nlohmann::json::array();
  for (const key::Request& request : prepared.requests) {
    store::Store& store = context.store();
    const std::optional<store::Entry> hit = build::find_entry(request, store);
    DigestMemo memo(build::input_memo_file(request, store));
    const std::optional<build::Explanation> explanation = build::explain(request, store, memo);
    if (context.json()) {
      ops.push_back(to_json(request, hit, explanation));
    } else {
      show(context, request, hit, explanation);
    }
  }
  if (context.json()) {
    const nlohmann::json document = {{"schema", 1}, {"ops", std::move(ops)}};
    context.terminal.answer(json_text(document, 2));
  }
  return ExitCode::ok;
}

} // namespace

void add_explain(Commands& commands) {
  auto selection = std::make_shared<Selection>();
  const Subcommand subcommand = commands.add("explain", "Say why an op is a hit, or what makes it a miss",
                                             "  dcuop explain affine\n"
                                             "  dcuop explain affine --arch gfx936 --json");
  add_selection(subcommand, *selection);
  commands.run(subcommand, [selection](Context& context) { return run(*selection, context); });
}

} // namespace dcuop::cli
