#include "dcuop/store/eviction.hpp"

#include <gmock/gmock.h>

#include "store_fixture.hpp"

namespace dcuop::store {
namespace {

using std::chrono::hours;
using std::chrono::minutes;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

class EvictionTest : public StoreTest {
 protected:
  /// An entry of 1000 bytes, last used `age` ago.
  Entry make(const std::string& name, std::chrono::seconds age, const fs::path& origin = {},
             Shelf shelf = Shelf::entries) {
    const Digest key = key_of(name + origin.string());
    PrivateDirectory directory = store_.private_directory();
    write(directory.path() / "op.so", std::string(1000, 'x'));
    const std::string facts = shelf == Shelf::objects ? R"({"origin":")" + origin.string() + R"("})" : "{}";
    Entry entry = store_.publish(shelf, std::move(directory), {key, name, "op.so", facts});
    store_.stamp_use(shelf, key);
    set_age(root_ / "v1" / "use" / ((shelf == Shelf::entries ? "e" : "o") + key.hex()), age);
    if (!origin.empty() && shelf == Shelf::entries) {
      store_.record_origin(entry, origin);
    }
    return entry;
  }

  static std::vector<std::string> names(const std::vector<Candidate>& candidates) {
    std::vector<std::string> all;
    all.reserve(candidates.size());
    for (const Candidate& candidate : candidates) {
      all.push_back((candidate.shelf == Shelf::objects ? "object " : "") + candidate.entry.name);
    }
    return all;
  }

