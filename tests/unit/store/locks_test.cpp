// Build locks, use locks, use stamps and failures.

#include <signal.h>

#include <gmock/gmock.h>

#include "store_fixture.hpp"

namespace dcuop::store {
namespace {

using std::chrono::system_clock;

using LocksTest = StoreTest;

TEST_F(LocksTest, a_build_lock_is_held_once_and_says_by_whom) {
  Store store = open();
  EXPECT_FALSE(store.build_holder(key_of("r")).has_value());
  {
    std::optional<BuildLock> lock = store.try_lock_build(key_of("r"), "starting");
    ASSERT_TRUE(lock.has_value());
    EXPECT_FALSE(store.try_lock_build(key_of("r"), "too late").has_value());
    EXPECT_TRUE(store.try_lock_build(key_of("other"), "another op").has_value());
    std::optional<Holder> holder = store.build_holder(key_of("r"));
    ASSERT_TRUE(holder.has_value());
    EXPECT_EQ(holder->pid, getpid());
    EXPECT_EQ(holder->activity, "starting");
    EXPECT_FALSE(holder->host.empty());
    EXPECT_LT(system_clock::now() - holder->since, std::chrono::seconds(30));
    const system_clock::time_point since = holder->since;
    usleep(5'000);
    lock->say("compiling binding.cpp \xff");
    holder = store.build_holder(key_of("r"));
    ASSERT_TRUE(holder.has_value());
    EXPECT_TRUE(holder->activity.starts_with("compiling binding.cpp"));
    EXPECT_EQ(holder->since, since);
    EXPECT_GT(holder->activity_since, since);

    BuildLock moved = std::move(*lock);
    lock.reset();
    EXPECT_TRUE(store.build_holder(key_of("r")).has_value());
    EXPECT_FALSE(store.try_lock_build(key_of("r"), "too late").has_value());
  }
  EXPECT_FALSE(store.build_holder(key_of("r")).has_value());
  EXPECT_TRUE(store.try_lock_build(key_of("r"), "again").has_value());
}

TEST_F(LocksTest, a_killed_holder_holds_nothing) {
  Store store = open();
  const pid_t pid = start_process([&] {
    Store own = open();
    const std::optional<BuildLock> lock = own.try_lock_build(key_of("r"), "compiling");
    pause();
    return 0;
  });
  for (int i = 0; i < 500 && !store.build_holder(key_of("r")); ++i) {
    usleep(10'000);
  }
  EXPECT_EQ(store.build_holder(key_of("r")).value_or(Holder{}).pid, pid);
  EXPECT_FALSE(store.try_lock_build(key_of("r"), "waiting").has_value());
  kill(pid, SIGKILL);
  EXPECT_EQ(wait_for(pid), 128 + SIGKILL);
  EXPECT_TRUE(store.try_lock_build(key_of("r"), "building").has_value());
}

TEST_F(LocksTest, a_damaged_holder_record_or_a_missing_lock_directory_stops_nobody) {
  Store store = open();
  std::optional<BuildLock> lock = store.try_lock_build(key_of("r"), "x");
  const fs::path record = root_ / "v1" / "locks" / "holders" / (key_of("r").hex() + ".json");
  for (const char* text : {"", "{", "[1]", "null", R"({"pid":"many","host":7})", "\xff\xfe"}) {
    write(record, text);
    EXPECT_EQ(store.build_holder(key_of("r")).value_or(Holder{}).pid, 0);
  }
  for (const char* since : {"9223372036854775807", "-9223372036854775808", "18446744073709551615", "1e300"}) {
    write(record, std::string(R"({"pid":7,"since":)") + since + R"(,"activity_since":)" + since + "}");
    const std::optional<Holder> holder = store.build_holder(key_of("r"));
    ASSERT_TRUE(holder.has_value());
    EXPECT_EQ(holder->pid, 7);
    EXPECT_GE(holder->since.time_since_epoch().count(), 0) << since; // an age can be told of it
  }
  fs::remove_all(root_ / "v1" / "locks");
  lock->say("still here");
  EXPECT_TRUE(store.try_lock_build(key_of("q"), "x").has_value());
  fs::remove_all(root_ / "v1" / "locks");
  fs::remove_all(root_ / "v1" / "use");
  fs::remove_all(root_ / "v1" / "tmp");
  (void)publish(store, key_of("k"));
  EXPECT_TRUE(store.lock_for_use(key_of("k")).has_value());
}

TEST_F(LocksTest, without_locks_a_build_goes_on) {
  Store store = open();
  fs::create_directories(root_ / "v1" / "locks" / "build"); // nothing can be locked in there
  EXPECT_TRUE(store.try_lock_build(key_of("r"), "x").has_value());
}

TEST_F(LocksTest, use_locks_are_shared_and_keep_removal_off) {
  Store store = open();
  const Entry entry = publish(store, key_of("k"));
  EXPECT_FALSE(store.in_use(entry.key));
  {
    const std::optional<FileLock> first = store.lock_for_use(entry.key);
    const std::optional<FileLock> second = store.lock_for_use(entry.key);
    ASSERT_TRUE(first && second);
    EXPECT_TRUE(store.in_use(entry.key));
    EXPECT_FALSE(store.in_use(key_of("another")));
    EXPECT_FALSE(store.remove(Shelf::entries, entry.key));
    EXPECT_TRUE(store.find(Shelf::entries, entry.key).has_value());
  }
  EXPECT_FALSE(store.in_use(entry.key));
  EXPECT_TRUE(store.remove(Shelf::entries, entry.key));
  EXPECT_FALSE(store.find(Shelf::entries, entry.key).has_value());
  EXPECT_TRUE(store.remove(Shelf::entries, entry.key)) << "nothing is left to remove";
}

TEST_F(LocksTest, where_nothing_tells_whether_it_is_in_use_nothing_is_removed) {
  Store store = open();
  const Entry entry = publish(store, key_of("k"));
  fs::remove_all(root_ / "v1" / "use");
  fs::create_directories(store.use_lock_file());
  EXPECT_TRUE(store.in_use(entry.key));
  EXPECT_FALSE(store.remove(Shelf::entries, entry.key));
  EXPECT_TRUE(store.find(Shelf::entries, entry.key).has_value());
}

TEST_F(LocksTest, lock_offsets_differ_and_fit_a_file) {
  Digest low;
  Digest high;
  high.bytes.fill(0xff);
  EXPECT_EQ(Store::lock_offset(low), 0U);
  EXPECT_EQ(Store::lock_offset(high), (std::uint64_t{1} << 62U) - 1);
  low.bytes[7] = 4;
  EXPECT_EQ(Store::lock_offset(low), 1U);
  EXPECT_NE(Store::lock_offset(key_of("a")), Store::lock_offset(key_of("b")));
}

TEST_F(LocksTest, a_use_is_stamped_at_most_once_a_minute) {
  Store store = open();
  const Digest key = key_of("k");
  EXPECT_FALSE(store.last_use(Shelf::entries, key).has_value());
  store.stamp_use(Shelf::entries, key);
  ASSERT_TRUE(store.last_use(Shelf::entries, key).has_value());
  EXPECT_FALSE(store.last_use(Shelf::objects, key).has_value());
  const fs::path stamp = root_ / "v1" / "use" / ("e" + key.hex());

  const auto age = [&] { return system_clock::now() - store.last_use(Shelf::entries, key).value(); };
  EXPECT_LT(age(), std::chrono::seconds(10));
  set_age(stamp, std::chrono::seconds(40));
  store.stamp_use(Shelf::entries, key);
  EXPECT_GT(age(), std::chrono::seconds(30));
  set_age(stamp, std::chrono::seconds(90));
  store.stamp_use(Shelf::entries, key);
  EXPECT_LT(age(), std::chrono::seconds(10));
  set_age(stamp, -std::chrono::hours(5)); // from before the clock was set back
  store.stamp_use(Shelf::entries, key);
  EXPECT_LT(std::chrono::abs(age()), std::chrono::seconds(10));
}

TEST_F(LocksTest, a_failure_is_kept_with_its_log_until_it_is_forgotten) {
  Store store = open();
  EXPECT_FALSE(store.last_failure(key_of("r")).has_value());
  const Failure failure{
      "op.hip:14:9: use of 'nummel' \xff", "did you mean 'numel'?", 1, {}, system_clock::now()};
  const fs::path log = store.record_failure(key_of("r"), failure, "the whole log");
  EXPECT_EQ(read_file(log), "the whole log");
  const std::optional<Failure> found = store.last_failure(key_of("r"));
  ASSERT_TRUE(found.has_value());
  EXPECT_TRUE(found->message.starts_with("op.hip:14:9: use of 'nummel'"));
  EXPECT_EQ(found->hint, failure.hint);
  EXPECT_EQ(found->exit_code, 1);
  EXPECT_EQ(found->log, log);
  EXPECT_LT(std::chrono::abs(found->when - failure.when), std::chrono::milliseconds(2));

  (void)store.record_failure(key_of("r"), {"second", "", 3, {}, system_clock::now()}, "log 2");
  EXPECT_EQ(store.last_failure(key_of("r")).value().exit_code, 3);
  const fs::path file = log.parent_path() / "error.json";
  const std::string whole = read_file(file).value();
  for (std::size_t length = 0; length < whole.size(); ++length) {
    write(file, whole.substr(0, length));
    EXPECT_FALSE(store.last_failure(key_of("r")).has_value()) << length;
  }
  write(file, whole);
  fs::remove(log);
  EXPECT_TRUE(store.last_failure(key_of("r")).value().log.empty());
  store.forget_failure(key_of("r"));
  EXPECT_FALSE(store.last_failure(key_of("r")).has_value());
  store.forget_failure(key_of("never failed"));
}

} // namespace
} // namespace dcuop::store
