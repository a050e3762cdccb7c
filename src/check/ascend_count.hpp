#pragma once
// How often each core comes to something: the same on every path, or not.

#include <functional>
#include <map>
#include <optional>
#include <string>

#include "ascend_program.hpp"

namespace dcuop::check::ascend {

/// `least` times, and for each loop as often as it goes round.
struct Count {
  static constexpr int no_bound = 1 << 20;
  int least = 0, most = 0;
  std::map<std::string, int> loops; ///< a loop's trips -> times; counted in when is_exact
  bool is_exact = true;
  const Event* first = nullptr;

  [[nodiscard]] bool is_none() const { return most == 0; }
  [[nodiscard]] bool is_number() const { return is_exact && loops.empty(); }
};

[[nodiscard]] bool same(const Count& a, const Count& b);
/// No path of one counts what a path of the other does.
[[nodiscard]] bool never_equal(const Count& a, const Count& b);

/// Where paths part and the counts with them.
struct Split {
  const Condition* condition = nullptr;
  Count yes, no;         ///< to the end of the function when a path leaves it
  bool is_loop = false;  ///< the condition is that of a loop, and `yes` one round
  std::size_t loops = 0; ///< that are around
};

class Counter {
 public:
  using Wanted = std::function<bool(const Event&)>;
  using Report = std::function<void(const Split&)>;
  Counter(Program& program, Sides side, Wanted wanted, Report report)
      : program_(program), side_(side), wanted_(std::move(wanted)), report_(std::move(report)) {}

  [[nodiscard]] Count of(const Function& function);

 private:
  struct Rest {
    const Steps* steps = nullptr;
    std::size_t next = 0;
    const Rest* outer = nullptr;
  };
  [[nodiscard]] Count from(const Steps& steps, std::size_t index, const Rest* rest);
  [[nodiscard]] std::optional<Count> from_label(const std::string& label, const Steps& steps,
                                                std::size_t index, const Rest* rest);
  [[nodiscard]] Count of_call(const Step& step);
  [[nodiscard]] Count of_loop(const Step& step);
  [[nodiscard]] Count merged(const Condition& condition, const Count& yes, const Count& no);

  Program& program_;
  Sides side_;
  Wanted wanted_;
  Report report_;
  std::map<const Function*, Count> known_;
  std::size_t loops_ = 0, calls_ = 0;
  std::size_t steps_left_ = 100'000;
};

} // namespace dcuop::check::ascend
