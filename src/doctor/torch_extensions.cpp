// torch's own JIT cache: each entry's lock, then its artifact, then what it was built for; then the removals.
#include "dcuop/doctor/torch_extensions.hpp"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <optional>

#include <nlohmann/json.hpp>

#include "dcuop/support/files.hpp"
#include "dcuop/support/process.hpp"
#include "dcuop/support/text.hpp"
#include "torch_extensions.hpp"

namespace dcuop::doctor {
namespace {

using finding::Finding;

/// A file as lstat(2) sees it.
struct FileStatus {
  struct stat status {};
  [[nodiscard]] std::int64_t age(std::int64_t now) const { return now - status.st_mtim.tv_sec; }
};

std::optional<FileStatus> status_of(const fs::path& path) {
  FileStatus file;
  return ::lstat(path.c_str(), &file.status) == 0 ? std::optional(file) : std::nullopt;
}

std::int64_t now() {
  return std::chrono::duration_cast<std::chrono::seconds>(std::chrono::system_clock::now().time_since_epoch())
      .count();
}

std::string age_text(std::int64_t seconds) {
  return human_duration(std::chrono::seconds(std::max<std::int64_t>(0, seconds)));
}

/// "pid 4121 (python3 train.py) has lock open".
std::string text_of(const DirectoryUser& user) {
  return "pid " + std::to_string(user.pid) + " (" + user.program + ") " + user.how;
}

std::string removal(const fs::path& path, bool directory) {
  std::vector<std::string> argv = {"rm"};
  if (directory) {
    argv.emplace_back("-r");
  }
  argv.push_back(path.string());
  return shell_quoted(argv);
}

void set_fix(Finding& finding, const std::string& command) {
  finding.fix = finding.chinese.fix = command;
}

/// torch.utils.file_baton.FileBaton.
class Baton {
 public:
  explicit Baton(fs::path file)
      : file_(std::move(file)),
        descriptor_(::open(file_.c_str(), O_CREAT | O_EXCL | O_CLOEXEC | O_RDONLY, 0600)) {}
  ~Baton() {
    if (held()) {
      ::unlink(file_.c_str());
      ::close(descriptor_);
    }
  }
  Baton(const Baton&) = delete;
  Baton& operator=(const Baton&) = delete;
  [[nodiscard]] bool held() const { return descriptor_ >= 0; }

 private:
  fs::path file_;
  int descriptor_;
};

/// All that is said of one entry, and what of it is provably dead.
class Examination {
 public:
  Examination(const TorchCacheEntry& entry, const TorchCacheQuestion& question, TorchCacheReport& report)
      : entry_(entry), question_(question), report_(report) {}

  void run(const EnvironmentFacts& facts, const probe::Machine& machine) {
    const BuildFile build = read_build_file(entry_.directory);
    lock_ = entry_.directory / "lock";
    root_ = machine.root;
    const auto half = why_half_built(entry_, build);
    const bool has_lock = status_of(lock_).has_value();
    if (has_lock || !half.empty()) {
      users_ = users_of(entry_.directory, root_);
    }
    if (has_lock) {
      judge_lock();
    }
    if (!half.empty()) {
      judge_half_built(half, build);
      return;
    }
    if (!judge_build_facts(build, facts)) {
      judge_libraries(build, facts, machine);
    }
  }

 private:
  [[nodiscard]] Phrase why_not_dead(std::int64_t age) const {
    if (!users_.unseen.empty()) {
      return users_.unseen;
    }
    if (auto shared = why_shared(entry_.directory); !shared.empty()) {
      return shared;
    }
    constexpr std::int64_t grace = 60;
    if (age < grace) {
      return {"it is less than a minute old", "它存在不到一分钟"};
    }
    return {};
  }

