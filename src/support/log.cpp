#include "dcuop/support/log.hpp"

#include <algorithm>
#include <memory>
#include <mutex>
#include <spdlog/sinks/basic_file_sink.h>
#include <spdlog/sinks/stdout_sinks.h>
#include <spdlog/spdlog.h>
#include <string>

#include "dcuop/support/error.hpp"

namespace dcuop {

namespace {

constexpr const char* trace_pattern = "%Y-%m-%dT%H:%M:%S.%f %P/%t %l %v";

std::mutex logger_mutex;

std::shared_ptr<spdlog::logger>& shared_logger() {
  static std::shared_ptr<spdlog::logger> logger;
  return logger;
}

std::shared_ptr<spdlog::logger> current_logger() {
  const std::lock_guard guard(logger_mutex);
  return shared_logger();
}

void use_logger(std::shared_ptr<spdlog::logger> logger) {
  const std::lock_guard guard(logger_mutex);
  shared_logger() = std::move(logger);
}

/// A cache on a broken disk may have thousands.
constexpr std::size_t most_warnings = 20;

struct Warnings {
  std::vector<std::string> messages;
  std::size_t left_out = 0;
};

Warnings& kept_warnings() {
  static Warnings warnings;
  return warnings;
}

void keep_warning(std::string_view message) {
  const std::lock_guard guard(logger_mutex);
  auto& [messages, left_out] = kept_warnings();
  if (std::find(messages.begin(), messages.end(), message) != messages.end()) {
    return;
  }
  if (messages.size() < most_warnings) {
    messages.emplace_back(message);
  } else {
    ++left_out;
  }
}

spdlog::level::level_enum level_of(const std::string& name) {
  const spdlog::level::level_enum level = spdlog::level::from_str(name);
  // from_str answers "off" to whatever it does not know.
  if (level == spdlog::level::off && name != "off") {
    throw Error(ExitCode::usage, "DCUOP_LOG: '" + name + "' is no log level",
                "use DCUOP_LOG=LEVEL or DCUOP_LOG=LEVEL:/path with LEVEL one of trace, debug, info, warning, "
                "error, off");
  }
  return level;
}

std::shared_ptr<spdlog::sinks::sink> sink_for(const std::string& path) {
  if (path.empty()) {
    return std::make_shared<spdlog::sinks::stderr_sink_mt>();
  }
  try {
    return std::make_shared<spdlog::sinks::basic_file_sink_mt>(path);
  } catch (const spdlog::spdlog_ex& error) {
    throw Error(ExitCode::environment, "DCUOP_LOG: cannot write " + path + ": " + error.what(),
                "name a file that can be written, or leave the path out for stderr");
  }
}

} // namespace

void configure_log(const Environment& environment) {
  const std::optional<std::string> wanted = environment.get_nonempty("DCUOP_LOG");
  if (!wanted) {
    use_logger(nullptr);
    return;
  }
  const std::size_t colon = wanted->find(':');
  const spdlog::level::level_enum level = level_of(wanted->substr(0, colon));
  const std::string path = colon == std::string::npos ? std::string() : wanted->substr(colon + 1);
  auto logger = std::make_shared<spdlog::logger>("dcuop", sink_for(path));
  logger->set_level(level);
  logger->flush_on(level);
  logger->set_pattern(trace_pattern);
  use_logger(std::move(logger));
}

void log_debug(std::string_view message) {
  if (const std::shared_ptr<spdlog::logger> logger = current_logger()) {
    logger->debug("{}", message);
  }
}

void log_warning(std::string_view message) {
  keep_warning(message);
  if (const std::shared_ptr<spdlog::logger> logger = current_logger()) {
    logger->warn("{}", message);
  }
}

std::vector<std::string> take_warnings() {
  Warnings taken;
  {
    const std::lock_guard guard(logger_mutex);
    std::swap(taken, kept_warnings());
  }
  if (taken.left_out > 0) {
    taken.messages.push_back(std::to_string(taken.left_out) + " more; DCUOP_LOG=warning shows all");
  }
  return std::move(taken.messages);
}

} // namespace dcuop
