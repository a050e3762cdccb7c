#include "dcuop/store/prune.hpp"

#include <gmock/gmock.h>

#include "store_fixture.hpp"

namespace dcuop::store {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using std::chrono::system_clock;
using ::testing::IsEmpty;

class PruneTest : public StoreTest {
 protected:
  [[nodiscard]] fs::path statistics(const std::string& name) const {
    return root_ / "v1" / "statistics" / name;
  }
  Entry make(const std::string& name, std::chrono::seconds age, Shelf shelf = Shelf::entries) {
    Entry entry = publish(store_, key_of(name), std::string(10'000, 'x'), name, shelf);
    store_.stamp_use(shelf, entry.key);
    set_age(root_ / "v1" / "use" / ((shelf == Shelf::entries ? "e" : "o") + entry.key.hex()), age);
    return entry;
  }
  Store store_ = open();
};

TEST_F(PruneTest, publications_are_added_up) {
  EXPECT_EQ(growth_of(store_).additions, 0U);
  const Entry entry = make("a", hours(0));
  (void)make("b", hours(0), Shelf::objects);
  (void)publish(store_, key_of("a"), "lost the race");
  const Growth growth = growth_of(store_);
  EXPECT_FALSE(growth.counted.has_value());
  EXPECT_EQ(growth.additions, 2U) << "what was there already adds nothing";
  EXPECT_EQ(growth.added, 2 * entry.size);
}

TEST_F(PruneTest, no_addition_of_concurrent_processes_is_lost) {
  std::vector<pid_t> pids;
  for (int i = 0; i < 8; ++i) {
    pids.push_back(start_process([&] {
      for (int n = 0; n < 200; ++n) {
        record_addition(store_, 3);
      }
      return 0;
    }));
  }
  for (const pid_t pid : pids) {
    EXPECT_EQ(wait_for(pid), 0);
  }
  EXPECT_EQ(growth_of(store_).additions, 1600U);
  EXPECT_EQ(growth_of(store_).added, 4800U);
}

TEST_F(PruneTest, a_torn_addition_is_left_out) {
  record_addition(store_, 5);
  const std::string line = read_file(statistics("additions")).value();
  for (std::size_t length = 1; length + 1 < line.size(); ++length) {
    write(statistics("additions"), line + line.substr(0, length));
    EXPECT_EQ(growth_of(store_).added, 5U) << length;
  }
  write(statistics("additions"), "xyz\n" + line + "-0000000000000000005\n" + line);
  EXPECT_EQ(growth_of(store_).added, 10U);
}

TEST_F(PruneTest, a_count_is_whole_or_none) {
  (void)prune(store_, 1'000'000);
  const std::string whole = read_file(statistics("counted")).value();
  ASSERT_TRUE(growth_of(store_).counted.has_value());
  for (std::size_t at = 0; at < whole.size(); ++at) {
    write(statistics("counted"), whole.substr(0, at));
    EXPECT_FALSE(growth_of(store_).counted.has_value()) << at;
  }
}

TEST_F(PruneTest, it_is_due_when_what_was_counted_and_added_is_too_much) {
  const system_clock::time_point now = system_clock::now();
  EXPECT_FALSE(is_prune_due({std::nullopt, {}, 1'000'000, 63}, 100, now));
  EXPECT_TRUE(is_prune_due({std::nullopt, {}, 0, 64}, 100, now));
  EXPECT_FALSE(is_prune_due({90, now, 10, 1}, 100, now));
  EXPECT_TRUE(is_prune_due({90, now, 11, 1}, 100, now));
  EXPECT_TRUE(is_prune_due({0, now, 0, 10'000}, 100, now)) << "after so many, count again";
}

TEST_F(PruneTest, one_that_found_nothing_to_remove_is_not_repeated_at_once) {
  const system_clock::time_point now = system_clock::now();
  EXPECT_FALSE(is_prune_due({2000, now - minutes(9), 20, 1}, 1000, now));
  EXPECT_TRUE(is_prune_due({2000, now - minutes(9), 21, 1}, 1000, now)) << "2 % more";
  EXPECT_TRUE(is_prune_due({2000, now - minutes(11), 1, 1}, 1000, now));
  EXPECT_TRUE(is_prune_due({2000, now + minutes(1), 1, 1}, 1000, now)) << "the clock was set back";
}

TEST_F(PruneTest, it_removes_the_least_recently_used_and_counts_what_is_left) {
  const Entry oldest = make("oldest", hours(5));
  const Entry object = make("object", hours(4), Shelf::objects);
  const Entry used = make("used", hours(6));
  const Entry recent = make("recent", minutes(59));
  const std::optional<FileLock> lock = store_.lock_for_use(used.key);
  const Pruned first = prune(store_, 1'000'000);
  EXPECT_THAT(first.done.remove, IsEmpty());
  EXPECT_EQ(growth_of(store_).counted, first.bytes_left);
  EXPECT_EQ(growth_of(store_).additions, 0U);
  EXPECT_GE(first.bytes_left, 4 * oldest.size);

  const Pruned second = prune(store_, first.bytes_left - 1);
  ASSERT_EQ(second.done.remove.size(), 1U);
  EXPECT_EQ(second.done.remove[0].entry.key, oldest.key);
  EXPECT_EQ(second.done.keep_in_use.size(), 1U);

  const Pruned all = prune(store_, 0);
  ASSERT_EQ(all.done.remove.size(), 1U);
  EXPECT_EQ(all.done.remove[0].entry.key, object.key);
  EXPECT_TRUE(store_.find(Shelf::entries, recent.key).has_value());
  EXPECT_TRUE(store_.find(Shelf::entries, used.key).has_value());
  EXPECT_EQ(growth_of(store_).counted, all.bytes_left);
}

TEST_F(PruneTest, index_and_memos_count_against_the_limit) {
  const Entry entry = make("a", hours(2));
  const fs::path memo = root_ / "v1" / "memo" / "host";
  fs::create_directories(memo);
  write(memo / "large", std::string(100'000, 'm'));
  EXPECT_EQ(prune(store_, 50'000).done.remove.size(), 1U);
  EXPECT_TRUE(fs::exists(memo / "large"));
}

TEST_F(PruneTest, one_at_a_time) {
  (void)make("a", hours(2));
  const std::optional<FileLock> other =
      FileLock::try_acquire(root_ / "v1" / "locks" / "prune", 0, FileLock::Mode::exclusive);
  ASSERT_TRUE(other.has_value());
  EXPECT_TRUE(is_being_pruned(store_));
  EXPECT_TRUE(prune(store_, 0).elsewhere);
  EXPECT_EQ(store_.list(Shelf::entries).size(), 1U);
}

TEST_F(PruneTest, a_killed_one_leaves_a_cache_that_nobody_counted) {
  (void)prune(store_, 1'000'000);
  fs::remove(statistics("counted")); // what it does first
  record_addition(store_, 1);
  EXPECT_FALSE(is_prune_due(growth_of(store_), 1'000'000, system_clock::now()));
  EXPECT_FALSE(is_being_pruned(store_));
}

} // namespace
} // namespace dcuop::store
