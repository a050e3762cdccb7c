// The cache's records: manifest, index record, failure, holder of a build lock. The input is what is sealed in
// each; the seal is made for it.

#include "../../src/store/entry.hpp"
#include "../../src/store/index.hpp"
#include "../../src/store/layout.hpp"
#include "../../src/store/sealed.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/environment.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/temporary_directory.hpp"

#include "fuzz.hpp"

namespace {

using namespace dcuop;
using namespace dcuop::store;

const Digest key = digest_of("key");

// As entry.cpp, index.cpp and failures.cpp make them.
Digest place_of_manifest() {
  return Hasher().text("kind", "manifest").number("shelf", 0).digest("key", key).finish();
}
Digest place_of_record() {
  return Hasher().text("kind", "record").digest("request", key).digest("input set", key).finish();
}
Digest place_of_failure() {
  return Hasher().text("kind", "failure").digest("request", key).finish();
}

/// A cache whose files are all the input.
class Cache {
 public:
  Cache()
      : directory_(Environment()), store_(Store::open(directory_.path() / "cache")), layout_(store_.root()) {
    link(entry() / manifest_name, manifest_);
    link(layout_.record(key, key), record_);
    link(layout_.failure(key) / "error.json", failure_);
    link(layout_.holder(key), holder_);
    check_places();
  }

  void read(std::string_view payload) const {
    manifest_.write(seal(place_of_manifest(), payload));
    record_.write(seal(place_of_record(), payload));
    failure_.write(seal(place_of_failure(), payload));
    holder_.write(payload);
    if (const auto manifest = read_manifest(entry(), Shelf::entries, key)) {
      read_again(*manifest);
    }
    static_cast<void>(read_record(layout_, key, key));
    static_cast<void>(read_record_key(layout_, key, key));
    static_cast<void>(store_.last_failure(key));
    static_cast<void>(store_.build_holder(key));
  }

 private:
  [[nodiscard]] std::filesystem::path entry() const { return layout_.entry(Shelf::entries, key); }

  static void link(const std::filesystem::path& name, const fuzz::InputFile& file) {
    std::filesystem::create_directories(name.parent_path());
    std::filesystem::create_symlink(file.path(), name);
  }

  /// Else the readers would refuse every seal, and nothing would be tested.
  void check_places() {
    manifest_.write(manifest_text(Shelf::entries, key, {"op", "op.so", "{}", {}, {{"op.so", 0, ""}}}));
    fuzz::require(read_manifest(entry(), Shelf::entries, key).has_value(), "a manifest is read");
    const std::string record = R"({"key":")" + key.hex() + R"(","input_set":{}})";
    record_.write(seal(place_of_record(), record));
    fuzz::require(read_record(layout_, key, key).has_value(), "an index record is read");
    failure_.write(seal(place_of_failure(), R"({"message":"m","hint":"","exit_code":1,"when":1})"));
    fuzz::require(store_.last_failure(key).has_value(), "a failure is read");
  }

  void read_again(const Manifest& manifest) const {
    manifest_.write(manifest_text(Shelf::entries, key, manifest));
    const auto again = read_manifest(entry(), Shelf::entries, key);
    fuzz::require(again && again->facts_json == manifest.facts_json && again->built == manifest.built,
                  "what is written again is the same");
    static_cast<void>(entry_from(key, entry(), manifest));
  }

  TemporaryDirectory directory_;
  Store store_;
  Layout layout_;
  fuzz::InputFile manifest_, record_, failure_, holder_;
};

} // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  static const Cache cache;
  cache.read(fuzz::text_of(data, size));
  return 0;
}