  Store store_ = open();
};

TEST_F(EvictionTest, nothing_is_selected_without_a_selection) {
  (void)make("a", hours(1000));
  EXPECT_TRUE(Selection{}.is_empty());
  EXPECT_THAT(select(store_, {}).remove, IsEmpty());
}

TEST_F(EvictionTest, all_is_everything_that_is_not_in_use_damaged_entries_too) {
  (void)make("a", hours(2));
  const Entry used = make("b", hours(1));
  (void)make("c", hours(3), base_, Shelf::objects);
  overwrite(make("d", hours(4)).directory / "manifest.json", "");
  const std::optional<FileLock> lock = store_.lock_for_use(used.key);
  Selection selection;
  selection.all = true;
  const EvictionPlan plan = select(store_, selection);
  EXPECT_THAT(names(plan.remove), ElementsAre("", "object c", "a"));
  EXPECT_EQ(plan.remove[0].reason, "damaged");
  EXPECT_THAT(names(plan.keep_in_use), ElementsAre("b"));
  EXPECT_EQ(store_.list(Shelf::entries).size(), 2U) << "selecting removes nothing";

  const EvictionPlan done = apply(store_, plan);
  EXPECT_EQ(done.remove.size(), 3U);
  EXPECT_THAT(names(done.keep_in_use), ElementsAre("b"));
  EXPECT_EQ(store_.list(Shelf::entries).size(), 1U);
  EXPECT_THAT(store_.list(Shelf::objects), IsEmpty());
  EXPECT_TRUE(store_.verify().empty());
}

TEST_F(EvictionTest, what_comes_into_use_after_the_plan_is_kept) {
  const Entry entry = make("a", hours(2));
  Selection selection;
  selection.all = true;
  const EvictionPlan plan = select(store_, selection);
  ASSERT_EQ(plan.remove.size(), 1U);
  const std::optional<FileLock> lock = store_.lock_for_use(entry.key);
  const EvictionPlan done = apply(store_, plan);
  EXPECT_THAT(done.remove, IsEmpty());
  EXPECT_THAT(names(done.keep_in_use), ElementsAre("a"));
  EXPECT_TRUE(store_.find(Shelf::entries, entry.key).has_value());
}

TEST_F(EvictionTest, targets_are_names_and_origins) {
  (void)make("a", hours(1), "/srv/one");
  (void)make("a", hours(2), "/srv/two");
  (void)make("b", hours(3), "/srv/one");
  (void)make("a", hours(4), "/srv/one", Shelf::objects);
  (void)make("nobodys", hours(5));
  const auto selected = [&](std::vector<Target> targets) {
    Selection selection;
    selection.targets = std::move(targets);
    std::vector<std::string> found;
    for (const Candidate& candidate : select(store_, selection).remove) {
      found.push_back(names({candidate})[0] + " " +
                      (candidate.origins.empty() ? "" : candidate.origins[0].string()));
    }
    return found;
  };
  EXPECT_THAT(selected({{"a", std::nullopt}}),
              UnorderedElementsAre("a /srv/one", "a /srv/two", "object a /srv/one"));
  EXPECT_THAT(selected({{std::nullopt, "/srv/one"}}),
              UnorderedElementsAre("a /srv/one", "b /srv/one", "object a /srv/one"));
  EXPECT_THAT(selected({{"a", "/srv/two"}}), ElementsAre("a /srv/two"));
  EXPECT_THAT(selected({{"b", "/srv/two"}, {"nobodys", std::nullopt}}), ElementsAre("nobodys "));
}

TEST_F(EvictionTest, stale_is_what_the_test_gives_a_reason_for) {
  fs::create_directory(base_ / "here");
  const Entry both = make("both", hours(1), base_ / "here");
  store_.record_origin(both, base_ / "gone");
  (void)make("gone", hours(1), base_ / "gone");
  (void)make("object", hours(1), base_ / "gone", Shelf::objects);
  (void)make("unknown", hours(1));
  Selection selection;
  selection.stale = [&](const Candidate& candidate) -> std::optional<std::string> {
    const bool only_gone = candidate.origins == std::vector<fs::path>{base_ / "gone"};
    return only_gone ? std::optional<std::string>("its origin is gone") : std::nullopt;
  };
  const EvictionPlan plan = select(store_, selection);
  EXPECT_THAT(names(plan.remove), UnorderedElementsAre("gone", "object object"));
  EXPECT_EQ(plan.remove[0].reason, "its origin is gone");

  selection.stale = [](const Candidate& candidate) -> std::optional<std::string> {
    return candidate.entry.name == "unknown" ? std::optional<std::string>("its torch is gone") : std::nullopt;
  };
  EXPECT_EQ(select(store_, selection).remove.at(0).reason, "its torch is gone");
}

TEST_F(EvictionTest, age_counts_from_the_last_use) {
  (void)make("old", hours(49));
  (void)make("young", hours(47));
  Selection selection;
  selection.older_than = hours(48);
  const EvictionPlan plan = select(store_, selection);
  EXPECT_THAT(names(plan.remove), ElementsAre("old"));
  EXPECT_EQ(plan.remove[0].reason, "last used 2 days ago");
  selection.targets = {{"young", std::nullopt}};
  EXPECT_THAT(select(store_, selection).remove, IsEmpty()) << "filters hold together";
}

TEST_F(EvictionTest, size_takes_the_least_recently_used_down_to_nine_tenths) {
  for (int i = 0; i < 10; ++i) {
    (void)make(std::to_string(i), hours(20 - i), base_, i % 2 == 0 ? Shelf::entries : Shelf::objects);
  }
  Selection selection;
  selection.max_size = 10'000;
  EXPECT_THAT(select(store_, selection).remove, IsEmpty());
  selection.max_size = 9'999; // down to 8999
  EXPECT_THAT(names(select(store_, selection).remove), ElementsAre("0", "object 1"));
  selection.max_size = 5'000; // down to 4500
  EXPECT_THAT(names(select(store_, selection).remove),
              ElementsAre("0", "object 1", "2", "object 3", "4", "object 5"));
  selection.max_size = 0;
  EXPECT_EQ(select(store_, selection).remove.size(), 10U);
}

TEST_F(EvictionTest, size_spares_what_is_in_use_or_was_just_used) {
  const Entry used = make("used", hours(9));
  (void)make("old", hours(8));
  (void)make("recent", minutes(30));
  const std::optional<FileLock> lock = store_.lock_for_use(used.key);
  Selection selection;
  selection.max_size = 0;
  selection.spared_age = hours(1);
  const EvictionPlan plan = select(store_, selection);
  EXPECT_THAT(names(plan.remove), ElementsAre("old"));
  EXPECT_THAT(names(plan.keep_in_use), ElementsAre("used"));
  EXPECT_EQ(size_of(plan.remove), 1000U);
  selection.spared_age = std::chrono::seconds(0);
  EXPECT_THAT(names(select(store_, selection).remove), ElementsAre("old", "recent"));
}

} // namespace
} // namespace dcuop::store
