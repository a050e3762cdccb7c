#include "store_fixture.hpp"

namespace dcuop::store {
namespace {

class IndexTest : public StoreTest {
 protected:
  [[nodiscard]] fs::path record_file(const std::string& request, const std::string& input_set) const {
    const std::string hex = key_of(request).hex();
    return root_ / "v1" / "index" / hex.substr(0, 2) / hex / (key_of(input_set).hex() + ".json");
  }
};

TEST_F(IndexTest, records_come_newest_first_as_they_were_added) {
  Store store = open();
  EXPECT_TRUE(store.records(key_of("r")).empty());
  store.add_record(key_of("r"), key_of("i1"), {key_of("k1"), R"({"inputs":[1]})"});
  store.add_record(key_of("r"), key_of("i2"), {key_of("k2"), R"({"inputs":[2]})"});
  store.add_record(key_of("other"), key_of("i3"), {key_of("k3"), "{}"});
  set_age(record_file("r", "i1"), std::chrono::minutes(2));
  set_age(record_file("r", "i2"), std::chrono::minutes(1));
  std::vector<IndexRecord> records = store.records(key_of("r"));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].key, key_of("k2"));
  EXPECT_EQ(records[0].input_set_json, R"({"inputs":[2]})");
  EXPECT_EQ(records[1].key, key_of("k1"));
  // Added again: asked for last.
  store.add_record(key_of("r"), key_of("i1"), {key_of("k1"), R"({"inputs":[1]})"});
  records = store.records(key_of("r"));
  ASSERT_EQ(records.size(), 2U);
  EXPECT_EQ(records[0].key, key_of("k1"));
}

TEST_F(IndexTest, find_record_stops_at_the_first_that_fits) {
  Store store = open();
  for (int i = 0; i < 4; ++i) {
    const std::string name = std::to_string(i);
    store.add_record(key_of("r"), key_of(name), {key_of("k" + name), "{\"n\":" + name + "}"});
    set_age(record_file("r", name), std::chrono::minutes(10 + i));
  }
  std::vector<std::string> seen;
  const std::optional<IndexRecord> found = store.find_record(key_of("r"), [&](const IndexRecord& record) {
    seen.push_back(record.input_set_json);
    return record.key == key_of("k1");
  });
  ASSERT_TRUE(found.has_value());
  EXPECT_EQ(found->input_set_json, R"({"n":1})");
  EXPECT_EQ(seen, (std::vector<std::string>{R"({"n":0})", R"({"n":1})"}));
  EXPECT_FALSE(store.find_record(key_of("r"), [](const IndexRecord&) { return false; }).has_value());
}

TEST_F(IndexTest, a_damaged_record_is_absent_and_the_others_are_not) {
  Store store = open();
  store.add_record(key_of("r"), key_of("good"), {key_of("k1"), R"({"good":true})"});
  store.add_record(key_of("r"), key_of("bad"), {key_of("k2"), R"({"inputs":["op.h"]})"});
  const fs::path file = record_file("r", "bad");
  const std::string whole = read_file(file).value();
  ASSERT_EQ(store.records(key_of("r")).size(), 2U);
  for (std::size_t at = 0; at < whole.size(); ++at) {
    std::string flipped = whole;
    flipped[at] = static_cast<char>(flipped[at] ^ (1 << (at % 7)));
    for (const std::string& text : {whole.substr(0, at), flipped}) {
      write(file, text);
      const std::vector<IndexRecord> records = store.records(key_of("r"));
      ASSERT_EQ(records.size(), 1U) << at;
      EXPECT_EQ(records[0].input_set_json, R"({"good":true})");
    }
  }
  // It is whole, but of another request.
  write(file, read_file(record_file("r", "good")).value());
  EXPECT_EQ(store.records(key_of("r")).size(), 1U);
  store.add_record(key_of("r"), key_of("bad"), {key_of("k2"), "{}"});
  EXPECT_EQ(store.records(key_of("r")).size(), 2U);
}

TEST_F(IndexTest, strange_names_are_not_records) {
  Store store = open();
  store.add_record(key_of("r"), key_of("i"), {key_of("k"), "{}"});
  const fs::path directory = record_file("r", "i").parent_path();
  write(directory / ".dcuop-tmp-1-2-3", "half");
  write(directory / "nothing.json", "{}");
  fs::create_directory(directory / (key_of("d").hex() + ".json"));
  fs::create_symlink(record_file("r", "i"), directory / (key_of("l").hex() + ".json"));
  EXPECT_EQ(store.records(key_of("r")).size(), 1U);
  EXPECT_EQ(store.usage().index_records, 1U);
}

TEST_F(IndexTest, a_large_input_set_is_read_within_a_millisecond_or_so) {
  Store store = open();
  std::string inputs = "[";
  while (inputs.size() < 500'000) {
    inputs +=
        R"({"path":"/usr/include/torch/ATen/ops/some_header.h","content":"0123456789abcdef0123456789abcdef"},)";
  }
  inputs.back() = ']';
  store.add_record(key_of("r"), key_of("i"), {key_of("k"), inputs});
  (void)publish(store, key_of("k"));
  constexpr int rounds = 20;
  const auto start = std::chrono::steady_clock::now();
  for (int i = 0; i < rounds; ++i) {
    ASSERT_EQ(store.records(key_of("r")).at(0).input_set_json.size(), inputs.size());
    ASSERT_TRUE(store.find(Shelf::entries, key_of("k")).has_value());
  }
  const std::chrono::duration<double, std::milli> each = (std::chrono::steady_clock::now() - start) / rounds;
  // Parsing it would take 20 ms; sanitizers and a busy machine are allowed for.
  EXPECT_LT(each.count(), 15.0);
  RecordProperty("milliseconds", std::to_string(each.count()));
}

} // namespace
} // namespace dcuop::store
