#pragma once
// Where something is built: in the cache, so that publishing is a rename; elsewhere when the cache cannot be written.

#include <string>

#include "dcuop/build/build.hpp"

namespace dcuop::build {

struct Workplace {
  store::PrivateDirectory directory;
  std::string problem; ///< why what is made here cannot be published; empty: it can
};

[[nodiscard]] Workplace make_workplace(const Workshop& workshop);

} // namespace dcuop::build
