// dcuop key: the request of an op, and its entry when one is known.

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "dcuop/build/find_entry.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/json_text.hpp"
#include "selection.hpp"

namespace dcuop::cli {

namespace {

ExitCode run(const Selection& selection, Context& context) {
  const Prepared prepared = prepare(context, selection);
  nlohmann::json ops = nlohmann::json::array();
  for (const key::Request& request : prepared.requests) {
    const std::optional<store::Entry> entry = build::find_entry(request, context.store());
    if (!context.json()) {
      context.terminal.answer(request.op.name + "  request " + request.digest.hex() +
                              (entry ? "  entry " + entry->key.hex() : "  no entry yet"));
      for (const std::string& reason : request.uncacheable) {
        context.terminal.remark("  never cached: " + reason);
      }
      continue;
    }
    nlohmann::json item = {{"name", request.op.name},
                           {"request", request.digest.hex()},
                           {"backend", op::to_string(request.op.backend)},
                           {"archs", request.archs},
                           {"uncacheable", request.uncacheable},
                           {"components", key::to_json(request.components)}};
    item["entry"] = entry ? nlohmann::json(entry->key.hex()) : nlohmann::json();
    ops.push_back(std::move(item));
  }
  if (context.json()) {
    const nlohmann::json document = {{"schema", 1}, {"ops", std::move(ops)}};
    context.terminal.answer(json_text(document, 2));
  }
  return ExitCode::ok;
}

} // namespace

void add_key(Commands& commands) {
  auto selection = std::make_shared<Selection>();
  const Subcommand subcommand =
      commands.add("key", "Print the request of an op, and its entry when one is known",
                   "  dcuop key affine --arch gfx906\n"
                   "  dcuop key --json                 with every component");
  add_selection(subcommand, *selection);
  commands.run(subcommand, [selection](Context& context) { return run(*selection, context); });
}

} // namespace dcuop::cli
