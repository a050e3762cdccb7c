// Races, damage and kills around publication.

#include <signal.h>

#include <algorithm>
#include <random>
#include <thread>

#include "../../../src/store/placing.hpp"
#include "store_fixture.hpp"

namespace dcuop::store {
namespace {

using PublishTest = StoreTest;

TEST_F(PublishTest, the_second_publisher_adopts_the_first_ones_entry) {
  Store store = open();
  const Entry first = publish(store, key_of("k"), "first");
  const Entry second = publish(store, key_of("k"), "second, longer");
  EXPECT_EQ(second.artifact_path(), first.artifact_path());
  EXPECT_EQ(second.size, first.size);
  EXPECT_EQ(read_file(second.artifact_path()), "first");
  EXPECT_TRUE(private_names().empty());
}

TEST_F(PublishTest, a_damaged_winner_is_replaced) {
  Store store = open();
  const Entry first = publish(store, key_of("k"), "first");
  for (const auto& damage : std::vector<std::function<void()>>{
           [&] { overwrite(first.artifact_path(), "f1rst"); },
           [&] { overwrite(first.directory / "manifest.json", ""); },
           [&] { fs::remove(first.directory / "manifest.json"); },
           [&] { (void)remove_tree(first.directory), fs::create_directory(first.directory); },
           [&] { (void)remove_tree(first.directory), write(first.directory, "a file"); },
           [&] {
             fs::create_directory(base_ / "precious");
             write(base_ / "precious" / "data", "mine");
             (void)remove_tree(first.directory);
             fs::create_directory_symlink(base_ / "precious", first.directory);
           }}) {
    damage();
    EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value());
    const Entry again = publish(store, key_of("k"), "again");
    EXPECT_EQ(read_file(again.artifact_path()), "again");
    EXPECT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());
    EXPECT_TRUE(private_names().empty());
    (void)remove_tree(first.directory);
    (void)publish(store, key_of("k"), "first");
  }
  EXPECT_EQ(read_file(base_ / "precious" / "data"), "mine");
}

TEST_F(PublishTest, what_cannot_be_published_stays_with_the_caller) {
  Store store = open();
  PrivateDirectory directory = prepare(store, "code");
  const auto code_of = [&](const Publication& publication) {
    try {
      (void)store.publish(Shelf::entries, std::move(directory), publication);
      return ExitCode::ok;
    } catch (const Error& error) {
      return error.code;
    }
  };
  EXPECT_EQ(code_of({key_of("k"), "op", "missing.so", "{}"}), ExitCode::failed);
  EXPECT_EQ(code_of({key_of("k"), "op", "op.so", "[1]"}), ExitCode::failed);
  EXPECT_EQ(code_of({key_of("k"), "op", "op.so", "{"}), ExitCode::failed);
  fs::create_symlink("/etc/passwd", directory.path() / "link");
  EXPECT_EQ(code_of({key_of("k"), "op", "op.so", "{}"}), ExitCode::failed);
  fs::remove(directory.path() / "link");
  EXPECT_EQ(read_file(directory.path() / "op.so"), "code");
  EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value());
  EXPECT_EQ(code_of({key_of("k"), "op", "op.so", "{}"}), ExitCode::ok);
  EXPECT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());
}

TEST_F(PublishTest, files_in_subdirectories_are_published_too) {
  Store store = open();
  PrivateDirectory directory = prepare(store, "code");
  fs::create_directories(directory.path() / "deep" / "er");
  write(directory.path() / "deep" / "er" / "data", "12345");
  const Entry entry = store.publish(Shelf::entries, std::move(directory), publication(key_of("k")));
  EXPECT_EQ(entry.size, 4U + 6U + 5U);
  EXPECT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());
  overwrite(entry.directory / "deep" / "er" / "data", "12346");
  EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value());
}

TEST_F(PublishTest, a_private_directory_goes_with_its_owner_unless_published) {
  const Store store = open();
  fs::path path;
  {
    PrivateDirectory directory = prepare(store, "code");
    path = directory.path();
    PrivateDirectory moved = std::move(directory);
    EXPECT_EQ(moved.path(), path);
    EXPECT_TRUE(fs::exists(path / "op.so"));
    moved = store.private_directory();
    EXPECT_FALSE(fs::exists(path));
    path = moved.path();
  }
  EXPECT_FALSE(fs::exists(path));
}

