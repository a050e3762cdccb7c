#include <algorithm>
#include <array>

#include "dcuop/probe/machine.hpp"

namespace dcuop::probe {

std::filesystem::path process_root(const Machine& machine) {
  if (!machine.is_saved) {
    return machine.root;
  }
  constexpr std::array signs = {"/lib64/ld-linux-x86-64.so.2", "/lib/ld-linux-aarch64.so.1",
                                "/lib/ld-musl-x86_64.so.1",    "/usr/bin/python3",
                                "/usr/local/bin/python3",      "/opt/conda/bin/python3",
                                "/opt/venv/bin/python3"};
  const bool has_user_space = std::ranges::any_of(
      signs, [&machine](const char* sign) { return identity_of(inside(machine.root, sign)).has_value(); });
  return has_user_space ? machine.root : "/";
}

} // namespace dcuop::probe
