// dcuop build: compile every op that is not in the cache, for the archs that were chosen.

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <optional>
#include <thread>

#include <CLI/CLI.hpp>
#include <nlohmann/json.hpp>

#include "build_view.hpp"
#include "command.hpp"
#include "dcuop/build/build.hpp"
#include "dcuop/build/compile_commands.hpp"
#include "dcuop/store/prune.hpp"
#include "dcuop/store/statistics.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/log.hpp"
#include "dcuop/support/text.hpp"
#include "detached.hpp"
#include "selection.hpp"
#include "shared_caches.hpp"

namespace dcuop::cli {

namespace {

struct Request {
  Selection selection;
  int jobs = 0; ///< 0: as the config or the machine says
  bool force = false, dry_run = false, print_path = false;
  std::optional<std::string> lock_timeout, compile_commands;
};

build::Options options_of(const Request& request, const Config& config) {
  build::Options options;
  options.force = request.force;
  options.dry_run = request.dry_run;
  options.forbidden = config.text("build") == "never";
  if (request.lock_timeout) {
    options.lock_timeout = parse_duration(*request.lock_timeout);
    if (!options.lock_timeout) {
      throw Error(ExitCode::usage, "--lock-timeout '" + *request.lock_timeout + "' is no duration",
                  "write 30s, 10m or 1h");
    }
  } else if (const std::optional<std::int64_t> seconds = config.seconds("lock_timeout")) {
    options.lock_timeout = std::chrono::seconds(*seconds);
  }
  options.trace = config.value("trace").text != "never";
  if (const std::optional<std::int64_t> seconds = config.seconds("lock_wait")) {
    options.lock_wait = std::chrono::seconds(*seconds);
  }
  return options;
}

/// Pipes of a child and files that are read beside it; the rest is for the cache and what the process came with.
std::int64_t jobs_that_can_open_files() {
  constexpr std::int64_t files_a_job = 12;
  constexpr std::int64_t files_besides = 40;
  rlimit limit{};
  if (::getrlimit(RLIMIT_NOFILE, &limit) != 0 || limit.rlim_cur > 1U << 20U) {
    return std::numeric_limits<std::int32_t>::max();
  }
  return std::max<std::int64_t>(1, (static_cast<std::int64_t>(limit.rlim_cur) - files_besides) / files_a_job);
}

/// A rename would put a file in place of a device or a pipe, /dev/stdout too: root could lose /dev/null.
void check_replaceable(const std::string& file) {
  const std::optional<FileIdentity> identity = identity_of(file);
  if (file.empty() || (identity && !identity->is_regular())) {
    throw Error(ExitCode::usage, "--compile-commands '" + file + "' is no regular file",
                "name one that may be written, or replaced");
  }
}

int jobs_of(const Request& request, const Config& config, const build::Limits& limits) {
  const std::int64_t most = jobs_that_can_open_files();
  const std::int64_t wanted = request.jobs > 0 ? request.jobs : config.integer("jobs").value_or(0);
  if (wanted > 0) {
    return static_cast<int>(std::min(wanted, most));
  }
  constexpr std::uint64_t processes_a_job = 12; // supervisor, perl, sh, clang drivers and cc1, lld, bundler
  const std::uint64_t by_processes =
      limits.processes == 0 ? 1U << 16U : std::max<std::uint64_t>(1, limits.processes / processes_a_job);
  return static_cast<int>(std::min(
      {static_cast<std::int64_t>(limits.processors), static_cast<std::int64_t>(by_processes), most}));
}

/// An op that ended by an Error beside others that did not: forbidden, a lock timeout, a full disk.
build::OpResult ended_by(const Error& error, const key::Request& request) {
  build::OpResult result;
  result.name = request.op.name;
  result.status = build::Status::failed;
  result.failure = store::Failure{
      error.what(), error.hint, static_cast<int>(error.code), {}, std::chrono::system_clock::now()};
  return result;
}

/// Every op on its own thread, as many as there are jobs; compilers are limited by the slots they share. The
/// Error of a single op is thrown on, that of one among several is its result.
std::vector<build::OpResult> build_all(const Prepared& prepared, const build::Workshop& workshop,
                                       BuildView& view, bool show) {
  const std::size_t count = prepared.requests.size();
  std::vector<build::OpResult> results(count);
  std::vector<std::exception_ptr> faults(count);
  std::atomic<std::size_t> next{0};
  const auto build_one = [&](const key::Request& request) {
    try {
      return build::build_op(request, workshop);
    } catch (const Error& error) {
      if (count == 1) {
        throw;
      }
      return ended_by(error, request);
    }
  };
  const auto work = [&] {
    for (std::size_t index = next++; index < count; index = next++) {
      try {
        results[index] = build_one(prepared.requests[index]);
        if (show) {
          view.show(results[index]);
        }
      } catch (...) {
        faults[index] = std::current_exception();
      }
    }
  };
  std::vector<std::jthread> workers;
  const std::size_t threads = std::min(count, static_cast<std::size_t>(workshop.slots.jobs()));
  for (std::size_t index = 1; index < threads; ++index) {
    workers.emplace_back(work);
  }
  work();
  workers.clear(); // joins
  for (const std::exception_ptr& fault : faults) {
    if (fault) {
      std::rethrow_exception(fault);
    }
  }
  return results;
}

/// What a hit saved: the compile time that its entry's builder recorded.
std::chrono::milliseconds compile_time_of(const store::Entry& entry) {
  const nlohmann::json facts = nlohmann::json::parse(entry.facts_json, nullptr, false);
  return std::chrono::milliseconds(facts.is_object() ? facts.value("compile_ms", std::int64_t{0}) : 0);
}

void count_events(const store::Store& store, const std::vector<build::OpResult>& results) {
  for (const build::OpResult& result : results) {
    switch (result.status) {
    case build::Status::hit:
      store::record_event(store, store::Event::hit, compile_time_of(result.entry));
      break;
    case build::Status::built:
      store::record_event(store, store::Event::built, {});
      break;
    case build::Status::failed:
      store::record_event(store, store::Event::failed, {});
      break;
    case build::Status::would_build:
      break;
    }
  }
}

/// A build never waits for the removal of what it made too much.
void prune_when_due(const store::Store& store, const std::vector<build::OpResult>& results,
                    const Config& config) {
  const bool has_compiled = std::any_of(results.begin(), results.end(), [](const build::OpResult& result) {
    return result.status == build::Status::built || result.status == build::Status::failed;
  });
  const std::optional<std::uint64_t> limit = config.size("max_size");
  if (!has_compiled || store.read_only() || !limit ||
      !store::is_prune_due(store::growth_of(store), *limit, std::chrono::system_clock::now()) ||
      store::is_being_pruned(store)) {
    return;
  }
  if (!start_self_detached({"cache", "prune", "--quiet", "--cache-dir", store.root().string()})) {
    log_warning("the cache is over max_size, and a prune could not be started: dcuop cache prune");
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

ExitCode exit_code_of(const std::vector<build::OpResult>& results) {
  for (const build::OpResult& result : results) {
    if (result.failure) {
      return static_cast<ExitCode>(result.failure->exit_code);
    }
  }
  return ExitCode::ok;
}

ExitCode run(const Request& request, Context& context) {
  const auto start = std::chrono::steady_clock::now();
  Terminal& terminal = context.terminal;
  if (request.compile_commands) {
    check_replaceable(*request.compile_commands);
  }
  const Prepared prepared = prepare(context, request.selection);
  if (request.compile_commands) {
    build::write_compile_commands(prepared.requests, *request.compile_commands);
  }
  store::Store& store = context.store();
  const std::vector<store::Store> shared = open_shared_caches(context);
  const build::Options options = options_of(request, context.config);
  const build::Limits limits = build::limits_of_this_process();
  build::JobSlots slots(jobs_of(request, context.config, limits), limits.memory / 10 * 9);
  terminal.remark(terminal.styled_error(facts_line(prepared, context.environment), Style::dim) + " · " +
                  counted(prepared.ops.size(), "op") + ", " +
                  counted(static_cast<std::uint64_t>(slots.jobs()), "job"));
  std::size_t widest = 0;
  for (const op::Op& op : prepared.ops) {
    widest = std::max(widest, op.name.size());
  }
  const bool show = !context.json() && !request.print_path;
  std::vector<build::OpResult> results;
  {
    BuildView view(terminal, context.environment, context.working_directory, widest);
    results = build_all(
        prepared, {store, shared, context.processes, slots, view, options, context.environment}, view, show);
    if (!show && !context.json()) {
      for (const build::OpResult& result : results) {
        if (result.status == build::Status::failed) {
          view.show(result);
        }
      }
    }
  }
  count_events(store, results);
  prune_when_due(store, results, context.config);
  const auto wall =
      std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - start);
  if (context.json()) {
    nlohmann::json ops = nlohmann::json::array();
    for (std::size_t index = 0; index < results.size(); ++index) {
      ops.push_back(to_json(results[index], prepared.requests[index], store, shared));
    }
    const nlohmann::json document = {
        {"schema", 1},
        {"arch", {{"archs", prepared.facts.archs.archs}, {"origin", prepared.facts.archs.origin}}},
        {"ops", std::move(ops)},
        {"processes_started", context.processes.started()},
        {"seconds", static_cast<double>(wall.count()) / 1000.0}};
    terminal.answer(json_text(document, 2));
  } else if (request.print_path) {
    for (const build::OpResult& result : results) {
      if (result.status == build::Status::hit || result.status == build::Status::built) {
        terminal.answer(result.entry.artifact_path().string());
      }
    }
  } else if (results.size() > 1) {
    terminal.answer(closing_line(results, wall));
  }
  return exit_code_of(results);
}

} // namespace

void add_build(Commands& commands) {
  auto request = std::make_shared<Request>();
  CLI::App* subcommand =
      commands.add("build", "Compile the ops that are not in the cache",
                   "  dcuop build                          every op of the workspace\n"
                   "  dcuop build affine --arch gfx936     one op, for one arch\n"
                   "  dcuop build --arch gfx906,gfx936     two archs in each file\n"
                   "  dcuop build affine --backend host    what its dcuop.toml says in [backend.host]\n"
                   "  dcuop build affine --print-path      only the path of the shared object\n"
                   "  dcuop build --dry-run                what would be built, and why");
  add_selection(subcommand, request->selection);
  subcommand->add_option("-j,--jobs", request->jobs, "Compilers at once (default: by processors and memory)")
      ->check(CLI::Range(1, 1024));
  subcommand->add_flag("--force", request->force, "Compile everything again");
  subcommand->add_flag("--dry-run", request->dry_run, "Say what would be built, and why; build nothing");
  subcommand->add_flag("--print-path", request->print_path,
                       "Print the shared objects' paths alone, one line an op");
  subcommand->add_option("--lock-timeout", request->lock_timeout,
                         "Give up (exit 4) when another process has been building an op for so long");
  subcommand
      ->add_option("--compile-commands", request->compile_commands,
                   "Write a compile_commands.json for the ops to FILE")
      ->type_name("FILE");
  commands.run(subcommand, [request](Context& context) { return run(*request, context); });
}

} // namespace dcuop::cli
