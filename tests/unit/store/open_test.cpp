#include <gmock/gmock.h>

#include "store_fixture.hpp"

namespace dcuop::store {
namespace {

using ::testing::HasSubstr;

using OpenTest = StoreTest;

constexpr uid_t nobody = 65534;

std::string failure_of(const std::function<void()>& action) {
  try {
    action();
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::environment);
    return std::string(error.what()) + " | " + error.hint;
  }
  return "no error";
}

unsigned mode_of(const fs::path& path) {
  struct stat status {};
  EXPECT_EQ(lstat(path.c_str(), &status), 0) << path;
  return status.st_mode & 07777U;
}

TEST_F(OpenTest, makes_a_private_root_with_a_cache_tag) {
  const Store store = open();
  EXPECT_EQ(store.root(), root_);
  EXPECT_FALSE(store.read_only());
  EXPECT_EQ(mode_of(root_), 0700U);
  EXPECT_THAT(read_file(root_ / "CACHEDIR.TAG").value_or(""),
              ::testing::StartsWith("Signature: 8a477f597d28d172789f06886806bc55\n"));
  EXPECT_THAT(store.memo_directory().string(), HasSubstr((root_ / "v1" / "memo").string()));
}

TEST_F(OpenTest, makes_missing_parents_private_too) {
  root_ = base_ / "a" / "b" / "cache";
  (void)open();
  EXPECT_EQ(mode_of(base_ / "a"), 0700U);
}

TEST_F(OpenTest, does_not_tag_a_directory_that_holds_other_things) {
  fs::create_directories(root_);
  write(root_ / "thesis.txt", "years of work");
  (void)open();
  EXPECT_FALSE(fs::exists(root_ / "CACHEDIR.TAG"));
  EXPECT_TRUE(fs::exists(root_ / "v1" / "CACHEDIR.TAG"));
}

TEST_F(OpenTest, nothing_is_writable_by_others_under_any_umask) {
  for (const mode_t mask : {mode_t{0}, mode_t{077}}) {
    root_ = base_ / ("umask" + std::to_string(mask));
    const mode_t before = umask(mask);
    Store store = open();
    const Entry entry = publish(store, key_of("k"));
    store.stamp_use(Shelf::entries, entry.key);
    store.record_origin(entry, base_);
    store.add_record(key_of("r"), key_of("i"), {entry.key, "{}"});
    (void)store.find(Shelf::entries, entry.key);
    umask(before);
    EXPECT_EQ(mode_of(root_), 0700U);
    EXPECT_EQ(mode_of(entry.artifact_path()), 0444U);
    EXPECT_EQ(mode_of(entry.directory), 0755U);
    for (const auto& item : fs::recursive_directory_iterator(root_)) {
      if (item.is_directory()) {
        EXPECT_EQ(mode_of(item.path()) & 022U, 0U) << item.path();
      }
    }
    EXPECT_TRUE(Store::open(root_).find(Shelf::entries, entry.key).has_value());
  }
}

TEST_F(OpenTest, refuses_a_root_that_others_can_write) {
  (void)open();
  for (const unsigned mode : {0770U, 0702U}) {
    fs::permissions(root_, fs::perms(mode));
    const std::string failure = failure_of([&] { (void)open(); });
    EXPECT_THAT(failure, HasSubstr(mode == 0770U ? "written by its group" : "written by everybody"));
    EXPECT_THAT(failure, HasSubstr("chmod go-w " + root_.string()));
  }
  fs::permissions(root_, fs::perms(0755));
  EXPECT_FALSE(open().read_only());
}

TEST_F(OpenTest, refuses_a_layout_directory_that_others_can_write) {
  (void)open();
  fs::permissions(root_ / "v1", fs::perms(0777));
  EXPECT_THAT(failure_of([&] { (void)open(); }), HasSubstr("chmod go-w " + (root_ / "v1").string()));
}

TEST_F(OpenTest, refuses_a_root_of_another_user) {
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a directory away";
  }
  (void)open();
  ASSERT_EQ(chown(root_.c_str(), nobody, nobody), 0);
  const std::string failure = failure_of([&] { (void)open(); });
  EXPECT_THAT(failure, HasSubstr("belongs to user id 65534, not to you (user id 0)"));
  EXPECT_THAT(failure, HasSubstr("--cache-dir"));
}

TEST_F(OpenTest, refuses_what_is_not_a_directory) {
  write(root_, "a file");
  EXPECT_THAT(failure_of([&] { (void)open(); }), HasSubstr("is not a directory"));
  root_ = root_ / "below";
  EXPECT_THAT(failure_of([&] { (void)open(); }), HasSubstr("cannot make the cache"));
}