  void judge_lock() {
    const auto file = status_of(lock_);
    if (!file) {
      return; // released in this very moment
    }
    const auto age = file->age(now());
    if (!users_.users.empty()) {
      report_.findings.push_back(finding::make_finding(
          "DCU502", {{"file", lock_.string()}, {"holder", text_of(users_.users.front())}}));
      lock_stays_ = true;
      leave(lock_, {text_of(users_.users.front()), text_of(users_.users.front())});
      return;
    }
    auto reason = why_not_dead(age);
    if (reason.empty() && (!S_ISREG(file->status.st_mode) || file->status.st_size != 0)) {
      reason = {"it is not an empty file, as torch's is", "它不是 torch 所用的空文件"};
    }
    finding::Values values = {{"file", lock_.string()}, {"name", entry_.name}, {"age", age_text(age)}};
    if (!reason.empty()) {
      values["reason"] = reason.en;
      values["reason:zh"] = reason.zh;
      auto finding = finding::make_finding("DCU503", values);
      set_fix(finding, removal(lock_, false));
      report_.findings.push_back(std::move(finding));
      lock_stays_ = true;
      leave(lock_, reason);
      return;
    }
    auto finding = finding::make_finding("DCU501", values);
    set_fix(finding, removal(lock_, false));
    const bool removed = question_.fix && remove_lock(*file);
    lock_stays_ = !removed;
    (removed ? report_.fixed : report_.findings).push_back(std::move(finding));
  }

  /// Looked at again in the last moment: since the first look somebody may have freed it and taken it anew.
  bool remove_lock(const FileStatus& judged) {
    const auto file = status_of(lock_);
    const bool same = file && file->status.st_ino == judged.status.st_ino &&
                      file->status.st_ctim.tv_sec == judged.status.st_ctim.tv_sec &&
                      file->status.st_ctim.tv_nsec == judged.status.st_ctim.tv_nsec;
    if (!same) {
      leave(lock_, {"it changed while it was being looked at", "检查期间它发生了变化"});
      return false;
    }
    return remove(lock_);
  }

  void judge_half_built(const Phrase& half, const BuildFile& build) {
    if (!users_.users.empty()) {
      if (!status_of(lock_)) { // else the lock's note has said it
        report_.findings.push_back(finding::make_finding(
            "DCU502", {{"file", entry_.directory.string()}, {"holder", text_of(users_.users.front())}}));
      }
      leave(entry_.directory, {text_of(users_.users.front()), text_of(users_.users.front())});
      return;
    }
    auto finding = finding::make_finding(
        "DCU504", {{"file", entry_.directory.string()}, {"reason", half.en}, {"reason:zh", half.zh}});
    set_fix(finding, removal(entry_.directory, true));
    const bool removed = question_.fix && remove_products(build);
    if (removed) {
      ::rmdir(entry_.directory.c_str()); // stays when it holds what torch did not make
    }
    (removed ? report_.fixed : report_.findings).push_back(std::move(finding));
  }

  bool remove_products(const BuildFile& build) {
    if (lock_stays_) {
      leave(entry_.directory, {"its lock stays", "其锁仍保留"});
      return false;
    }
    const auto products = products_of(entry_.directory, build);
    auto youngest = now();
    for (const auto& product : products) {
      const auto file = status_of(product);
      youngest = std::min(youngest, file ? file->age(now()) : youngest);
    }
    if (const auto reason = why_not_dead(youngest); !reason.empty()) {
      leave(entry_.directory, reason);
      return false;
    }
    // torch's own lock, taken as torch takes it: a load() that begins now waits until this is over.
    const Baton baton(lock_);
    if (!baton.held() || !users_of(entry_.directory, root_).users.empty()) {
      leave(entry_.directory, {"somebody began to use it", "有进程开始使用它"});
      return false;
    }
    bool all = true;
    for (const auto& product : products) {
      all = remove(product) && all;
    }
    return all;
  }

