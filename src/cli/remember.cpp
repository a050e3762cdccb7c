#include "remember.hpp"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstring>

#include <nlohmann/json.hpp>

#include "answer_paths.hpp"
#include "builder.hpp"
#include "dcuop/recall/layout.hpp"
#include "dcuop/store/statistics.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/digest.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/lock.hpp"
#include "dcuop/support/log.hpp"
#include "dcuop/support/settled.hpp"

namespace dcuop::cli {

namespace {

using nlohmann::json;

constexpr std::chrono::seconds patience{60};

/// The variables that the watched process asked for, with the values that they have for it.
json values_of(const json& asked) {
  const Environment environment = Environment::of_this_process();
  json values = {{"names", json::object()}, {"prefixes", json::object()}};
  for (const json& name : asked.at("names")) {
    const std::optional<std::string> value = environment.get(name.get<std::string>());
    values["names"][name.get<std::string>()] = value ? json(*value) : json(nullptr);
  }
  for (const json& prefix : asked.at("prefixes")) {
    values["prefixes"][prefix.get<std::string>()] = environment.starting_with(prefix.get<std::string>());
  }
  return values;
}

std::string file_of(const std::string& answer, const std::string& records) {
  const auto size = static_cast<std::uint32_t>(answer.size());
  std::string rest(reinterpret_cast<const char*>(&size), sizeof size);
  rest.append(answer).push_back('\0');
  rest += records;
  const Digest digest = digest_of(rest);
  return std::string(recall::magic, recall::magic_size)
      .append(reinterpret_cast<const char*>(digest.bytes.data()), recall::digest_size)
      .append(rest);
}

std::vector<std::string> without_remembering(std::vector<std::string> arguments) {
  const auto option = std::find(arguments.begin(), arguments.end(), "--remember");
  arguments.erase(option, option + std::min<std::ptrdiff_t>(2, arguments.end() - option));
  return arguments;
}

/// The same run again; nullopt when it does not say the same, and empty when what it depends on cannot be told.
std::optional<std::string> watched_answer(Context& context, const build::OpResult& hit) {
  const std::int64_t start = clock_ns(CLOCK_REALTIME);
  SystemProcessRunner processes;
  const store::Store& store = context.store();
  const std::string program = fs::read_symlink("/proc/self/exe").string();
  Command command;
  command.argv = without_remembering(context.arguments);
  command.argv.insert(command.argv.begin(), program);
  // What was edited since the hit is built when somebody waits for it.
  command.argv.insert(command.argv.end(),
                      {"--name-variables", store.answer_directory().string(), "--dry-run"});
  command.working_directory = context.working_directory;
  command.environment = Environment::of_this_process();
  command.limit = patience;
  command.input = context.standard_input;
  command.trace = true;
  const ProcessResult result = processes.run(command);
  const json document = json_or_discarded(result.output);
  if (!result.ok() || !document.is_object() || document.value("processes_started", 1) != 0 ||
      document.at("ops").size() != 1 || document.at("ops")[0].value("entry", "") != hit.entry.key.hex()) {
    return std::nullopt;
  }
  const json& asked = document.at("variables");
  if (!result.trace || !result.trace->is_complete || result.trace->asked_a_server ||
      result.trace->was_obstructive || asked.at("all").get<bool>()) {
    return "";
  }
  AnswerPaths paths(context.working_directory, start, store.written_by_hits());
  for (const FileAccess& access : result.trace->accesses) {
    paths.add(access);
  }
  if (!paths.are_settled()) {
    return std::nullopt;
  }
  const json answer = {{"program", program},
                       {"op", document["ops"][0]},
                       {"variables", values_of(asked)},
                       {"kernel_files", paths.kernel_files()},
                       {"stamp", store.use_stamp(store::Shelf::entries, hit.entry.key).string()},
                       {"tally", store::answered_file(store).string()},
                       {"saved_ms", compile_time_of(hit.entry).count()}};
  return file_of(answer.dump(), paths.records()); // dump() throws for what is no UTF-8
}

bool was_written_just_now(const fs::path& file) {
  const std::optional<FileIdentity> there = identity_of(file);
  return there && !is_settled(*there, clock_ns(CLOCK_REALTIME));
}

/// Of ranks that start together one does it.
void remember(Context& context, const fs::path& file, const build::OpResult& hit) {
  constexpr unsigned private_file = 0600;
  const std::optional<FileLock> lock =
      FileLock::try_acquire(file.parent_path() / "lock", std::hash<std::string>{}(file.filename()) >> 2U,
                            FileLock::Mode::exclusive, private_file);
  if (!lock || was_written_just_now(file)) {
    return;
  }
  std::optional<std::string> content;
  try {
    content = watched_answer(context, hit);
  } catch (const NotComparable& fault) {
    log_debug("not remembered: " + fault.what);
    content = "";
  } catch (const json::exception&) { // a path or value that is no UTF-8
    content = "";
  }
  if (content) {
    static_cast<void>(try_write_file_atomic(file, *content));
  }
}

/// No terminal, no pipe of whoever waits for dcuop, and behind everything that somebody waits for.
bool let_go() {
  constexpr int low_priority = 10;
  const int null = open("/dev/null", O_RDWR | O_CLOEXEC);
  if (setsid() < 0 || null < 0 || dup2(null, STDIN_FILENO) < 0 || dup2(null, STDOUT_FILENO) < 0 ||
      dup2(null, STDERR_FILENO) < 0) {
    return false;
  }
  const long limit = std::min(sysconf(_SC_OPEN_MAX), 1024L);
  for (int descriptor = STDERR_FILENO + 1; descriptor < limit; ++descriptor) {
    (void)close(descriptor);
  }
  (void)setpriority(PRIO_PROCESS, 0, low_priority);
  (void)umask(077); // what others could write is not recalled
  return true;
}

} // namespace

json asked_variables(const Context& context) {
  const AskedVariables::Asked asked = context.asked->taken();
  return {{"names", asked.names}, {"prefixes", asked.prefixes}, {"all", asked.all}};
}

void remember_detached(Context& context, const fs::path& file, const build::OpResult& hit) {
  const store::Store& store = context.store();
  if (store.read_only() || file.parent_path() != store.answer_directory() ||
      context.config.text("trace") == "never") {
    return;
  }
  make_directories(store.answer_directory(), 0700);
  if (fork() != 0) {
    return;
  }
  try {
    if (let_go()) {
      remember(context, file, hit);
    }
  } catch (const std::exception& fault) {
    log_debug(std::string("not remembered: ") + fault.what());
  }
  _exit(0);
}

} // namespace dcuop::cli
