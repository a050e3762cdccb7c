// Build locks save work; who holds one is written down for those who wait.

#include <unistd.h>

#include <nlohmann/json.hpp>

#include "dcuop/store/store.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/log.hpp"
#include "host.hpp"
#include "layout.hpp"
#include "record_time.hpp"

namespace dcuop::store {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;
using std::chrono::system_clock;

std::int64_t to_number(system_clock::time_point time) {
  return std::chrono::duration_cast<milliseconds>(time.time_since_epoch()).count();
}

std::string text_of(const Holder& holder) {
  return json{{"host", holder.host},           {"pid", holder.pid},
              {"container", holder.container}, {"since", to_number(holder.since)},
              {"activity", holder.activity},   {"activity_since", to_number(holder.activity_since)}}
             .dump(-1, ' ', false, json::error_handler_t::replace) +
         "\n";
}

std::optional<Holder> holder_from(const json& value) {
  if (!value.is_object()) {
    return std::nullopt;
  }
  const auto text = [&](const char* name) {
    return value.contains(name) && value[name].is_string() ? value[name].get<std::string>() : std::string();
  };
  const auto number = [&](const char* name) {
    return value.contains(name) && value[name].is_number_integer() ? value[name].get<std::int64_t>() : 0;
  };
  const auto time = [&](const char* name) {
    return time_from_milliseconds(
        value.contains(name) && value[name].is_number_unsigned() ? value[name].get<std::uint64_t>() : 0);
  };
  Holder holder;
  holder.host = text("host");
  holder.pid = number("pid");
  holder.container = text("container");
  holder.since = time("since");
  holder.activity = text("activity");
  holder.activity_since = time("activity_since");
  return holder;
}

} // namespace

std::optional<BuildLock> Store::try_lock_build(const Digest& request, const std::string& activity) {
  require_writable();
  const Layout layout(root_);
  const fs::path holder_file = layout.holder(request);
  std::optional<FileLock> lock;
  try {
    make_directories(holder_file.parent_path(), directory_mode);
    lock = FileLock::try_acquire(layout.locks() / "build", lock_offset(request), FileLock::Mode::exclusive);
    if (!lock) {
      return std::nullopt;
    }
  } catch (const Error& error) {
    log_warning(std::string("building without a lock: ") + error.what());
  }
  std::optional<BuildLock> held(std::in_place, std::move(lock), holder_file);
  held->say(activity);
  return held;
}

std::optional<Holder> Store::build_holder(const Digest& request) const {
  const std::optional<std::string> text = read_file(Layout(root_).holder(request));
  return text ? holder_from(json_or_discarded(*text)) : std::nullopt;
}

BuildLock::BuildLock(std::optional<FileLock> lock, fs::path holder_file)
    : lock_(std::move(lock)), holder_file_(std::move(holder_file)), since_(system_clock::now()) {}

BuildLock::~BuildLock() {
  // Before the lock goes with the members: the next holder's record must not be the one that is removed.
  if (!holder_file_.empty()) {
    (void)unlink(holder_file_.c_str());
  }
}

BuildLock::BuildLock(BuildLock&& other) noexcept
    : lock_(std::move(other.lock_)), holder_file_(std::move(other.holder_file_)), since_(other.since_) {
  other.lock_.reset();
  other.holder_file_.clear();
}

BuildLock& BuildLock::operator=(BuildLock&& other) noexcept {
  if (this != &other) {
    BuildLock ended(std::move(*this));
    lock_ = std::move(other.lock_);
    holder_file_ = std::move(other.holder_file_);
    since_ = other.since_;
    other.lock_.reset();
    other.holder_file_.clear();
  }
  return *this;
}

void BuildLock::say(const std::string& activity) noexcept {
  try {
    const Holder holder{this_host(), getpid(), this_container(), since_, activity, system_clock::now()};
    (void)try_write_file_atomic(holder_file_, text_of(holder));
  } catch (const std::exception& error) {
    log_warning(error.what());
  }
}

} // namespace dcuop::store
