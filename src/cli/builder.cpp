#include "builder.hpp"

#include <sys/resource.h>

#include <algorithm>
#include <atomic>
#include <limits>
#include <thread>

#include <nlohmann/json.hpp>

#include "build_view.hpp"
#include "dcuop/store/prune.hpp"
#include "dcuop/store/statistics.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/log.hpp"
#include "dcuop/support/text.hpp"
#include "detached.hpp"
#include "shared_caches.hpp"

namespace dcuop::cli {

namespace {

build::Options options_of(const BuildWish& wish, const Config& config) {
  build::Options options;
  options.force = wish.force;
  options.dry_run = wish.dry_run;
  options.forbidden = config.text("build") == "never";
  if (wish.lock_timeout) {
    options.lock_timeout = parse_duration(*wish.lock_timeout);
    if (!options.lock_timeout) {
      throw Error(ExitCode::usage, "--lock-timeout '" + *wish.lock_timeout + "' is no duration",
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

int jobs_of(const BuildWish& wish, const Config& config, const build::Limits& limits) {
  const std::int64_t most = jobs_that_can_open_files();
  const std::int64_t wanted = wish.jobs > 0 ? wish.jobs : config.integer("jobs").value_or(0);
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
  const std::size_t threads =
      count < 2 ? count : std::min(count, static_cast<std::size_t>(workshop.slots.jobs()));
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

std::size_t widest_name(const std::vector<op::Op>& ops) {
  std::size_t widest = 0;
  for (const op::Op& op : ops) {
    widest = std::max(widest, op.name.size());
  }
  return widest;
}

} // namespace

Built build_selected(Context& context, const Prepared& prepared, const BuildWish& wish) {
  Terminal& terminal = context.terminal;
  store::Store& store = context.store();
  Built built;
  built.shared_caches = open_shared_caches(context);
  const build::Options options = options_of(wish, context.config);
  build::JobSlots slots([&] {
    const build::Limits limits = build::limits_of_this_process();
    return build::JobSlots::Room{jobs_of(wish, context.config, limits), limits.memory / 10 * 9};
  });
  if (!terminal.options().quiet) {
    terminal.remark(terminal.styled_error(facts_line(prepared, context.environment), Style::dim) + " · " +
                    counted(prepared.ops.size(), "op") + ", " +
                    counted(static_cast<std::uint64_t>(slots.jobs()), "job"));
  }
  {
    BuildView view(terminal, context.environment, context.working_directory, widest_name(prepared.ops));
    const build::Workshop workshop{store,   built.shared_caches, context.processes, slots, view,
                                   options, context.environment};
    built.results = build_all(prepared, workshop, view, wish.show == BuildWish::Show::all);
    if (wish.show == BuildWish::Show::failures) {
      for (const build::OpResult& result : built.results) {
        if (result.status == build::Status::failed) {
          view.show(result);
        }
      }
    }
  }
  if (!wish.dry_run) {
    count_events(store, built.results);
  }
  prune_when_due(store, built.results, context.config);
  return built;
}

ExitCode Built::exit_code() const {
  for (const build::OpResult& result : results) {
    if (result.failure) {
      return static_cast<ExitCode>(result.failure->exit_code);
    }
  }
  return ExitCode::ok;
}

std::chrono::milliseconds compile_time_of(const store::Entry& entry) {
  const nlohmann::json facts = json_or_discarded(entry.facts_json);
  return std::chrono::milliseconds(facts.is_object() ? facts.value("compile_ms", std::int64_t{0}) : 0);
}

} // namespace dcuop::cli
