#pragma once
// Which kernels a scope becomes and how many cores each is launched with: by laying operators out on cores, not by the
// formulas of launch.cpp.

#include <vector>

#include "dcuop/superkernel/simulate.hpp"
#include "machine.hpp"

namespace dcuop::superkernel {

struct Kernel {
  std::vector<std::size_t> operators;
  bool is_fused = true;
  Shape shape;
  std::uint32_t resident = 0; ///< blocks that the device has cores for
};

[[nodiscard]] std::vector<Kernel> kernels_of(const Scope& scope, const Options& options);

/// What an operator is launched for: cube cores, and vector cores by itself. A 1:2 operator's are two a block.
struct Layout {
  std::uint32_t cubes = 0, vectors = 0;
};
[[nodiscard]] Layout layout_of(const Scope& scope, const Operator& op, bool is_fused);

/// Starts blocks of two kernels one by one, in every order, until it finds a state in which neither gets on.
[[nodiscard]] std::vector<Clash> simulated_clashes(const Scope& scope, const std::vector<Kernel>& kernels);

} // namespace dcuop::superkernel
