// Every reader with its seeds, the seeds cut short, and what a fixed dice makes of them: what libFuzzer does, without
// its search, in seconds. An input that crashes, needs much more memory than it has bytes, or takes long, fails.

#include <algorithm>
#include <cstdint>
#include <ctime>
#include <fstream>
#include <iterator>
#include <random>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/resource.h>

#include "dcuop/support/files.hpp"

#define READER(name) extern "C" int name##_fuzz(const std::uint8_t* data, std::size_t size);
#include "readers.def"
#undef READER

/// AddressSanitizer asks for it: a reader that believes a size of the file ends here.
extern "C" const char* __asan_default_options();
extern "C" const char* __asan_default_options() {
  return "max_allocation_size_mb=200:allocator_may_return_null=0";
}

namespace dcuop {

namespace {

/// The same without it, whose own memory is terabytes of addresses.
class AddressLimit : public ::testing::Environment {
 public:
  void SetUp() override {
#ifndef __SANITIZE_ADDRESS__
    const rlimit limit{std::size_t{512} << 20, std::size_t{512} << 20};
    ASSERT_EQ(::setrlimit(RLIMIT_AS, &limit), 0);
#endif
  }
};

const auto* const address_limit = ::testing::AddGlobalTestEnvironment(new AddressLimit);

constexpr int mutations = 1500;
constexpr std::size_t cuts = 64; ///< of a seed
constexpr std::size_t longest = 8192;
constexpr double most_seconds = 2; // of CPU, unoptimised and sanitized, for an input of a few KiB

struct Reader {
  std::string name;
  int (*read)(const std::uint8_t* data, std::size_t size);
};

void PrintTo(const Reader& reader, std::ostream* out) {
  *out << reader.name;
}

std::vector<Reader> readers() {
  return {
#define READER(name) {#name, name##_fuzz},
#include "readers.def"
#undef READER
  };
}

double cpu_seconds() {
  timespec now{};
  ::clock_gettime(CLOCK_THREAD_CPUTIME_ID, &now);
  return static_cast<double>(now.tv_sec) + static_cast<double>(now.tv_nsec) * 1e-9;
}

/// mt19937 gives the same numbers everywhere; the standard's distributions do not.
class Dice {
 public:
  std::size_t below(std::size_t count) { return count == 0 ? 0 : numbers_() % count; }
  char byte() { return static_cast<char>(numbers_()); }

 private:
  std::mt19937 numbers_{20240229};
};

/// Numbers that sizes and offsets go wrong with, in two to eight bytes.
void put_number(std::string& bytes, std::size_t at, Dice& dice) {
  constexpr std::uint64_t numbers[] = {0,
                                       1,
                                       0x7f,
                                       0x80,
                                       0xff,
                                       0x7fff,
                                       0x8000,
                                       0xffff,
                                       0x7fffffff,
                                       0x80000000,
                                       0xffffffff,
                                       0x7fffffffffffffff,
                                       0xffffffffffffffff};
  std::uint64_t number = numbers[dice.below(std::size(numbers))];
  const std::size_t width = std::size_t{2} << dice.below(3);
  for (std::size_t i = 0; i < width && at + i < bytes.size(); ++i, number >>= 8U) {
    bytes[at + i] = static_cast<char>(number);
  }
}

void mutate(std::string& bytes, const std::string& other, Dice& dice) {
  const std::size_t at = dice.below(bytes.size() + 1);
  const std::size_t length = dice.below(std::min<std::size_t>(bytes.size() - at, 64) + 1);
  switch (dice.below(7)) {
  case 0:
    if (at < bytes.size()) {
      bytes[at] = static_cast<char>(static_cast<unsigned char>(bytes[at]) ^ (1U << dice.below(8)));
    }
    break;
  case 1:
    if (at < bytes.size()) {
      bytes[at] = dice.byte();
    }
    break;
  case 2:
    put_number(bytes, at, dice);
    break;
  case 3:
    bytes.erase(at, length);
    break;
  case 4:
    bytes.insert(dice.below(bytes.size() + 1), bytes.substr(at, length));
    break;
  case 5: {
    const std::size_t from = dice.below(other.size() + 1);
    bytes.insert(at, other.substr(from, dice.below(256)));
    break;
  }
  default:
    bytes.insert(at, std::string(1 + dice.below(4), dice.byte()));
    break;
  }
  bytes.resize(std::min(bytes.size(), longest));
}

class Replay : public ::testing::TestWithParam<Reader> {
 protected:
  void read(const std::string& bytes, const std::string& what) const {
    const double start = cpu_seconds();
    GetParam().read(reinterpret_cast<const std::uint8_t*>(bytes.data()), bytes.size());
    EXPECT_LT(cpu_seconds() - start, most_seconds) << what;
  }

  static std::vector<std::pair<std::string, std::string>> seeds() {
    const fs::path directory = fs::path(DCUOP_SOURCE_DIR) / "tests/fuzz/seeds" / GetParam().name;
    std::vector<std::pair<std::string, std::string>> seeds;
    for (const std::string& name : list_directory(directory)) {
      seeds.emplace_back(name, read_file(directory / name).value_or(""));
    }
    return seeds;
  }
};

TEST_P(Replay, reads_its_seeds_and_what_they_become) {
  const auto all = seeds();
  ASSERT_FALSE(all.empty());
  read("", "nothing");
  for (const auto& [name, bytes] : all) {
    read(bytes, name);
    const std::size_t step = std::max<std::size_t>(bytes.size() / cuts, 1);
    for (std::size_t size = 0; size < bytes.size(); size += step) {
      read(bytes.substr(0, size), name + " cut to " + std::to_string(size));
    }
  }
  Dice dice;
  for (int i = 0; i < mutations && !HasFailure(); ++i) {
    const auto& [name, seed] = all[dice.below(all.size())];
    std::string bytes = seed;
    for (std::size_t times = 1 + dice.below(6); times > 0; --times) {
      mutate(bytes, all[dice.below(all.size())].second, dice);
    }
    read(bytes, name + ", mutation " + std::to_string(i));
  }
}

INSTANTIATE_TEST_SUITE_P(Readers, Replay, ::testing::ValuesIn(readers()),
                         [](const auto& reader) { return reader.param.name; });

} // namespace

} // namespace dcuop
