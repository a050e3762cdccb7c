// The error of a failed build, for the processes that waited for it.

#include <nlohmann/json.hpp>

#include "dcuop/store/store.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/log.hpp"
#include "layout.hpp"
#include "record_time.hpp"
#include "sealed.hpp"

namespace dcuop::store {

namespace {

using nlohmann::json;
using std::chrono::milliseconds;

constexpr const char* error_file = "error.json";
constexpr const char* log_file = "build.log";

Digest place_of(const Digest& request) {
  return Hasher().text("kind", "failure").digest("request", request).finish();
}

std::optional<Failure> failure_from(const json& value) {
  if (!value.is_object() || !value.contains("message") || !value["message"].is_string() ||
      !value.contains("hint") || !value["hint"].is_string() || !value.contains("exit_code") ||
      !value["exit_code"].is_number_integer() || !value.contains("when") ||
      !value["when"].is_number_unsigned()) {
    return std::nullopt;
  }
  return Failure{value["message"],
                 value["hint"],
                 value["exit_code"],
                 {},
                 time_from_milliseconds(value["when"].get<std::uint64_t>())};
}

} // namespace

fs::path Store::record_failure(const Digest& request, const Failure& failure,
                               const std::string& log) noexcept {
  if (read_only_) {
    return {};
  }
  try {
    const fs::path directory = Layout(root_).failure(request);
    make_directories(directory, directory_mode);
    // The log first: whoever finds the error finds its log.
    write_file_atomic(directory / log_file, log);
    const auto when = std::chrono::duration_cast<milliseconds>(failure.when.time_since_epoch()).count();
    const json value = {{"message", failure.message},
                        {"hint", failure.hint},
                        {"exit_code", failure.exit_code},
                        {"when", when}};
    write_file_atomic(directory / error_file, seal(place_of(request), json_text(value)));
    return directory / log_file;
  } catch (const std::exception& error) {
    log_warning(error.what());
    return {};
  }
}

std::optional<Failure> Store::last_failure(const Digest& request) const {
  const fs::path directory = Layout(root_).failure(request);
  const std::optional<std::string> text = read_file(directory / error_file);
  const std::optional<std::string_view> payload = text ? unseal(place_of(request), *text) : std::nullopt;
  std::optional<Failure> failure = payload ? failure_from(json_or_discarded(*payload)) : std::nullopt;
  if (failure && identity_of(directory / log_file)) {
    failure->log = directory / log_file;
  }
  return failure;
}

void Store::forget_failure(const Digest& request) noexcept {
  const fs::path directory = Layout(root_).failure(request);
  if (!read_only_ && is_real_directory(directory)) {
    (void)remove_tree(directory);
  }
}

} // namespace dcuop::store
