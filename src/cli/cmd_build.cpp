// dcuop build: compile every op that is not in the cache, for the archs that were chosen.

#include <algorithm>
#include <chrono>
#include <optional>

#include <nlohmann/json.hpp>

#include "build_view.hpp"
#include "builder.hpp"
#include "command.hpp"
#include "dcuop/build/compile_commands.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"
#include "remember.hpp"
#include "selection.hpp"

namespace dcuop::cli {

namespace {

struct Request {
  Selection selection;
  BuildWish wish;
  bool print_path = false;
  std::optional<std::string> compile_commands;
  std::optional<std::string> remember;       ///< file
  std::optional<std::string> name_variables; ///< directory of answers
};

/// A rename would put a file in place of a device or a pipe, /dev/stdout too: root could lose /dev/null.
void check_replaceable(const std::string& file) {
  const std::optional<FileIdentity> identity = identity_of(file);
  if (file.empty() || (identity && !identity->is_regular())) {
    throw Error(ExitCode::usage, "--compile-commands '" + file + "' is no regular file",
                "name one that may be written, or replaced");
  }
}

std::string closing_line(const std::vector<build::OpResult>& results, std::chrono::milliseconds wall) {
  const auto count = [&](build::Status status) {
    return std::count_if(results.begin(), results.end(),
                         [&](const auto& result) { return result.status == status; });
  };
  std::vector<std::string> parts;
  const auto part = [&](build::Status status, const char* word) {
    if (const auto number = count(status); number > 0) {
      parts.push_back(std::to_string(number) + " " + word);
    }
  };
  part(build::Status::hit, "hit");
  part(build::Status::built, "built");
  part(build::Status::would_build, "would be built");
  part(build::Status::failed, "failed");
  return counted(results.size(), "op") + ": " + join(parts, ", ") + " in " + human_duration(wall);
}

nlohmann::json document_of(const Built& built, const Prepared& prepared, std::chrono::milliseconds wall,
                           Context& context) {
  nlohmann::json ops = nlohmann::json::array();
  for (std::size_t index = 0; index < built.results.size(); ++index) {
    ops.push_back(
        to_json(built.results[index], prepared.requests[index], context.store(), built.shared_caches));
  }
  const probe::ArchSelection archs = archs_of(prepared);
  return {{"schema", 1},
          {"arch", {{"archs", archs.archs}, {"origin", archs.origin}}},
          {"ops", std::move(ops)},
          {"processes_started", context.processes.started()},
          {"seconds", static_cast<double>(wall.count()) / 1000.0}};
}

void remember_if_hit(Context& context, const Built& built, const std::string& file) {
  if (built.results.size() == 1 && built.results[0].status == build::Status::hit &&
      context.processes.started() == 0) {
    remember_detached(context, file, built.results[0]);
  }
}

ExitCode run(const Request& request, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  Terminal& terminal = context.terminal;
  if (request.compile_commands) {
    check_replaceable(*request.compile_commands);
  }
  if (request.name_variables && !fs::is_directory(*request.name_variables)) {
    throw Error(ExitCode::environment,
                "the cache was removed"); // nobody waits for this: it must not be made again
  }
  const Prepared prepared = prepare(context, request.selection);
  if (request.compile_commands) {
    build::write_compile_commands(prepared.requests, *request.compile_commands);
  }
  BuildWish wish = request.wish;
  wish.show = context.json()       ? BuildWish::Show::nothing
              : request.print_path ? BuildWish::Show::failures
                                   : BuildWish::Show::all;
  const Built built = build_selected(context, prepared, wish);
  const auto wall =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  if (context.json()) {
    nlohmann::json document = document_of(built, prepared, wall, context);
    if (request.name_variables) {
      document["variables"] = asked_variables(context);
    }
    terminal.answer(json_text(document, 2));
    if (request.remember) {
      remember_if_hit(context, built, *request.remember);
    }
  } else if (request.print_path) {
    for (const build::OpResult& result : built.results) {
      if (result.status == build::Status::hit || result.status == build::Status::built) {
        terminal.answer(result.entry.artifact_path().string());
      }
    }
  } else if (built.results.size() > 1) {
    terminal.answer(closing_line(built.results, wall));
  }
  return built.exit_code();
}

} // namespace

void add_build(Commands& commands) {
  auto request = std::make_shared<Request>();
  const Subcommand subcommand =
      commands.add("build", "Compile the ops that are not in the cache",
                   "  dcuop build                          every op of the workspace\n"
                   "  dcuop build affine --arch gfx936     one op, for one arch\n"
                   "  dcuop build --arch gfx906,gfx936     two archs in each file\n"
                   "  dcuop build affine --backend host    what its dcuop.toml says in [backend.host]\n"
                   "  dcuop build affine --print-path      only the path of the shared object\n"
                   "  dcuop build --dry-run                what would be built, and why");
  add_selection(subcommand, request->selection);
  subcommand.option("-j,--jobs", request->wish.jobs, "Compilers at once (default: by processors and memory)")
      .in_range(1, 1024);
  subcommand.flag("--force", request->wish.force, "Compile everything again");
  subcommand.flag("--dry-run", request->wish.dry_run, "Say what would be built, and why; build nothing");
  subcommand.flag("--print-path", request->print_path,
                  "Print the shared objects' paths alone, one line an op");
  subcommand.option("--lock-timeout", request->wish.lock_timeout,
                    "Give up (exit 4) when another process has been building an op for so long");
  subcommand
      .option("--compile-commands", request->compile_commands,
              "Write a compile_commands.json for the ops to FILE")
      .type_name("FILE");
  // For python/dcuop/_recall.py, and for what answers it.
  subcommand.option("--remember", request->remember, "").hidden();
  subcommand.option("--name-variables", request->name_variables, "").hidden();
  commands.run(subcommand, [request](Context& context) { return run(*request, context); });
}

} // namespace dcuop::cli
