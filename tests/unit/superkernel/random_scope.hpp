#pragma once
// Scopes by dice, and as text for messages.

#include <cstdint>
#include <random>
#include <string>

#include "dcuop/superkernel/scope.hpp"

namespace dcuop::superkernel {

class Dice {
 public:
  explicit Dice(std::uint64_t seed) : engine_(seed) {}
  std::uint32_t up_to(std::uint32_t most) { return static_cast<std::uint32_t>(engine_() % (most + 1ULL)); }
  bool one_in(std::uint32_t many) { return up_to(many - 1) == 0; }

 private:
  std::mt19937_64 engine_;
};

/// Small devices and few operators, so that every kind of mismatch is frequent.
[[nodiscard]] Scope random_scope(Dice& dice);
/// What it is made of, in one line an operator.
[[nodiscard]] std::string described(const Scope& scope);

} // namespace dcuop::superkernel
