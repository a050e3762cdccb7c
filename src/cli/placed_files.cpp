#include "placed_files.hpp"

#include <unistd.h>

#include <algorithm>
#include <system_error>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::cli {

namespace {

[[noreturn]] void fail(const std::string& what, const fs::path& path, const std::error_code& error) {
  throw Error(ExitCode::environment, what + " " + path.string() + ": " + error.message(),
              "choose another place with --dir");
}

void move(const fs::path& from, const fs::path& to) {
  std::error_code error;
  fs::rename(from, to, error);
  if (error) {
    fail("cannot write", to, error);
  }
}

/// Undoes in its destructor what was done, unless it was all.
class Placement {
 public:
  explicit Placement(const fs::path& directory) : directory_(directory), exists_(identity_of(directory)) {}
  ~Placement() { take_back(); }
  Placement(const Placement&) = delete;
  Placement& operator=(const Placement&) = delete;

  void run(const std::vector<op::NewFile>& files) {
    make_stage();
    for (const op::NewFile& file : files) {
      write_file_atomic(stage_ / file.path, file.text);
    }
    if (exists_) {
      move_each(files);
    } else {
      move(stage_, directory_);
    }
    is_done_ = true;
  }

 private:
  /// Beside what it will be, on the same file system.
  void make_stage() {
    const std::string name = ".dcuop-new-" + std::to_string(::getpid());
    if (!exists_) {
      for (fs::path above = directory_.parent_path(); !identity_of(above); above = above.parent_path()) {
        first_made_ = above;
      }
      make_directories(directory_.parent_path());
    }
    const fs::path stage = (exists_ ? directory_ : directory_.parent_path()) / name;
    std::error_code error;
    if (!fs::create_directory(stage, error)) {
      fail("cannot make", exists_ ? stage : directory_,
           error ? error : std::make_error_code(std::errc::file_exists));
    }
    stage_ = stage;
  }

  void move_each(const std::vector<op::NewFile>& files) {
    const fs::path old = stage_ / "old";
    make_directories(old);
    for (const op::NewFile& file : files) {
      const fs::path target = directory_ / file.path;
      std::error_code ignored;
      fs::path before;
      if (fs::exists(fs::symlink_status(target, ignored))) {
        before = old / std::to_string(moved_.size());
        move(target, before);
      }
      moved_.push_back({target, before});
      move(stage_ / file.path, target);
    }
  }

  void take_back() noexcept {
    std::error_code ignored;
    for (auto step = moved_.rbegin(); !is_done_ && step != moved_.rend(); ++step) {
      fs::remove(step->target, ignored);
      if (!step->before.empty()) {
        fs::rename(step->before, step->target, ignored);
      }
    }
    if (!stage_.empty()) {
      static_cast<void>(remove_tree(stage_));
    }
    if (!is_done_ && !first_made_.empty()) {
      static_cast<void>(remove_tree(first_made_));
    }
  }

  struct Moved {
    fs::path target;
    fs::path before; ///< where the file that was there is now; empty: there was none
  };

  fs::path directory_;
  bool exists_;
  fs::path first_made_; ///< the topmost of the directories that were made for it
  fs::path stage_;
  std::vector<Moved> moved_;
  bool is_done_ = false;
};

void check_place(const fs::path& directory, const std::vector<op::NewFile>& files, bool overwrite) {
  std::error_code error;
  const fs::file_status status = fs::symlink_status(directory, error);
  if (!fs::exists(status)) {
    return;
  }
  if (!fs::is_directory(directory, error)) {
    throw Error(ExitCode::usage, directory.string() + " exists and is no directory",
                "choose another name, or another place with --dir");
  }
  if (!overwrite && !fs::is_empty(directory, error)) {
    throw Error(ExitCode::usage, directory.string() + " exists and is not empty",
                "choose another name, or write over the files of the same names with --force");
  }
  for (const op::NewFile& file : files) {
    if (fs::is_directory(fs::symlink_status(directory / file.path, error))) {
      throw Error(ExitCode::usage,
                  (directory / file.path).string() + " is a directory, and the op has a file there",
                  "move it away");
    }
  }
}

} // namespace

void place_files(const fs::path& directory, const std::vector<op::NewFile>& files, bool overwrite) {
  check_place(directory, files, overwrite);
  Placement(directory).run(files);
}

} // namespace dcuop::cli
