#include "answer_paths.hpp"

#include <sys/stat.h>

#include <algorithm>

#include "dcuop/support/files.hpp"
#include "dcuop/support/settled.hpp"

namespace dcuop::cli {

namespace {

using nlohmann::json;
using recall::Kind;

bool is_place(Kind kind) {
  return kind == Kind::place || kind == Kind::real_place;
}

bool is_kernels(const fs::path& path) {
  return lies_below(path, "/proc") || lies_below(path, "/sys");
}

/// What depends on the process that asks, and not on the machine. Another /proc/self would say nothing of this one.
bool is_of_one_process(const fs::path& path) {
  const std::string name = path.lexically_relative("/proc").begin()->string();
  return lies_below(path, "/proc") && (name == "self" || name == "thread-self" ||
                                       (!name.empty() && std::all_of(name.begin(), name.end(), [](char c) {
                                         return c >= '0' && c <= '9';
                                       })));
}

json kernel_answer(const FileAccess& access, const fs::path& path) {
  if (!access.first) {
    return nullptr;
  }
  std::error_code error;
  if (access.link_was_read && fs::is_symlink(fs::symlink_status(path, error))) {
    return {{"link", fs::read_symlink(path).string()}};
  }
  if (!access.was_read) {
    return true;
  }
  if (access.first->is_directory()) {
    return list_directory(path);
  }
  const std::optional<std::string> text = read_file(path);
  if (!text) {
    throw NotComparable{path.string()};
  }
  return *text;
}

/// A directory's times change with every name in it.
recall::Identity kept_of(const FileIdentity& identity, Kind kind) {
  recall::Identity kept{identity.device,   identity.inode, identity.size, identity.mtime_ns,
                        identity.ctime_ns, identity.mode,  identity.owner};
  if (is_place(kind)) {
    kept.size = 0;
    kept.mtime_ns = kept.ctime_ns = 0;
  }
  return kept;
}

} // namespace

AnswerPaths::AnswerPaths(fs::path here, std::int64_t start, std::vector<fs::path> passed_over)
    : here_(std::move(here)), start_(start), passed_over_(std::move(passed_over)) {}

void AnswerPaths::add(const FileAccess& access) {
  const fs::path path = access.is_relative ? here_ / access.path : fs::path(access.path);
  if (is_passed_over(path) || (access.was_written && !access.was_asked_first)) {
    return;
  }
  if (!is_kernels(path)) {
    add_file(access, path);
  } else if (path != "/proc/self/exe") { // the program itself, which was executed by its name
    add_kernels(access, path);
  }
}

std::string AnswerPaths::records() const {
  std::string bytes(reinterpret_cast<const char*>(&count_), sizeof count_);
  for (const auto& [directory, names] : directories_) {
    bytes.push_back(static_cast<char>(Kind::directory));
    bytes.append(directory).push_back('\0');
    for (const auto& [name, identity] : names) {
      bytes.push_back(static_cast<char>(name.second));
      bytes.append(reinterpret_cast<const char*>(&identity), sizeof identity);
      bytes.append(name.first).push_back('\0');
    }
  }
  return bytes;
}

bool AnswerPaths::is_passed_over(const fs::path& path) const {
  return std::any_of(passed_over_.begin(), passed_over_.end(),
                     [&](const fs::path& place) { return lies_below(path, place); });
}

void AnswerPaths::add_kernels(const FileAccess& access, const fs::path& path) {
  if (is_of_one_process(path)) {
    throw NotComparable{path.string()};
  }
  kernel_files_[path.string()] = kernel_answer(access, path);
}

void AnswerPaths::add_file(const FileAccess& access, const fs::path& path) {
  if (path.native().find('\0') != std::string::npos || is_on_kernel_file_system(path)) {
    throw NotComparable{path.string()};
  }
  const std::optional<FileIdentity> itself = access.link_was_read ? link_identity_of(path) : std::nullopt;
  const bool is_link = itself && S_ISLNK(itself->mode);
  const bool only_its_kind =
      !access.was_read && !access.was_identified && access.first && access.first->is_directory();
  if (is_link) {
    add_record(path, Kind::link, itself);
  }
  // A link that takes its place, and leads to it, is another answer to who asked for links.
  const bool must_be_itself = access.link_was_read && !is_link;
  add_record(path,
             only_its_kind ? (must_be_itself ? Kind::real_place : Kind::place)
                           : (must_be_itself ? Kind::link : Kind::path),
             access.first);
}

void AnswerPaths::add_record(const fs::path& path, Kind kind, const std::optional<FileIdentity>& identity) {
  settled_ = settled_ && (!identity || is_place(kind) || is_settled(*identity, start_));
  const std::string name = path.filename().string();
  std::string directory = path.parent_path().string();
  directory += directory.ends_with('/') ? "" : "/";
  // "/" and "directory/" have no name of their own.
  const bool is_new = directories_[directory]
                          .try_emplace({name.empty() ? "." : name, kind},
                                       identity ? kept_of(*identity, kind) : recall::Identity{})
                          .second;
  count_ += is_new ? 1 : 0;
}

} // namespace dcuop::cli
