#include "dcuop/support/memo.hpp"
#include "dcuop/support/json_text.hpp"

#include <algorithm>
#include <ctime>
#include <nlohmann/json.hpp>
#include <sys/vfs.h>
#include <unistd.h>

#include "dcuop/support/error.hpp"

namespace dcuop {

namespace {

using nlohmann::json;

constexpr int memo_schema = 2;
constexpr std::int64_t settling_ns = 2'000'000'000;

std::int64_t clock_ns(clockid_t clock) {
  timespec now{};
  ::clock_gettime(clock, &now);
  return now.tv_sec * 1'000'000'000LL + now.tv_nsec;
}

/// Files that the kernel makes up change their content without a new mtime or ctime.
bool is_on_kernel_file_system(const std::filesystem::path& path) {
  constexpr unsigned long kinds[] = {0x9fa0 /* proc */, 0x62656572 /* sysfs */, 0x64626720 /* debugfs */,
                                     0x0027e0eb /* cgroup v1 */, 0x63677270 /* cgroup v2 */};
  struct statfs status {};
  return ::statfs(path.c_str(), &status) == 0 &&
         std::find(std::begin(kinds), std::end(kinds), static_cast<unsigned long>(status.f_type)) !=
             std::end(kinds);
}

std::optional<Digest> content_of(const std::filesystem::path& path, const FileIdentity& identity) {
  if (identity.is_regular()) {
    return digest_of_file(path);
  }
  // An unreadable directory lists nothing, which must not pass for an empty one.
  if (!identity.is_directory() || ::access(path.c_str(), R_OK) != 0) {
    return std::nullopt;
  }
  Hasher hasher;
  hasher.text("kind", "directory"); // an empty one is no empty file
  for (const std::string& name : list_names_and_kinds(path)) {
    hasher.text("name", name);
  }
  return hasher.finish();
}

/// What a witness of a remembered answer says of the present.
enum class Verdict { holds, holds_by_content, changed };

Verdict verdict_on(const Witness& remembered) {
  const std::optional<FileIdentity> now = identity_of(remembered.path);
  if (!now || !remembered.identity) {
    return now.has_value() == remembered.identity.has_value() ? Verdict::holds : Verdict::changed;
  }
  if (remembered.settled && now == remembered.identity) {
    return Verdict::holds;
  }
  // A file that became a directory, or a program that lost its x bit, is not what it was.
  if (!remembered.content || now->mode != remembered.identity->mode ||
      now->owner != remembered.identity->owner) {
    return Verdict::changed;
  }
  return content_of(remembered.path, *now) == remembered.content ? Verdict::holds_by_content
                                                                 : Verdict::changed;
}

struct Memo {
  std::string value;
  std::vector<Witness> witnesses;
};

json to_json(const FileIdentity& identity) {
  return {identity.device,   identity.inode, identity.size, identity.mtime_ns,
          identity.ctime_ns, identity.mode,  identity.owner};
}

FileIdentity identity_from(const json& fields) {
  FileIdentity identity;
  identity.device = fields.at(0).get<std::uint64_t>();
  identity.inode = fields.at(1).get<std::uint64_t>();
  identity.size = fields.at(2).get<std::uint64_t>();
  identity.mtime_ns = fields.at(3).get<std::int64_t>();
  identity.ctime_ns = fields.at(4).get<std::int64_t>();
  identity.mode = fields.at(5).get<std::uint32_t>();
  identity.owner = fields.at(6).get<std::uint32_t>();
  return identity;
}

/// The digest of the JSON, a newline, and the JSON: whatever damaged the file, it is not believed.
std::string serialized(const Memo& memo) {
  json witnesses = json::array();
  for (const Witness& witness : memo.witnesses) {
    witnesses.push_back({{"path", escaped_bytes(witness.path.string())},
                         {"identity", witness.identity ? to_json(*witness.identity) : json()},
                         {"content", witness.content ? json(witness.content->hex()) : json()},
                         {"settled", witness.settled}});
  }
  const json document = {{"schema", memo_schema},
                         {"version", DCUOP_VERSION},
                         {"value", escaped_bytes(memo.value)},
                         {"witnesses", std::move(witnesses)}};
  const std::string text = json_text(document);
  return digest_of(text).hex() + "\n" + text;
}

std::optional<Memo> parsed(std::string_view content) {
  const std::size_t newline = content.find('\n');
  if (newline == std::string_view::npos ||
      digest_of(content.substr(newline + 1)).hex() != content.substr(0, newline)) {
    return std::nullopt;
  }
  const json document = json::parse(content.substr(newline + 1));
  // What an answer's value looks like is the business of the version that wrote it.
  if (document.at("schema") != memo_schema || document.at("version") != DCUOP_VERSION) {
    return std::nullopt;
  }
  Memo memo;
  memo.value = unescaped_bytes(document.at("value").get<std::string>());
  for (const json& fields : document.at("witnesses")) {
    Witness witness;
    witness.path = unescaped_bytes(fields.at("path").get<std::string>());
    witness.settled = fields.at("settled").get<bool>();
    if (!fields.at("identity").is_null()) {
      witness.identity = identity_from(fields.at("identity"));
    }
    if (!fields.at("content").is_null()) {
      witness.content = Digest::from_hex(fields.at("content").get<std::string>());
    }
    memo.witnesses.push_back(std::move(witness));
  }
  return memo;
}

std::optional<Memo> read_memo(const std::filesystem::path& file) {
  const std::optional<std::string> content = read_file(file);
  try {
    return content ? parsed(*content) : std::nullopt;
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

void write_memo(const std::filesystem::path& file, const Memo& memo) {
  try {
    make_directories(file.parent_path(), 0700);
    static_cast<void>(try_write_file_atomic(file, serialized(memo)));
  } catch (const json::exception&) {
    // Not UTF-8, which JSON cannot hold: asked again the next time.
  } catch (const Error&) {
    // An unwritable place remembers nothing.
  }
}

/// Whether all that a memo was read from is as it was. Witnesses that hold by content alone (touched, moved
/// to another inode, or too fresh then) are renewed, so that they hold by identity the next time.
bool holds(Memo& memo, bool& renewed) {
  for (Witness& witness : memo.witnesses) {
    const Verdict verdict = verdict_on(witness);
    if (verdict == Verdict::changed) {
      return false;
    }
    if (verdict == Verdict::holds_by_content) {
      Witness now = witness_of(witness.path);
      if (now.content != witness.content) {
        return false;
      }
      renewed = renewed || (now.settled && (!witness.settled || now.identity != witness.identity));
      witness = std::move(now);
    }
  }
  return true;
}

/// A moment that separates: what changed before the call has a ctime up to it, what changes after the call
/// has a later one. Local file systems stamp with the clock of the last tick (or a finer one, since
/// Linux 6.13), which is why this waits for the next tick, a few milliseconds.
std::int64_t start_of_reading() {
  const std::int64_t moment = clock_ns(CLOCK_REALTIME);
  // No longer than the longest tick, as somebody may be setting the clock back.
  for (int i = 0; i < 100 && clock_ns(CLOCK_REALTIME_COARSE) <= moment; ++i) {
    constexpr timespec pause{0, 200'000};
    ::nanosleep(&pause, nullptr);
  }
  return moment;
}

} // namespace

Witness witness_of(const std::filesystem::path& path) {
  Witness witness;
  witness.path = path;
  witness.identity = identity_of(path);
  // What was written while it was read is read again; a file that never rests stays unsettled.
  for (int attempt = 0; witness.identity && attempt < 3; ++attempt) {
    const std::int64_t start = clock_ns(CLOCK_REALTIME_COARSE);
    witness.content = content_of(path, *witness.identity);
    const std::optional<FileIdentity> after = identity_of(path);
    if (after == witness.identity) {
      witness.settled = witness.identity->ctime_ns + settling_ns <= start && !is_on_kernel_file_system(path);
      return witness;
    }
    witness.identity = after;
    witness.content.reset();
  }
  return witness;
}

MemoStore::MemoStore(std::filesystem::path directory) : directory_(std::move(directory)) {}

std::string MemoStore::recall(const std::string& subject, const Digest& question,
                              const std::function<Answer()>& ask) const {
  if (directory_.empty()) {
    return ask().value;
  }
  const std::filesystem::path file = directory_ / (subject + "-" + question.hex() + ".memo");
  bool renewed = false;
  if (std::optional<Memo> memo = read_memo(file); memo && holds(*memo, renewed)) {
    if (renewed) {
      write_memo(file, *memo);
    }
    return memo->value;
  }

  const std::int64_t start = start_of_reading();
  Answer answer = ask();
  Memo memo{std::move(answer.value), {}};
  for (const std::filesystem::path& path : answer.witnesses) {
    Witness witness = witness_of(path);
    // Changed since the question was put: the answer may be of what was there before.
    if (witness.identity && witness.identity->ctime_ns > start && !is_on_kernel_file_system(path)) {
      return memo.value;
    }
    memo.witnesses.push_back(std::move(witness));
  }
  write_memo(file, memo);
  return memo.value;
}

} // namespace dcuop
