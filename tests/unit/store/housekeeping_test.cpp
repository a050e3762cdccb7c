// Sweeping, pruning, counting; origins; statistics.

#include <signal.h>

#include <gmock/gmock.h>

#include "../../../src/store/host.hpp"
#include "../../../src/store/private_directory.hpp"
#include "dcuop/store/statistics.hpp"
#include "store_fixture.hpp"

namespace dcuop::store {
namespace {

using std::chrono::hours;
using ::testing::ElementsAre;
using ::testing::IsEmpty;

class HousekeepingTest : public StoreTest {
 protected:
  [[nodiscard]] fs::path make_private(const std::string& name) const {
    const fs::path path = root_ / "v1" / "tmp" / name;
    fs::create_directories(path);
    write(path / "op.o", "object");
    return path;
  }
  static std::string boot() { return this_boot().substr(0, 8); }
};

TEST_F(HousekeepingTest, private_names_are_taken_apart_from_the_right) {
  const std::optional<PrivateName> name = parse_private_name("gpu-07.local-0011aabb-4121-0123456789abcdef");
  ASSERT_TRUE(name.has_value());
  EXPECT_EQ(name->host, "gpu-07.local");
  EXPECT_EQ(name->boot, "0011aabb");
  for (const char* other : {"", "x", "a-b", "host-zz-1-2", "-1-2-3", "host-1-2-", "host-aa-x9-bb"}) {
    EXPECT_FALSE(parse_private_name(other).has_value()) << other;
  }
  const std::string kept = kept_name(Shelf::objects, key_of("k"), "gpu-07-0011aabb-4121-0123");
  ASSERT_TRUE(parse_kept_name(kept).has_value());
  EXPECT_EQ(parse_kept_name(kept)->key, key_of("k"));
  EXPECT_EQ(parse_kept_name(kept)->made_by.host, "gpu-07");
  EXPECT_FALSE(parse_kept_name(kept.substr(0, 40)).has_value());
  EXPECT_FALSE(parse_kept_name("gpu-07-0011aabb-4121-0123").has_value());
}

TEST_F(HousekeepingTest, a_sweep_takes_what_a_killed_process_left_and_no_more) {
  Store store = open();
  const PrivateDirectory alive = prepare(store, "mine");
  const pid_t killed = start_process([&] {
    const Store own = open();
    const PrivateDirectory directory = prepare(own, "theirs");
    kill(getpid(), SIGKILL);
    return 0;
  });
  EXPECT_EQ(wait_for(killed), 128 + SIGKILL);
  ASSERT_EQ(private_names().size(), 2U);

  const pid_t working = start_process([&] {
    const Store own = open();
    const PrivateDirectory directory = prepare(own, "at work");
    pause();
    return 0;
  });
  for (int i = 0; i < 500 && private_names().size() < 3; ++i) {
    usleep(10'000);
  }
  EXPECT_EQ(store.sweep_private_directories(), 1);
  EXPECT_EQ(private_names().size(), 2U);
  EXPECT_EQ(read_file(alive.path() / "op.so"), "mine");
  kill(working, SIGKILL);
  (void)wait_for(working);
  EXPECT_EQ(store.sweep_private_directories(), 1);
  EXPECT_THAT(private_names(), ElementsAre(alive.path().filename().string()));
}

TEST_F(HousekeepingTest, a_sweep_leaves_other_hosts_alone_and_waits_after_a_restart) {
  Store store = open();
  const fs::path foreign = make_private("elsewhere-00000000-77-aaaa");
  const fs::path restarted = make_private(this_host() + "-00000000-77-bbbb");
  const fs::path container = make_private("3f2a9c-" + boot() + "-77-cccc");
  const fs::path unknown = make_private("something");
  set_age(foreign, hours(24 * 400));
  set_age(unknown, hours(24 * 400));
  fs::create_directory(base_ / "precious");
  fs::create_directory_symlink(base_ / "precious", root_ / "v1" / "tmp" / ("h-" + boot() + "-77-dddd"));
  EXPECT_EQ(store.sweep_private_directories(), 1);
  EXPECT_FALSE(fs::exists(container)) << "same kernel, lock free: its owner is gone";
  EXPECT_TRUE(fs::exists(foreign));
  EXPECT_TRUE(fs::exists(restarted));
  EXPECT_TRUE(fs::exists(unknown));
  EXPECT_TRUE(fs::exists(base_ / "precious"));
  set_age(restarted, hours(25));
  EXPECT_EQ(store.sweep_private_directories(), 1);
  EXPECT_FALSE(fs::exists(restarted));
}

TEST_F(HousekeepingTest, a_kept_copy_is_swept_after_a_day_when_nobody_uses_it) {
  Store store = open();
  const std::string suffix = this_host() + "-" + boot() + "-77-eeee";
  const fs::path kept = make_private(kept_name(Shelf::entries, key_of("k"), suffix));
  EXPECT_EQ(store.sweep_private_directories(), 0);
  set_age(kept, hours(25));
  {
    const std::optional<FileLock> use = store.lock_for_use(key_of("k"));
    EXPECT_EQ(store.sweep_private_directories(), 0);
  }
  EXPECT_EQ(store.sweep_private_directories(), 1);
  EXPECT_FALSE(fs::exists(kept));
}

TEST_F(HousekeepingTest, removing_never_follows_a_link) {
  Store store = open();
  fs::create_directory(base_ / "precious");
  write(base_ / "precious" / "data", "mine");
  const Entry entry = publish(store, key_of("k"));
  fs::permissions(entry.directory, fs::perms(0755));
  fs::create_directory_symlink(base_ / "precious", entry.directory / "link");
  EXPECT_TRUE(store.remove(Shelf::entries, entry.key));
  EXPECT_FALSE(fs::exists(entry.directory));

  fs::create_directory_symlink(base_ / "precious", entry.directory);
  EXPECT_TRUE(store.remove(Shelf::entries, entry.key));
  EXPECT_FALSE(fs::exists(fs::symlink_status(entry.directory)));

  const fs::path shard = entry.directory.parent_path();
  fs::create_directory(base_ / "precious" / entry.key.hex());
  fs::remove(shard);
  fs::create_directory_symlink(base_ / "precious", shard);
  (void)store.remove(Shelf::entries, entry.key);
  EXPECT_TRUE(fs::exists(base_ / "precious" / entry.key.hex()));
  EXPECT_EQ(read_file(base_ / "precious" / "data"), "mine");
  EXPECT_THAT(private_names(), IsEmpty());
}

TEST_F(HousekeepingTest, usage_counts_what_is_there) {
  Store store = open();
  EXPECT_EQ(store.usage().entries, 0U);
  const Entry entry = publish(store, key_of("a"), "12345");
  (void)publish(store, key_of("b"), "12345", "op", Shelf::objects);
  (void)publish(store, key_of("c"), "12345", "op", Shelf::objects);
  store.add_record(key_of("r"), key_of("i"), {entry.key, "{}"});
  const Usage usage = store.usage();
  EXPECT_EQ(usage.entries, 1U);
  EXPECT_EQ(usage.objects, 2U);
  EXPECT_EQ(usage.index_records, 1U);
  EXPECT_EQ(usage.entry_bytes, entry.size + fs::file_size(entry.directory / "manifest.json"));
  EXPECT_GT(usage.object_bytes, usage.entry_bytes);
  EXPECT_GT(usage.other_bytes, 0U);
}

TEST_F(HousekeepingTest, results_go_with_their_entry) {
  Store store = open();
  const Entry stays = publish(store, key_of("stays"), "code", "affine");
  const Entry goes = publish(store, key_of("goes"), "code", "affine");
  const fs::path results = store.root() / "v1/verify/affine";
  const auto result_of = [&](const Digest& key) { return results / (key.hex() + ".json"); };
  fs::create_directories(results);
  const std::uint64_t before = store.usage().other_bytes;
  for (const Digest& key : {stays.key, goes.key, key_of("elsewhere")}) {
    write_file_atomic(result_of(key), "{}\n");
  }
  write_file_atomic(results / ".abc.tmp", "{");
  EXPECT_EQ(store.usage().other_bytes, before + 10);
  ASSERT_TRUE(store.remove(Shelf::entries, goes.key));
  EXPECT_FALSE(fs::exists(result_of(goes.key)));
  EXPECT_EQ(store.prune_leftovers(), 0U) << "of an entry that another cache may have, and being written";
  EXPECT_EQ(store.prune_leftovers(std::chrono::seconds(0)), 2U);
  EXPECT_THAT(list_directory(results), ElementsAre(stays.key.hex() + ".json"));
  ASSERT_TRUE(store.remove(Shelf::entries, stays.key));
  EXPECT_FALSE(fs::exists(results));
}

TEST_F(HousekeepingTest, pruning_takes_what_leads_nowhere) {
  Store store = open();
  const Entry stays = publish(store, key_of("stays"), "code", "affine");
  const Entry goes = publish(store, key_of("goes"), "code", "gone");
  for (const Entry& entry : {stays, goes}) {
    store.add_record(entry.key, key_of("i"), {entry.key, "{}"});
    store.record_origin(entry, base_);
    store.stamp_use(Shelf::entries, entry.key);
  }
  (void)store.record_failure(key_of("f"), {"m", "h", 1, {}, std::chrono::system_clock::now()}, "log");
  EXPECT_EQ(store.prune_leftovers(std::chrono::seconds(0)), 1U) << "the failure";
  ASSERT_TRUE(store.remove(Shelf::entries, goes.key));
  EXPECT_EQ(store.prune_leftovers(), 0U) << "it may be about to be published again";
  EXPECT_EQ(store.prune_leftovers(std::chrono::seconds(0)), 2U) << "its record and its origin";
  EXPECT_TRUE(store.records(goes.key).empty());
  EXPECT_THAT(store.origins_of("gone"), IsEmpty());
  EXPECT_EQ(store.records(stays.key).size(), 1U);
  EXPECT_THAT(store.origins(stays), ElementsAre(base_));
  EXPECT_TRUE(store.last_use(Shelf::entries, stays.key).has_value());
  EXPECT_EQ(store.prune_leftovers(std::chrono::seconds(0)), 0U);
}

TEST_F(HousekeepingTest, origins_lead_to_entries_and_back) {
  Store store = open();
  const Entry first = publish(store, key_of("1"), "code", "affine");
  const Entry second = publish(store, key_of("2"), "code", "affine");
  const Entry other = publish(store, key_of("3"), "code", "matmul");
  store.record_origin(first, "/home/a b");
  store.record_origin(first, "/home/a b");
  store.record_origin(second, "/home/a b");
  store.record_origin(first, "/elsewhere/ü");
  store.record_origin(other, "/home/a b");
  EXPECT_THAT(store.origins(first), ElementsAre("/elsewhere/ü", "/home/a b"));
  EXPECT_THAT(store.origins(second), ElementsAre("/home/a b"));
  EXPECT_THAT(store.origins_of("affine"), ElementsAre("/elsewhere/ü", "/home/a b"));

  store.stamp_use(Shelf::entries, first.key);
  store.stamp_use(Shelf::entries, second.key);
  set_age(root_ / "v1" / "use" / ("e" + first.key.hex()), hours(1));
  const auto keys_of = [&](const std::string& name, const fs::path& directory) {
    std::vector<Digest> keys;
    for (const Entry& entry : store.entries_of(name, directory)) {
      keys.push_back(entry.key);
    }
    return keys;
  };
  EXPECT_THAT(keys_of("affine", "/home/a b"), ElementsAre(second.key, first.key));
  EXPECT_THAT(keys_of("affine", ""), ElementsAre(second.key, first.key));
  EXPECT_THAT(keys_of("affine", "/elsewhere/ü"), ElementsAre(first.key));
  EXPECT_THAT(keys_of("affine", "/nowhere"), IsEmpty());
  EXPECT_THAT(keys_of("matmul", "/elsewhere/ü"), IsEmpty());
  ASSERT_TRUE(store.remove(Shelf::entries, second.key));
  EXPECT_THAT(keys_of("affine", ""), ElementsAre(first.key));

  for (const auto& item : fs::directory_iterator(root_ / "v1" / "origins" / "affine")) {
    write(item.path() / "path", "/somewhere/else");
  }
  EXPECT_THAT(store.origins(first), IsEmpty()) << "a damaged path is not believed";
  store.record_origin(publish(store, key_of("4"), "code", "affine"), "/home/a b");
  EXPECT_THAT(store.origins_of("affine"), ElementsAre("/home/a b")) << "and written again";
}

TEST_F(HousekeepingTest, a_name_that_is_no_file_name_records_nothing) {
  Store store = open();
  for (const char* name : {"../../escape", "", ".hidden", "a/b"}) {
    const Entry entry = publish(store, key_of(name), "code", name);
    store.record_origin(entry, base_);
    EXPECT_THAT(store.origins(entry), IsEmpty());
    EXPECT_THAT(store.entries_of(name, ""), IsEmpty());
  }
  EXPECT_FALSE(fs::exists(root_ / "escape"));
  EXPECT_FALSE(fs::exists(root_ / "v1" / "origins"));
}

TEST_F(HousekeepingTest, no_event_of_concurrent_processes_is_lost) {
  const Store store = open();
  constexpr int processes = 8;
  constexpr int events = 150;
  std::vector<pid_t> pids;
  for (int i = 0; i < processes; ++i) {
    pids.push_back(start_process([&] {
      const Store own = open();
      for (int event = 0; event < events; ++event) {
        record_event(own, Event::hit, std::chrono::milliseconds(3));
      }
      record_event(own, Event::built, std::chrono::milliseconds(0));
      record_event(own, Event::failed, std::chrono::milliseconds(-5));
      return 0;
    }));
  }
  for (const pid_t pid : pids) {
    EXPECT_EQ(wait_for(pid), 0);
  }
  const Totals all = totals(store);
  EXPECT_EQ(all.hits, std::uint64_t{processes * events});
  EXPECT_EQ(all.built, std::uint64_t{processes});
  EXPECT_EQ(all.failed, std::uint64_t{processes});
  EXPECT_EQ(all.saved, std::chrono::milliseconds(processes * events * 3));
}

TEST_F(HousekeepingTest, a_damaged_counter_counts_from_zero) {
  const Store store = open();
  record_event(store, Event::hit, std::chrono::milliseconds(7));
  ASSERT_EQ(totals(store).hits, 1U);
  const fs::path file = root_ / "v1" / "statistics" / ("counters-" + std::to_string(getpid() % 16));
  const std::string whole = read_file(file).value();
  for (const std::string& text :
       {whole.substr(1), std::string("9") + whole.substr(1), whole + "x", std::string()}) {
    write(file, text);
    EXPECT_EQ(totals(store).hits, 0U);
    record_event(store, Event::built, std::chrono::milliseconds(0));
    EXPECT_EQ(totals(store).built, 1U);
    EXPECT_EQ(read_file(file).value().size(), whole.size());
  }
}

TEST_F(HousekeepingTest, hits_that_were_recalled_count_before_and_after_they_are_folded) {
  Store store = open();
  record_event(store, Event::hit, std::chrono::milliseconds(7));
  write(answered_file(store), "100\n20\nnonsense\n3"); // the last was torn, and is a number all the same
  EXPECT_EQ(totals(store).hits, 4U);
  EXPECT_EQ(totals(store).saved, std::chrono::milliseconds(130));
  fold_answered(store);
  EXPECT_TRUE(fs::exists(answered_file(store))) << "too small to be worth it";

  std::string many;
  for (int i = 0; i < 300'000; ++i) {
    many += "1000\n";
  }
  write(answered_file(store), many);
  const Totals before = totals(store);
  EXPECT_EQ(before.hits, 300'001U);
  (void)store.prune_leftovers(std::chrono::hours(1));
  EXPECT_FALSE(fs::exists(answered_file(store)));
  EXPECT_EQ(totals(store).hits, before.hits);
  EXPECT_EQ(totals(store).saved, before.saved);
}

TEST_F(HousekeepingTest, placed_files_stay_while_an_entry_is_theirs) {
  Store store = open();
  const std::map<std::string, std::string> files = {{"main.cpp", "int f();"}, {"include/x.h", ""}};
  const fs::path place = store.place_files(files);
  EXPECT_EQ(read_file(place / "main.cpp"), "int f();");
  EXPECT_EQ(read_file(place / "include/x.h"), "");
  EXPECT_EQ(store.place_files(files), place);
  EXPECT_NE(store.place_files({{"main.cpp", "int g();"}}), place);
  fs::remove(place / "main.cpp");
  EXPECT_EQ(store.place_files(files), place);
  EXPECT_EQ(read_file(place / "main.cpp"), "int f();");

  const Entry entry = publish(store, key_of("ours"), "machine code", "affine");
  store.record_origin(entry, place, "{}");
  EXPECT_THAT(store.descriptions("affine", place), ElementsAre("{}"));
  store.record_origin(publish(store, key_of("same"), "same code", "affine"), place, "{}");
  store.record_origin(publish(store, key_of("other"), "other code", "affine"), place, "{1}");
  store.record_origin(publish(store, key_of("third"), "third code", "affine"), place);
  EXPECT_THAT(store.descriptions("affine", place), ElementsAre("{1}", "{}"));
  EXPECT_THAT(store.descriptions("affine", "/elsewhere"), IsEmpty());
  EXPECT_THAT(store.descriptions("../x", place), IsEmpty());
  EXPECT_EQ(store.prune_leftovers(std::chrono::seconds(0)), 1U) << "the other place alone";
  EXPECT_TRUE(fs::exists(place / "main.cpp"));
  for (const char* name : {"ours", "same", "other", "third"}) {
    EXPECT_TRUE(store.remove(Shelf::entries, key_of(name)));
  }
  (void)store.prune_leftovers(std::chrono::seconds(0));
  (void)store.prune_leftovers(std::chrono::seconds(0));
  EXPECT_FALSE(fs::exists(place));
  EXPECT_THAT(store.descriptions("affine", place), IsEmpty());
}

} // namespace
} // namespace dcuop::store
