#include "dcuop/support/memo.hpp"

#include <algorithm>
#include <ctime>
#include <unistd.h>

#include "dcuop/support/error.hpp"
#include "dcuop/support/settled.hpp"
#include "memo_file.hpp"

namespace dcuop {

namespace {

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

std::optional<Memo> read_memo(const std::filesystem::path& file) {
  const std::optional<std::string> content = read_file(file);
  return content ? memo_from(*content) : std::nullopt;
}

void write_memo(const std::filesystem::path& file, const Memo& memo) {
  const auto has_zero = [](const Witness& witness) {
    return witness.path.native().find('\0') != std::string::npos;
  };
  if (std::any_of(memo.witnesses.begin(), memo.witnesses.end(), has_zero)) {
    return; // no file has such a name, so nothing could be remembered of it
  }
  try {
    make_directories(file.parent_path(), 0700);
    static_cast<void>(try_write_file_atomic(file, memo_text(memo)));
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
      witness.settled = is_settled(*witness.identity, start) && !is_on_kernel_file_system(path);
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
