#pragma once
// A cache in a temporary directory, and what tests do to it.

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cstdlib>
#include <filesystem>
#include <fstream>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "dcuop/store/store.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::store {

inline Digest key_of(const std::string& text) {
  return digest_of(text);
}

/// Memory, where there is some: these tests flush to disk thousands of times.
inline fs::path test_directory() {
  return std::getenv("TMPDIR") == nullptr && access("/dev/shm", W_OK) == 0 ? "/dev/shm"
                                                                           : fs::temp_directory_path();
}

/// A directory of the test's own, readable by all, as some tests give up their rights.
class StoreTest : public ::testing::Test {
 protected:
  StoreTest() {
    std::string pattern = (test_directory() / "dcuop-store-XXXXXX").string();
    base_ = mkdtemp(pattern.data());
    fs::permissions(base_, fs::perms(0755));
    root_ = base_ / "cache";
  }
  ~StoreTest() override { (void)remove_tree(base_); }

  StoreTest(const StoreTest&) = delete;
  StoreTest& operator=(const StoreTest&) = delete;

  [[nodiscard]] Store open() const { return Store::open(root_); }

  static void write(const fs::path& path, const std::string& content) {
    std::ofstream(path, std::ios::binary) << content;
  }

  /// A directory with an artifact and a log, not yet published.
  static PrivateDirectory prepare(const Store& store, const std::string& content) {
    PrivateDirectory directory = store.private_directory();
    write(directory.path() / "op.so", content);
    write(directory.path() / "build.log", "built\n");
    return directory;
  }

  static Publication publication(const Digest& key, const std::string& name = "op") {
    return {key, name, "op.so", R"({"arch":["gfx906"]})"};
  }

  static Entry publish(Store& store, const Digest& key, const std::string& content = "machine code",
                       const std::string& name = "op", Shelf shelf = Shelf::entries) {
    return store.publish(shelf, prepare(store, content), publication(key, name));
  }

  /// Files and modes are the attacker's or the disk's in these tests.
  static void overwrite(const fs::path& path, const std::string& content) {
    fs::permissions(path, fs::perms(0644));
    write(path, content);
  }

  [[nodiscard]] std::vector<std::string> private_names() const {
    return list_directory(root_ / "v1" / "tmp");
  }

  static void set_age(const fs::path& path, std::chrono::seconds age) {
    timespec time{};
    time.tv_sec = std::time(nullptr) - age.count();
    const std::array<timespec, 2> times{time, time};
    ASSERT_EQ(utimensat(AT_FDCWD, path.c_str(), times.data(), AT_SYMLINK_NOFOLLOW), 0);
  }

  fs::path base_;
  fs::path root_;
};

/// Runs `body` in a process of its own; its exit status.
inline pid_t start_process(const std::function<int()>& body) {
  const pid_t pid = fork();
  if (pid == 0) {
    int status = 99;
    try {
      status = body();
    } catch (const std::exception&) {
      status = 98;
    }
    _exit(status);
  }
  return pid;
}

inline int wait_for(pid_t pid) {
  int status = 0;
  EXPECT_EQ(waitpid(pid, &status, 0), pid);
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

} // namespace dcuop::store
