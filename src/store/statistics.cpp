// Sixteen counter files, each under its own lock, so that ranks that start together rarely meet. A file is
// one line of fixed length, written in place with a single pwrite(2): a kill leaves the old line or the new
// one, and no temporary file.

#include "dcuop/store/statistics.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <array>
#include <charconv>
#include <thread>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/log.hpp"
#include "dcuop/support/text.hpp"
#include "host.hpp"
#include "layout.hpp"

namespace dcuop::store {

namespace {

constexpr std::uint64_t slots = 16;
constexpr int patience = 500; // rounds of a millisecond; then the event is not counted
constexpr std::size_t number_width = 20;
constexpr std::size_t check_width = 16;
constexpr std::size_t line_length = 4 * (number_width + 1) + check_width + 1;

class Descriptor {
 public:
  explicit Descriptor(int number) : number_(number) {}
  ~Descriptor() {
    if (number_ >= 0) {
      (void)close(number_);
    }
  }
  Descriptor(const Descriptor&) = delete;
  Descriptor& operator=(const Descriptor&) = delete;
  [[nodiscard]] int number() const { return number_; }

 private:
  int number_;
};

fs::path counter_file(const Layout& layout, std::uint64_t slot) {
  return layout.statistics() / ("counters-" + std::to_string(slot));
}

std::string check_of(std::string_view numbers) {
  return digest_of(numbers).hex().substr(0, check_width);
}

std::string line_of(const Totals& totals) {
  std::string line;
  for (const std::uint64_t number :
       {totals.hits, totals.built, totals.failed, static_cast<std::uint64_t>(totals.saved.count())}) {
    const std::string digits = std::to_string(number);
    line += std::string(number_width - digits.size(), '0') + digits + ' ';
  }
  return line + check_of(line) + '\n';
}

Totals totals_from(std::string_view line) {
  if (line.size() != line_length) {
    return {};
  }
  const std::string_view numbers = line.substr(0, line_length - check_width - 1);
  if (line.substr(numbers.size(), check_width) != check_of(numbers)) {
    return {};
  }
  std::array<std::uint64_t, 4> values{};
  for (std::size_t i = 0; i < values.size(); ++i) {
    const char* const start = numbers.data() + i * (number_width + 1);
    if (std::from_chars(start, start + number_width, values.at(i)).ptr != start + number_width) {
      return {};
    }
  }
  return {values[0], values[1], values[2], std::chrono::milliseconds(static_cast<std::int64_t>(values[3]))};
}

Totals sum(const Totals& a, const Totals& b) {
  return {a.hits + b.hits, a.built + b.built, a.failed + b.failed, a.saved + b.saved};
}

Totals totals_of(Event event, std::chrono::milliseconds saved) {
  return {event == Event::hit ? 1U : 0U, event == Event::built ? 1U : 0U, event == Event::failed ? 1U : 0U,
          std::max(saved, std::chrono::milliseconds(0))};
}

void add_to(const fs::path& file, const Totals& more) {
  const Descriptor descriptor(::open(file.c_str(), O_RDWR | O_CREAT | O_CLOEXEC | O_NOFOLLOW, 0644));
  std::array<char, line_length + 1> buffer{};
  const ssize_t length = pread(descriptor.number(), buffer.data(), buffer.size(), 0);
  if (length < 0) {
    return;
  }
  const std::string line = line_of(sum(totals_from({buffer.data(), static_cast<std::size_t>(length)}), more));
  if (pwrite(descriptor.number(), line.data(), line.size(), 0) != static_cast<ssize_t>(line.size()) ||
      (length > static_cast<ssize_t>(line.size()) &&
       ftruncate(descriptor.number(), static_cast<off_t>(line.size())) != 0)) {
    log_debug("statistics were not written: " + file.string());
  }
}

/// A line a hit; what is no number is a line that was torn.
Totals answered_in(const fs::path& file) {
  Totals all;
  for (const std::string& line : split(read_file(file).value_or(""), '\n')) {
    std::int64_t saved = 0;
    if (std::from_chars(line.data(), line.data() + line.size(), saved).ptr == line.data() + line.size()) {
      all = sum(all, totals_of(Event::hit, std::chrono::milliseconds(saved)));
    }
  }
  return all;
}

} // namespace

void record_event(const Store& store, Event event, std::chrono::milliseconds saved) noexcept {
  if (store.read_only()) {
    return;
  }
  try {
    const Layout layout(store.root());
    make_directories(layout.statistics(), directory_mode);
    const auto first = static_cast<std::uint64_t>(getpid()) % slots;
    for (int round = 0; round < patience; ++round) {
      for (std::uint64_t i = 0; i < slots; ++i) {
        const std::uint64_t slot = (first + i) % slots;
        const std::optional<FileLock> lock =
            FileLock::try_acquire(layout.statistics() / "lock", slot, FileLock::Mode::exclusive);
        if (lock) {
          add_to(counter_file(layout, slot), totals_of(event, saved));
          return;
        }
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
  } catch (const std::exception& error) {
    log_debug(error.what());
  }
}

fs::path answered_file(const Store& store) {
  return Layout(store.root()).statistics() / "answered";
}

void fold_answered(const Store& store) {
  constexpr std::uintmax_t worth_it = std::uintmax_t{1} << 20U;
  const fs::path file = answered_file(store);
  const std::optional<FileIdentity> there = identity_of(file);
  if (!there || there->size < worth_it) {
    return;
  }
  const std::optional<FileLock> lock =
      FileLock::try_acquire(Layout(store.root()).statistics() / "lock", 0, FileLock::Mode::exclusive);
  if (!lock) {
    return;
  }
  fs::path taken = file;
  taken += "-" + random_name();
  std::error_code error;
  fs::rename(file, taken, error);
  if (!error) {
    add_to(counter_file(Layout(store.root()), 0), answered_in(taken));
    fs::remove(taken, error);
  }
}

Totals totals(const Store& store) {
  const Layout layout(store.root());
  Totals all = answered_in(answered_file(store));
  for (std::uint64_t slot = 0; slot < slots; ++slot) {
    all = sum(all, totals_from(read_file(counter_file(layout, slot)).value_or("")));
  }
  return all;
}

} // namespace dcuop::store