  /// True when it is another Python's or torch's: what its library needs is not for this one to judge.
  bool judge_build_facts(const BuildFile& build, const EnvironmentFacts& facts) {
    bool other = false;
    const auto add = [&](const char* rule, const Mismatch& mismatch) {
      auto finding = finding::make_finding(
          rule, {{"file", entry_.directory.string()}, {"built", mismatch.built}, {"here", mismatch.here}});
      finding.evidence.push_back({"file", mismatch.source});
      set_fix(finding, removal(entry_.directory, true));
      report_.findings.push_back(std::move(finding));
      other = true;
    };
    if (const auto mismatch = python_mismatch(entry_, build, facts)) {
      add("DCU505", *mismatch);
    }
    if (const auto mismatch = torch_mismatch(entry_, build, facts)) {
      add("DCU506", *mismatch);
    }
    return other;
  }

  void judge_libraries(const BuildFile& build, const EnvironmentFacts& facts, const probe::Machine& machine) {
    for (const auto& library : libraries_of(entry_.directory, build)) {
      Question question;
      question.file = library;
      question.archs = question_.archs;
      question.module_name = library.stem().string();
      const Report verdict = diagnose(question, facts, machine);
      const bool loads = verdict.verdict != Verdict::does_not_load;
      if (verdict.verdict == Verdict::loads) {
        continue;
      }
      auto finding =
          finding::make_finding(loads ? "DCU508" : "DCU507", {{"file", library.string()},
                                                              {"headline", verdict.headline},
                                                              {"headline:zh", verdict.headline_chinese}});
      const Finding& cause = verdict.findings.front();
      finding.evidence.push_back({"so", cause.rule + ": " + cause.cause});
      finding.evidence.insert(finding.evidence.end(), cause.evidence.begin(), cause.evidence.end());
      set_fix(finding, removal(entry_.directory, true));
      report_.findings.push_back(std::move(finding));
    }
  }

  bool remove(const fs::path& path) {
    std::error_code fault;
    if (fs::remove(path, fault) || !fault) {
      report_.removed.push_back(path);
      return true;
    }
    leave(path, {"it cannot be removed: " + fault.message(), "无法删除：" + fault.message()});
    return false;
  }

  void leave(const fs::path& path, const Phrase& reason) {
    if (question_.fix) {
      report_.left.push_back({path, reason.en, reason.zh});
    }
  }

  const TorchCacheEntry& entry_;
  const TorchCacheQuestion& question_;
  TorchCacheReport& report_;
  fs::path lock_;
  fs::path root_;
  DirectoryUsers users_;
  bool lock_stays_ = false;
};

} // namespace

TorchCacheReport examine_torch_cache(const TorchCacheQuestion& question, const EnvironmentFacts& facts,
                                     const probe::Machine& machine) {
  TorchCacheReport report;
  report.root = torch_cache_root(machine.environment);
  report.entries = torch_cache_entries(report.root.path);
  for (const auto& entry : report.entries) {
    Examination(entry, question, report).run(facts, machine);
  }
  finding::sort_findings(report.findings);
  return report;
}

nlohmann::json to_json(const TorchCacheReport& report) {
  auto entries = nlohmann::json::array();
  for (const auto& entry : report.entries) {
    entries.push_back({{"name", entry.name}, {"tag", entry.tag}, {"directory", entry.directory.string()}});
  }
  const auto list = [](const std::vector<Finding>& findings) {
    auto array = nlohmann::json::array();
    for (const auto& finding : findings) {
      array.push_back(finding::to_json(finding));
    }
    return array;
  };
  auto removed = nlohmann::json::array();
  for (const auto& path : report.removed) {
    removed.push_back(path.string());
  }
  auto left = nlohmann::json::array();
  for (const auto& [path, reason, chinese] : report.left) {
    left.push_back({{"path", path.string()}, {"reason", reason}});
  }
  return {{"schema", 1},
          {"root", report.root.path.string()},
          {"origin", report.root.origin},
          {"entries", std::move(entries)},
          {"findings", list(report.findings)},
          {"fixed", list(report.fixed)},
          {"removed", std::move(removed)},
          {"left", std::move(left)}};
}

} // namespace dcuop::doctor
