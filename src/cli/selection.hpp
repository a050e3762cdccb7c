#pragma once
// What build, key and explain share: the ops that were named, the facts, and their requests.

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "dcuop/key/request.hpp"

namespace dcuop::cli {

struct Selection {
  std::vector<std::string> ops;    ///< as given
  std::optional<std::string> from; ///< a description or a Python file instead of them
  std::vector<std::string> archs;  ///< --arch, split at commas
  std::string backend;             ///< --backend; empty: as configured
};

/// Adds OP..., --backend and --arch.
void add_selection(const Subcommand& subcommand, Selection& selection);

/// `given` (--backend), else DCUOP_BACKEND, the user's configuration, hip. Throws Error(usage).
[[nodiscard]] op::Backend backend_of(const Context& context, const std::string& given);

/// The ops, what they are built for, and one request each, in the ops' order.
struct Prepared {
  std::vector<op::Op> ops;
  key::Facts facts;
  std::vector<key::Request> requests;
};
[[nodiscard]] Prepared prepare(Context& context, const Selection& selection);

/// What is built for, and who says so; empty without device code.
[[nodiscard]] probe::ArchSelection archs_of(const Prepared& prepared);

/// "arch gfx906 (--arch) · hipcc 5.2.21153 · torch 1.13.0a0 cpu (/usr/bin/python3)", with "backend host" before it for
/// what is not HIP's.
[[nodiscard]] std::string facts_line(const Prepared& prepared, const Environment& environment);

} // namespace dcuop::cli
