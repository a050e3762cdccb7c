// Additions are lines of one length, appended with one write(2) each: no lock, and a reader that meets half of
// one leaves it out. A prune removes their file before it counts. What is published later than that is noted in
// a new file and may be counted as well: that makes the next prune come earlier, never later.

#include "dcuop/store/prune.hpp"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdio>
#include <string_view>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/lock.hpp"
#include "dcuop/support/log.hpp"
#include "layout.hpp"
#include "sealed.hpp"

namespace dcuop::store {

namespace {

using std::chrono::system_clock;

constexpr std::size_t digits = 20;
constexpr std::size_t line_length = digits + 1;
/// Additions after which a cache is counted that nobody counted yet.
constexpr std::uint64_t additions_before_first_count = 64;
/// Additions after which it is counted again, as what `clean` removes is not subtracted.
constexpr std::uint64_t additions_before_recount = 10'000;
constexpr std::chrono::minutes fruitless_pause{10};

fs::path additions_file(const Layout& layout) {
  return layout.statistics() / "additions";
}

fs::path count_file(const Layout& layout) {
  return layout.statistics() / "counted";
}

Digest place_of_count() {
  return Hasher().text("kind", "count").finish();
}

std::optional<std::uint64_t> number_in(std::string_view text) {
  std::uint64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  return error == std::errc{} && end == text.data() + text.size() ? std::optional(number) : std::nullopt;
}

void read_additions(const Layout& layout, Growth& growth) {
  const std::string text = read_file(additions_file(layout)).value_or("");
  std::string_view rest = text;
  while (!rest.empty()) {
    const std::string_view line = rest.substr(0, rest.find('\n'));
    rest.remove_prefix(std::min(rest.size(), line.size() + 1));
    if (const std::optional<std::uint64_t> bytes = number_in(line); bytes && line.size() == digits) {
      growth.added += *bytes;
      ++growth.additions;
    }
  }
}

void read_count(const Layout& layout, Growth& growth) {
  const std::optional<FileIdentity> identity = identity_of(count_file(layout));
  const std::string text = read_file(count_file(layout)).value_or("");
  const std::optional<std::string_view> payload = unseal(place_of_count(), text);
  if (identity && payload) {
    growth.counted = number_in(*payload);
    growth.counted_at = system_clock::time_point(
        std::chrono::duration_cast<system_clock::duration>(std::chrono::nanoseconds(identity->mtime_ns)));
  }
}

/// A prune that is killed leaves a cache that nobody counted.
void forget_count(const Layout& layout) {
  (void)unlink(count_file(layout).c_str());
  (void)unlink(additions_file(layout).c_str());
}

void write_count(const Layout& layout, std::uint64_t bytes) noexcept {
  try {
    make_directories(layout.statistics(), directory_mode);
    write_file_atomic(count_file(layout), seal(place_of_count(), std::to_string(bytes)));
  } catch (const std::exception& error) {
    log_debug(error.what());
  }
}

struct Turn {
  std::optional<FileLock> lock; ///< empty also where nothing can be locked: two prunes do no harm
  bool taken = false;           ///< by another process
};

Turn take_turn(const Layout& layout) noexcept {
  try {
    make_directories(layout.locks(), directory_mode);
    std::optional<FileLock> lock =
        FileLock::try_acquire(layout.locks() / "prune", 0, FileLock::Mode::exclusive);
    const bool taken = !lock;
    return {std::move(lock), taken};
  } catch (const std::exception& error) {
    log_debug(error.what());
    return {};
  }
}

} // namespace

void record_addition(const Store& store, std::uint64_t bytes) noexcept {
  if (store.read_only()) {
    return;
  }
  try {
    const Layout layout(store.root());
    make_directories(layout.statistics(), directory_mode);
    std::array<char, line_length + 1> line{};
    (void)std::snprintf(line.data(), line.size(), "%0*llu\n", static_cast<int>(digits),
                        static_cast<unsigned long long>(bytes));
    const int file =
        ::open(additions_file(layout).c_str(), O_WRONLY | O_CREAT | O_APPEND | O_CLOEXEC | O_NOFOLLOW,
               published_file_mode | 0200);
    if (file < 0 || ::write(file, line.data(), line_length) != static_cast<ssize_t>(line_length)) {
      log_debug("an addition was not noted in " + additions_file(layout).string());
    }
    if (file >= 0) {
      (void)::close(file);
    }
  } catch (const std::exception& error) {
    log_debug(error.what());
  }
}

Growth growth_of(const Store& store) noexcept {
  Growth growth;
  try {
    const Layout layout(store.root());
    read_count(layout, growth);
    read_additions(layout, growth);
  } catch (const std::exception& error) {
    log_debug(error.what());
  }
  return growth;
}

bool is_prune_due(const Growth& growth, std::uint64_t max_size, system_clock::time_point now) {
  if (!growth.counted) {
    return growth.additions >= additions_before_first_count;
  }
  if (growth.additions >= additions_before_recount) {
    return true;
  }
  if (*growth.counted + growth.added <= max_size) {
    return false;
  }
  const bool was_fruitless = *growth.counted > max_size;
  const bool is_recent = growth.counted_at <= now && now - growth.counted_at < fruitless_pause;
  return !was_fruitless || !is_recent || growth.added > max_size / 50;
}

bool is_being_pruned(const Store& store) noexcept {
  return take_turn(Layout(store.root())).taken;
}

Pruned prune(Store& store, std::uint64_t max_size) {
  const Layout layout(store.root());
  Pruned pruned;
  const Turn turn = take_turn(layout);
  if (turn.taken) {
    pruned.elsewhere = true;
    return pruned;
  }
  forget_count(layout);
  Selection selection;
  selection.max_size = max_size;
  selection.spared_age = std::chrono::hours(1);
  selection.bytes_besides = bytes_besides_shelves(layout);
  const EvictionPlan plan = select(store, selection);
  pruned.done = apply(store, plan);
  pruned.leftovers = store.prune_leftovers();
  const std::uint64_t removed = size_of(pruned.done.remove);
  pruned.bytes_left = plan.bytes - std::min(plan.bytes, removed);
  if (!store.read_only()) {
    write_count(layout, pruned.bytes_left);
  }
  return pruned;
}

} // namespace dcuop::store
