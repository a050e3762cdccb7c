// An entry is served only when it is what was published.

#include "../../../src/store/entry.hpp"
#include "../../../src/store/sealed.hpp"
#include "store_fixture.hpp"

namespace dcuop::store {
namespace {

using EntryTest = StoreTest;

TEST_F(EntryTest, what_was_published_is_found) {
  Store store = open();
  const Entry made = publish(store, key_of("k"), "machine code", "affine");
  const std::optional<Entry> found = store.find(Shelf::entries, key_of("k"));
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->key, key_of("k"));
  EXPECT_EQ(found->name, "affine");
  EXPECT_EQ(found->artifact, "op.so");
  EXPECT_EQ(found->artifact_path(), made.artifact_path());
  EXPECT_EQ(read_file(found->artifact_path()), "machine code");
  EXPECT_EQ(found->size, std::string("machine code").size() + std::string("built\n").size());
  EXPECT_EQ(found->facts_json, R"({"arch":["gfx906"]})");
  EXPECT_EQ(found->built, made.built);
  EXPECT_LT(std::chrono::system_clock::now() - found->built, std::chrono::minutes(1));
  EXPECT_EQ(found->directory, root_ / "v1" / "entries" / key_of("k").hex().substr(0, 2) / key_of("k").hex());
  EXPECT_TRUE(private_names().empty());
}

TEST_F(EntryTest, shelves_and_keys_are_apart) {
  Store store = open();
  (void)publish(store, key_of("k"));
  EXPECT_FALSE(store.find(Shelf::objects, key_of("k")).has_value());
  EXPECT_FALSE(store.find(Shelf::entries, key_of("other")).has_value());
}

TEST_F(EntryTest, an_entry_under_another_key_or_shelf_is_not_taken_for_its_own) {
  Store store = open();
  const Entry made = publish(store, key_of("k"));
  const std::string other = key_of("other").hex();
  fs::create_directories(root_ / "v1" / "entries" / other.substr(0, 2));
  fs::copy(made.directory, root_ / "v1" / "entries" / other.substr(0, 2) / other,
           fs::copy_options::recursive);
  EXPECT_FALSE(store.find(Shelf::entries, key_of("other")).has_value());
  const std::string own = key_of("k").hex();
  fs::create_directories(root_ / "v1" / "objects" / own.substr(0, 2));
  fs::copy(made.directory, root_ / "v1" / "objects" / own.substr(0, 2) / own, fs::copy_options::recursive);
  EXPECT_FALSE(store.find(Shelf::objects, key_of("k")).has_value());
}

TEST_F(EntryTest, a_truncated_manifest_or_file_is_a_miss_at_every_length) {
  Store store = open();
  const Entry made = publish(store, key_of("k"));
  for (const fs::path& file :
       {made.directory / "manifest.json", made.artifact_path(), made.directory / "build.log"}) {
    const std::string whole = read_file(file).value();
    for (std::size_t length = 0; length < whole.size(); ++length) {
      overwrite(file, whole.substr(0, length));
      EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value()) << file << " " << length;
    }
    overwrite(file, whole + " ");
    EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value()) << file;
    overwrite(file, whole);
    EXPECT_TRUE(store.find(Shelf::entries, key_of("k")).has_value()) << file;
  }
}

TEST_F(EntryTest, a_flipped_bit_is_a_miss_wherever_it_is) {
  Store store = open();
  const Entry made = publish(store, key_of("k"));
  for (const fs::path& file :
       {made.directory / "manifest.json", made.artifact_path(), made.directory / "build.log"}) {
    const std::string whole = read_file(file).value();
    for (std::size_t at = 0; at < whole.size(); ++at) {
      std::string flipped = whole;
      flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 8)));
      overwrite(file, flipped);
      EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value()) << file << " " << at;
    }
    overwrite(file, whole);
  }
  EXPECT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());
}

TEST_F(EntryTest, a_verified_entry_that_is_touched_is_read_again) {
  Store store = open();
  const Entry made = publish(store, key_of("k"));
  // Nothing is vouched for within two seconds of its last change.
  (void)store.find(Shelf::entries, key_of("k"));
  const fs::path memo = store.memo_directory() / "verified" / ("e" + key_of("k").hex());
  EXPECT_FALSE(fs::exists(memo));
  sleep(2);
  usleep(100'000);
  ASSERT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());
  ASSERT_TRUE(fs::exists(memo));
  ASSERT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());

  // Same size, old mtime: ctime alone tells.
  const auto modified = fs::last_write_time(made.artifact_path());
  overwrite(made.artifact_path(), "machine cod3");
  fs::last_write_time(made.artifact_path(), modified);
  EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value());
  overwrite(made.artifact_path(), "machine code");
  EXPECT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());

  for (const std::string& text : {std::string(), std::string("garbage"), std::string(70, 'f')}) {
    write(memo, text);
    EXPECT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());
  }
  fs::remove_all(store.memo_directory());
  EXPECT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());
}

TEST_F(EntryTest, missing_files_and_links_are_misses) {
  Store store = open();
  const Entry made = publish(store, key_of("k"));
  const std::string code = read_file(made.artifact_path()).value();
  fs::remove(made.artifact_path());
  EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value());
  write(base_ / "elsewhere.so", code);
  fs::create_symlink(base_ / "elsewhere.so", made.artifact_path());
  EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value());
}

