#include "build_view.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {

namespace {

constexpr std::chrono::milliseconds live_pause(250);
constexpr std::chrono::seconds log_pause(10);
constexpr std::chrono::seconds wait_worth_saying(1);

std::chrono::milliseconds age(std::chrono::steady_clock::time_point since) {
  return std::chrono::duration_cast<std::chrono::milliseconds>(std::chrono::steady_clock::now() - since);
}

std::string step_text(const key::Request& request, const std::string& step) {
  for (const key::UnitRequest& unit : request.units) {
    if (unit.name() == step && !unit.archs.empty()) {
      return step + " " + join(unit.archs, ",");
    }
  }
  return step;
}

std::string status_text(const Terminal& terminal, build::Status status) {
  switch (status) {
  case build::Status::hit:
    return terminal.styled("hit  ", Style::green);
  case build::Status::built:
    return terminal.styled("built", Style::cyan);
  case build::Status::would_build:
    return terminal.styled("would build", Style::yellow);
  case build::Status::failed:
    return terminal.styled("FAILED", Style::red);
  }
  return {};
}

std::string unit_counts(const build::OpResult& result) {
  const auto compiled = static_cast<std::size_t>(std::count_if(
      result.units.begin(), result.units.end(), [](const auto& unit) { return unit.compiled; }));
  const std::size_t reused = result.units.size() - compiled;
  std::string text = std::to_string(compiled) + " compiled";
  return reused == 0 ? text : text + ", " + std::to_string(reused) + " reused";
}

std::string holder_text(const store::Holder& holder) {
  std::string text = "host " + holder.host + " pid " + std::to_string(holder.pid);
  if (!holder.container.empty()) {
    text += " (container " + holder.container.substr(0, 12) + ")";
  }
  text += ": " + holder.activity;
  // Another host's clock may be ahead of this one's.
  const auto busy = std::chrono::system_clock::now() - holder.activity_since;
  const auto for_so_long = std::chrono::duration_cast<std::chrono::milliseconds>(busy);
  return for_so_long >= std::chrono::seconds(1) ? text + " for " + human_duration(for_so_long) : text;
}

/// A result that was not cached may lie outside of any cache; the own cache's lock does no harm then.
std::optional<fs::path> use_lock_of(const store::Entry& entry, const store::Store& own,
                                    const std::vector<store::Store>& shared) {
  if (!lies_below(entry.directory, own.root())) {
    for (const store::Store& cache : shared) {
      if (lies_below(entry.directory, cache.root())) {
        const fs::path file = cache.use_lock_file();
        return identity_of(file) ? std::optional<fs::path>(file) : std::nullopt;
      }
    }
  }
  return own.use_lock_file();
}

} // namespace

BuildView::BuildView(Terminal& terminal, const Environment& environment, const fs::path& working_directory,
                     std::size_t widest_name)
    : terminal_(terminal), environment_(environment), here_(working_directory.string() + "/"),
      width_(std::max<std::size_t>(widest_name + 2, 12)), heartbeat_([this] { beat(); }) {}

BuildView::~BuildView() {
  {
    const std::lock_guard lock(mutex_);
    stopping_ = true;
  }
  stop_.notify_all();
  heartbeat_.join();
  terminal_.live("");
}

std::string BuildView::column(const std::string& name) const {
  return name.size() < width_ ? name + std::string(width_ - name.size(), ' ') : name + " ";
}

void BuildView::will_build(const key::Request& request, const std::string& reason) {
  if (!reason.empty()) {
    terminal_.detail(column(request.op.name) + "miss: " + reason);
  }
}

void BuildView::started(const key::Request& request, const std::string& step) {
  {
    const std::lock_guard lock(mutex_);
    running_[request.op.directory.string() + "\n" + step] = {request.op.name, step_text(request, step),
                                                             std::chrono::steady_clock::now()};
  }
  if (!terminal_.has_live_line()) {
    terminal_.remark(column(request.op.name) + step_text(request, step));
  }
}

void BuildView::finished(const key::Request& request, const std::string& step,
                         std::chrono::milliseconds wall) {
  {
    const std::lock_guard lock(mutex_);
    running_.erase(request.op.directory.string() + "\n" + step);
  }
  terminal_.detail(column(request.op.name) + step_text(request, step) + "  " + human_duration(wall));
}

void BuildView::waiting(const key::Request& request, const std::optional<store::Holder>& holder,
                        std::chrono::milliseconds so_far) {
  if (so_far < wait_worth_saying) {
    return;
  }
  std::string text = column(request.op.name) + "waiting for " +
                     (holder ? holder_text(*holder) : std::string("another process"));
  text += ", " + human_duration(so_far) + " so far";
  if (terminal_.has_live_line()) {
    terminal_.live(text);
    return;
  }
  {
    const std::lock_guard lock(mutex_);
    auto [last, first_time] = last_wait_line_.try_emplace(request.op.directory.string(), so_far);
    if (!first_time && so_far - last->second < log_pause) {
      return;
    }
    last->second = so_far;
  }
  terminal_.remark(text);
}