TEST_F(PublishTest, threads_of_one_process_get_one_entry) {
  Store store = open();
  std::vector<std::thread> threads;
  std::vector<std::string> contents(8);
  for (std::size_t i = 0; i < contents.size(); ++i) {
    threads.emplace_back([&, i] {
      Store own = open();
      contents[i] =
          read_file(publish(own, key_of("k"), "from " + std::to_string(i)).artifact_path()).value_or("");
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ(std::count(contents.begin(), contents.end(), contents[0]), 8);
  EXPECT_TRUE(contents[0].starts_with("from "));
  EXPECT_TRUE(private_names().empty());
  EXPECT_TRUE(store.verify().empty());
}

TEST_F(PublishTest, processes_that_race_get_one_entry_even_over_a_damaged_one) {
  for (int round = 0; round < 6; ++round) {
    Store store = open();
    const Digest key = key_of("k" + std::to_string(round));
    if (round % 2 == 1) {
      const Entry damaged = publish(store, key, "old");
      overwrite(damaged.artifact_path(), "0ld");
    }
    std::vector<pid_t> pids;
    for (int i = 0; i < 8; ++i) {
      pids.push_back(start_process([&] {
        Store own = open();
        const Entry entry = publish(own, key, "from " + std::to_string(i));
        return read_file(entry.artifact_path()).value_or("").starts_with("from ") ? 0 : 1;
      }));
    }
    for (const pid_t pid : pids) {
      EXPECT_EQ(wait_for(pid), 0);
    }
    EXPECT_TRUE(store.find(Shelf::entries, key).has_value());
    EXPECT_TRUE(store.verify().empty());
    EXPECT_TRUE(private_names().empty());
  }
}

TEST_F(PublishTest, a_publisher_killed_at_any_moment_leaves_a_clean_cache) {
  Store store = open();
  std::mt19937 random(20261129);
  int published = 0;
  for (int kill_number = 0; kill_number < 60; ++kill_number) {
    const pid_t pid = start_process([&] {
      Store own = open();
      for (int i = 0;; ++i) {
        const Digest key = key_of(std::to_string(kill_number) + "/" + std::to_string(i));
        const Entry entry = publish(own, key, std::string(30'000, static_cast<char>('a' + i % 26)));
        own.add_record(key, key_of("inputs"), {entry.key, "{\"inputs\":[]}"});
        own.stamp_use(Shelf::entries, entry.key);
        own.record_origin(entry, base_);
        (void)own.find(Shelf::entries, entry.key);
        (void)own.remove(Shelf::entries, key_of(std::to_string(kill_number) + "/" + std::to_string(i - 3)));
      }
      return 0;
    });
    usleep(static_cast<useconds_t>(random() % 12'000));
    kill(pid, SIGKILL);
    EXPECT_EQ(wait_for(pid), 128 + SIGKILL);
    for (const Entry& entry : store.list(Shelf::entries)) {
      EXPECT_TRUE(store.find(Shelf::entries, entry.key).has_value());
      ++published;
    }
    ASSERT_TRUE(store.verify().empty()) << kill_number << ": " << store.verify().front().what;
    for (const Entry& entry : store.list(Shelf::entries)) {
      EXPECT_TRUE(store.remove(Shelf::entries, entry.key));
    }
  }
  EXPECT_GT(published, 0) << "every kill came before the first publication";
  (void)store.sweep_private_directories();
  EXPECT_TRUE(private_names().empty());
}

// A network file system that says that the place is taken, and does not show by what.
TEST_F(PublishTest, a_winner_that_stays_invisible_leaves_our_copy) {
  Store store = open();
  const PrivateDirectory directory = prepare(store, "code");
  int renames = 0;
  const Placing placing = place_directory(root_, Shelf::entries, key_of("k"), directory.path(),
                                          [&](const fs::path&, const fs::path&) {
                                            ++renames;
                                            return EEXIST;
                                          });
  EXPECT_EQ(placing.placed, Placed::invisible);
  EXPECT_FALSE(placing.manifest.has_value());
  EXPECT_GT(renames, 1);
  EXPECT_TRUE(fs::exists(directory.path() / "op.so"));
}

TEST_F(PublishTest, a_winner_that_shows_up_late_is_adopted) {
  Store store = open();
  const PrivateDirectory directory = prepare(store, "code");
  int renames = 0;
  const Placing placing = place_directory(root_, Shelf::entries, key_of("k"), directory.path(),
                                          [&](const fs::path&, const fs::path&) {
                                            if (++renames == 2) {
                                              (void)publish(store, key_of("k"), "theirs");
                                            }
                                            return ENOTEMPTY;
                                          });
  EXPECT_EQ(placing.placed, Placed::theirs);
  ASSERT_TRUE(placing.manifest.has_value());
  EXPECT_EQ(placing.manifest->files.at(1).size, std::string("theirs").size());
}

TEST_F(PublishTest, a_rename_whose_reply_was_lost_is_ours) {
  Store store = open();
  Store other = open();
  PrivateDirectory directory = prepare(store, "code");
  const Placing placing = place_directory(
      root_, Shelf::entries, key_of("k"), directory.path(), [&](const fs::path& from, const fs::path&) {
        // The server did it, the client asks again.
        PrivateDirectory done = other.private_directory();
        fs::copy(from, done.path(), fs::copy_options::recursive | fs::copy_options::overwrite_existing);
        (void)other.publish(Shelf::entries, std::move(done), publication(key_of("k")));
        (void)remove_tree(from);
        return ENOENT;
      });
  EXPECT_EQ(placing.placed, Placed::ours);
}

TEST_F(PublishTest, a_rename_that_is_refused_is_an_error_that_says_why) {
  Store store = open();
  const PrivateDirectory directory = prepare(store, "code");
  try {
    (void)place_directory(root_, Shelf::entries, key_of("k"), directory.path(),
                          [](const fs::path&, const fs::path&) { return ENOSPC; });
    FAIL() << "no error";
  } catch (const Error& error) {
    EXPECT_EQ(error.code, ExitCode::environment);
    EXPECT_NE(std::string(error.what()).find("No space left on device"), std::string::npos);
  }
  EXPECT_TRUE(fs::exists(directory.path() / "op.so"));
}

// Another publisher puts a whole entry in the place of the damaged one that we have just read.
TEST_F(PublishTest, an_entry_repaired_meanwhile_is_not_thrown_away) {
  Store store = open();
  const Entry damaged = publish(store, key_of("k"), "old");
  overwrite(damaged.artifact_path(), "0ld");
  std::thread repair([&] {
    usleep(20'000); // between the two reads of the other
    Store own = open();
    (void)remove_tree(damaged.directory);
    (void)publish(own, key_of("k"), "repaired");
  });
  const Entry entry = publish(store, key_of("k"), "ours");
  repair.join();
  EXPECT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());
  EXPECT_TRUE(store.verify().empty());
}

} // namespace
} // namespace dcuop::store