TEST_F(EntryTest, an_entry_or_shard_behind_a_link_is_a_miss) {
  Store store = open();
  const Entry made = publish(store, key_of("k"));
  const fs::path shard = made.directory.parent_path();
  fs::rename(made.directory, base_ / "moved");
  fs::create_directory_symlink(base_ / "moved", made.directory);
  EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value());
  fs::remove(made.directory);
  fs::rename(base_ / "moved", made.directory);
  ASSERT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());
  fs::rename(shard, base_ / "shard");
  fs::create_directory_symlink(base_ / "shard", shard);
  EXPECT_FALSE(store.find(Shelf::entries, key_of("k")).has_value());
  EXPECT_TRUE(store.list(Shelf::entries).empty());
}

TEST_F(EntryTest, list_reads_manifests_and_skips_what_it_cannot_read) {
  Store store = open();
  (void)publish(store, key_of("a"), "one", "first");
  (void)publish(store, key_of("b"), "two", "second");
  const Entry damaged = publish(store, key_of("c"));
  overwrite(damaged.directory / "manifest.json", "{}");
  write(root_ / "v1" / "entries" / "stray", "");
  std::vector<std::string> names;
  for (const Entry& entry : store.list(Shelf::entries)) {
    names.push_back(entry.name);
  }
  std::sort(names.begin(), names.end());
  EXPECT_EQ(names, (std::vector<std::string>{"first", "second"}));
  EXPECT_TRUE(store.list(Shelf::objects).empty());
}

TEST_F(EntryTest, a_manifest_that_cannot_be_written_again_is_none) {
  const auto read = [this](const std::string& facts, const std::string& built) {
    const Digest place =
        Hasher().text("kind", "manifest").number("shelf", 0).digest("key", key_of("k")).finish();
    write(base_ / "manifest.json",
          seal(place, R"({"name":"op","artifact":"a","built":)" + built +
                          R"(,"files":[{"path":"a","size":1,"sha256":""}],"facts":)" + facts + "}"));
    return read_manifest(base_, Shelf::entries, key_of("k"));
  };
  const auto nested = [](std::size_t depth) {
    std::string facts;
    for (std::size_t i = 0; i < depth; ++i) {
      facts += R"({"a":)";
    }
    return facts + "1" + std::string(depth, '}');
  };
  ASSERT_TRUE(read(nested(50), "1").has_value());
  EXPECT_EQ(read(nested(50), "1")->facts_json, nested(50));
  EXPECT_FALSE(read(nested(100'000), "1").has_value()) << "writing it again would overflow the stack";

  // The clock counts nanoseconds.
  ASSERT_TRUE(read("{}", "9223372036854775807").has_value());
  EXPECT_GT(read("{}", "9223372036854775807")->built, std::chrono::system_clock::now());
  EXPECT_FALSE(read("{}", "-1").has_value());
  EXPECT_FALSE(read("{}", "1e300").has_value());
}

TEST_F(EntryTest, verify_names_each_damage_and_nothing_else) {
  Store store = open();
  (void)publish(store, key_of("good"));
  const Entry flipped = publish(store, key_of("flipped"));
  const Entry shortened = publish(store, key_of("short"), "machine code", "op", Shelf::objects);
  const Entry extended = publish(store, key_of("more"));
  store.add_record(key_of("r"), key_of("i"), {key_of("good"), "{}"});
  EXPECT_TRUE(store.verify().empty());

  overwrite(flipped.artifact_path(), "machine cod3");
  overwrite(shortened.artifact_path(), "mach");
  write(extended.directory / "extra", "");
  const fs::path record = root_ / "v1" / "index" / key_of("r").hex().substr(0, 2) / key_of("r").hex() /
                          (key_of("i").hex() + ".json");
  write(record, read_file(record).value().substr(1));
  std::map<fs::path, std::string> found;
  for (const Damage& damage : store.verify()) {
    found[damage.path] = damage.what;
  }
  EXPECT_EQ(found.size(), 4U);
  EXPECT_EQ(found[flipped.directory], "op.so: its content is not what was published (SHA-256 differs)");
  EXPECT_EQ(found[shortened.directory], "op.so: 4 of 12 bytes");
  EXPECT_EQ(found[extended.directory], "extra is not in its manifest");
  EXPECT_EQ(found[record], "damaged index record");
}

TEST(SealedTest, any_change_of_text_or_place_is_seen) {
  const Digest place = digest_of("here");
  const std::string text = seal(place, R"({"a":1})");
  EXPECT_EQ(unseal(place, text), R"({"a":1})");
  EXPECT_EQ(text.substr(sealed_payload_offset(), 7), R"({"a":1})");
  EXPECT_FALSE(unseal(digest_of("there"), text).has_value());
  for (std::size_t at = 0; at < text.size(); ++at) {
    std::string changed = text;
    changed[at] = static_cast<char>(changed[at] ^ 4);
    EXPECT_FALSE(unseal(place, changed).has_value()) << at;
    EXPECT_FALSE(unseal(place, text.substr(0, at)).has_value()) << at;
  }
  EXPECT_FALSE(unseal(place, text + "\n").has_value());
  EXPECT_EQ(unseal(place, seal(place, "")), "");
}

} // namespace
} // namespace dcuop::store