void BuildView::beat() {
  std::unique_lock lock(mutex_);
  auto last_line = std::chrono::steady_clock::now();
  while (!stop_.wait_for(lock, live_pause, [this] { return stopping_; })) {
    std::vector<std::string> parts;
    parts.reserve(running_.size());
    for (const auto& [key, running] : running_) {
      parts.push_back(column(running.op) + running.step + "  " + human_duration(age(running.since)));
    }
    if (parts.empty()) {
      continue;
    }
    const bool due = terminal_.has_live_line() || age(last_line) >= log_pause;
    if (!due) {
      continue;
    }
    last_line = std::chrono::steady_clock::now();
    lock.unlock();
    if (terminal_.has_live_line()) {
      terminal_.live(join(parts, "   "));
    } else {
      for (const std::string& part : parts) {
        terminal_.remark(part + " so far");
      }
    }
    lock.lock();
  }
}

void BuildView::show(const build::OpResult& result) {
  terminal_.live("");
  if (result.failure) {
    show_failure(result, *result.failure);
    return;
  }
  std::string line = column(result.name) + status_text(terminal_, result.status) + "  ";
  if (result.status == build::Status::would_build) {
    terminal_.answer(line + result.reason);
    return;
  }
  line += human_duration(result.wall);
  if (result.status == build::Status::built) {
    line += "   " + unit_counts(result) + (result.reason.empty() ? "" : "  " + result.reason) + "  " +
            shortened(result.entry.artifact_path(), environment_);
  } else if (!result.reason.empty()) {
    line += "   " + result.reason;
  }
  terminal_.answer(line);
  for (const std::string& remark : result.remarks) {
    terminal_.remark(column("") + remark);
  }
}

void BuildView::show_failure(const build::OpResult& result, const store::Failure& failure) {
  const std::size_t end = failure.message.find('\n');
  terminal_.error(column(result.name) + terminal_.styled_error("FAILED", Style::red) + "  " +
                  failure.message.substr(0, end) +
                  (result.reason.starts_with("another") ? "  (" + result.reason + ")" : ""));
  if (end != std::string::npos) {
    for (const std::string& line : split(failure.message.substr(end + 1), '\n')) {
      const bool here = line.starts_with(here_);
      terminal_.error("  " + (here ? line.substr(here_.size()) : line));
    }
  }
  if (!failure.hint.empty()) {
    terminal_.error("  " + terminal_.styled_error("fix:", Style::bold) + " " + failure.hint);
  }
  if (!failure.log.empty()) {
    terminal_.error("  command and full log: " + shortened(failure.log, environment_));
  }
}

nlohmann::json to_json(const build::OpResult& result, const key::Request& request, const store::Store& store,
                       const std::vector<store::Store>& shared) {
  nlohmann::json document = {{"name", result.name},
                             {"status", build::to_string(result.status)},
                             {"request", request.digest.hex()},
                             {"backend", op::to_string(request.op.backend)},
                             {"kind", op::to_string(request.op.kind)},
                             {"abi", op::to_string(request.op.abi)},
                             {"module", request.op.name},
                             {"directory", request.op.directory.string()},
                             {"archs", request.archs},
                             {"reason", result.reason},
                             {"remarks", result.remarks},
                             {"cached", result.cached},
                             {"seconds", static_cast<double>(result.wall.count()) / 1000.0}};
  if (result.status == build::Status::hit || result.status == build::Status::built) {
    document["path"] = result.entry.artifact_path().string();
    document["entry"] = result.entry.key.hex();
    if (const std::optional<fs::path> lock = use_lock_of(result.entry, store, shared)) {
      document["use_lock"] = {{"file", lock->string()},
                              {"offset", store::Store::lock_offset(result.entry.key)}};
    }
  }
  document["units"] = nlohmann::json::array();
  for (const build::UnitResult& unit : result.units) {
    document["units"].push_back({{"source", unit.source},
                                 {"status", unit.compiled ? "compiled" : "reused"},
                                 {"reason", unit.reason},
                                 {"seconds", static_cast<double>(unit.wall.count()) / 1000.0},
                                 {"peak_memory", unit.peak_memory}});
  }
  if (result.failure) {
    document["error"] = {{"message", result.failure->message},
                         {"hint", result.failure->hint},
                         {"exit_code", result.failure->exit_code},
                         {"log", result.failure->log.string()}};
  }
  return document;
}

} // namespace dcuop::cli