/// As a user whose rights are what the modes say.
int as_nobody(const std::function<int()>& body) {
  return wait_for(start_process([&] {
    if (geteuid() == 0 &&
        (setresgid(nobody, nobody, nobody) != 0 || setresuid(nobody, nobody, nobody) != 0)) {
      return 97;
    }
    return body();
  }));
}

TEST_F(OpenTest, says_where_else_to_go_when_the_home_cannot_be_written) {
  fs::create_directories(base_ / "home");
  fs::permissions(base_ / "home", fs::perms(0555));
  EXPECT_EQ(as_nobody([&] {
              try {
                (void)Store::open(base_ / "home" / ".cache" / "dcuop");
              } catch (const Error& error) {
                const bool named = std::string(error.what()).find("Permission denied") != std::string::npos;
                return named && error.hint.find("DCUOP_CACHE_DIR") != std::string::npos ? 0 : 2;
              }
              return 1;
            }),
            0);
}

TEST_F(OpenTest, a_root_that_cannot_be_written_serves_what_it_has) {
  const Digest key = key_of("k");
  {
    Store store = open();
    (void)publish(store, key);
    store.add_record(key_of("r"), key_of("i"), {key, "{}"});
  }
  if (geteuid() == 0) {
    for (const auto& item : fs::recursive_directory_iterator(root_)) {
      ASSERT_EQ(lchown(item.path().c_str(), nobody, nobody), 0);
    }
    ASSERT_EQ(chown(root_.c_str(), nobody, nobody), 0);
  }
  fs::permissions(root_ / "v1", fs::perms(0555));
  fs::permissions(root_, fs::perms(0555));
  EXPECT_EQ(as_nobody([&] {
              Store store = open();
              if (!store.read_only() || !store.find(Shelf::entries, key) ||
                  store.records(key_of("r")).size() != 1) {
                return 1;
              }
              store.stamp_use(Shelf::entries, key);
              if (!store.record_failure(key, {}, "log").empty() || store.prune_leftovers() != 0) {
                return 2;
              }
              try {
                (void)store.private_directory();
                return 3;
              } catch (const Error& error) {
                return error.code == ExitCode::environment ? 0 : 4;
              }
            }),
            0);
  fs::permissions(root_, fs::perms(0755));
  fs::permissions(root_ / "v1", fs::perms(0755));
}

TEST_F(OpenTest, an_empty_root_that_cannot_be_written_is_read_only) {
  fs::create_directories(root_);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(root_.c_str(), nobody, nobody), 0);
  }
  fs::permissions(root_, fs::perms(0555));
  EXPECT_EQ(as_nobody([&] {
              const Store store = open();
              return store.read_only() && !store.find(Shelf::entries, key_of("k")) &&
                             store.usage().entries == 0
                         ? 0
                         : 1;
            }),
            0);
}

TEST_F(OpenTest, a_root_without_rights_to_read_is_an_error) {
  fs::create_directories(root_);
  if (geteuid() == 0) {
    ASSERT_EQ(chown(root_.c_str(), nobody, nobody), 0);
  }
  fs::permissions(root_, fs::perms(0300));
  EXPECT_EQ(as_nobody([&] {
              try {
                (void)open();
              } catch (const Error& error) {
                return error.hint.find("chmod u+rx") != std::string::npos ? 0 : 2;
              }
              return 1;
            }),
            0);
}

TEST_F(OpenTest, a_shared_store_is_trusted_by_its_owner) {
  const Digest key = key_of("k");
  {
    Store store = open();
    (void)publish(store, key);
  }
  fs::permissions(root_, fs::perms(0755));
  const fs::path memos = base_ / "memos";
  const Store shared = Store::open_shared(root_, {geteuid()}, memos);
  EXPECT_TRUE(shared.read_only());
  EXPECT_TRUE(shared.find(Shelf::entries, key).has_value());

  fs::permissions(root_, fs::perms(0775));
  EXPECT_THAT(failure_of([&] { (void)Store::open_shared(root_, {geteuid()}, memos); }),
              HasSubstr("chmod go-w"));
  fs::permissions(root_, fs::perms(0755));
  if (geteuid() != 0) {
    GTEST_SKIP() << "only root can give a directory away";
  }
  ASSERT_EQ(chown(root_.c_str(), nobody, nobody), 0);
  EXPECT_THAT(failure_of([&] { (void)Store::open_shared(root_, {}, memos); }), HasSubstr("trusted_owners"));
  ASSERT_EQ(chown((root_ / "v1").c_str(), nobody, nobody), 0);
  EXPECT_TRUE(Store::open_shared(root_, {nobody}, memos).find(Shelf::entries, key).has_value());
}

} // namespace
} // namespace dcuop::store
