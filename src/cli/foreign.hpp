#pragma once
// dcuop new --from-cuda: a manifest for an extension that another build system knows.

#include <string>
#include <vector>

#include "command.hpp"

namespace dcuop::cli {

struct ForeignRequest {
  std::string directory; ///< as given
  std::string name;      ///< empty: as setup.py calls it
  std::vector<std::string> archs;
  bool write = false;
};

[[nodiscard]] ExitCode propose_manifest(const ForeignRequest& request, Context& context);

} // namespace dcuop::cli
