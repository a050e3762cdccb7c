// fill_cache ROOT COUNT OP DIRECTORY: makes a cache with COUNT valid entries, for bench/cache_scale.py.
//
// They go through Store as a build's do: an artifact of 16 KiB, components.json, inputs.json, an index record,
// an origin, a last-use stamp. One of a hundred is of OP in DIRECTORY; the others are of ops with 20 entries
// each, whose directories are gone. Last uses lie two hours back and earlier, one second apart.

#include <fcntl.h>
#include <sys/stat.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <ctime>
#include <string>

#include "dcuop/store/store.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"

// A million flushes to disk would take hours, and say nothing about a cache that is there.
extern "C" int fsync(int) {
  return 0;
}

namespace {

using dcuop::Digest;
namespace store = dcuop::store;
namespace fs = std::filesystem;

constexpr std::size_t artifact_size = 16 * 1024;
constexpr std::uint64_t entries_an_op = 20;
constexpr std::uint64_t share_of_the_op = 100;

void write(const fs::path& path, const std::string& content) {
  dcuop::write_file_atomic(path, content);
}

void set_last_use(const store::Store& store, const Digest& key, std::uint64_t number) {
  const fs::path stamp = store.root() / "v1" / "use" / (std::string("e").append(key.hex()));
  timespec time{};
  time.tv_sec = std::time(nullptr) - 7200 - static_cast<std::time_t>(number);
  const std::array<timespec, 2> times{time, time};
  (void)utimensat(AT_FDCWD, stamp.c_str(), times.data(), 0);
}

/// As large as a small op's: 30 files.
std::string some_inputs(std::uint64_t number) {
  std::string inputs = R"({"inputs":[)";
  for (int file = 0; file < 30; ++file) {
    inputs += R"({"path":"/usr/include/some/header)" + std::to_string(file) + R"(.h","content":")" +
              dcuop::digest_of(std::to_string(number)).hex() + R"("},)";
  }
  inputs.back() = ']';
  return inputs + "}";
}

void add(store::Store& store, std::uint64_t number, const std::string& op, const fs::path& directory) {
  const bool is_of_op = number % share_of_the_op == 0;
  std::string name = is_of_op ? op : "op";
  if (!is_of_op) {
    name += std::to_string(number / entries_an_op);
  }
  const std::string text = std::to_string(number);
  const Digest key = dcuop::digest_of("entry " + text);
  const Digest request = dcuop::digest_of("request " + text);
  store::PrivateDirectory place = store.private_directory();
  write(place.path() / (name + ".so"), std::string(artifact_size, static_cast<char>('a' + number % 26)));
  write(place.path() / "components.json", "[]");
  write(place.path() / "inputs.json", some_inputs(number));
  const std::string facts = R"({"arch":["gfx906"],"kind":"plain","request":")" + request.hex() + "\"}";
  const store::Entry entry =
      store.publish(store::Shelf::entries, std::move(place), {key, name, name + ".so", facts});
  store.add_record(request, dcuop::digest_of("inputs " + text), {key, some_inputs(number)});
  store.record_origin(entry, is_of_op ? directory : fs::path("/nonexistent/ops/" + name));
  store.stamp_use(store::Shelf::entries, key);
  set_last_use(store, key, number);
}

} // namespace

int main(int argc, char** argv) {
  if (argc != 5) {
    std::fputs("fill_cache ROOT COUNT OP DIRECTORY\n", stderr);
    return 2;
  }
  try {
    store::Store store = store::Store::open(argv[1]);
    const std::uint64_t count = std::stoull(argv[2]);
    for (std::uint64_t number = 0; number < count; ++number) {
      add(store, number, argv[3], argv[4]);
    }
    return 0;
  } catch (const std::exception& error) {
    std::fprintf(stderr, "fill_cache: %s\n", error.what());
    return 1;
  }
}
