#pragma once
// --root and --rocminfo: another machine's files in the place of this one's.

#include <optional>
#include <string>

#include "command.hpp"

#include "dcuop/probe/devices.hpp"

namespace dcuop::cli {

struct SavedMachine {
  std::optional<std::string> root, rocminfo; ///< as given
};

/// Adds both options to a subcommand; `into` must live as long.
void add_saved_machine_options(const Subcommand& subcommand, SavedMachine& into);

/// The machine to be judged. Throws Error(usage) for a --root that is no machine's tree.
[[nodiscard]] probe::Machine machine_of(Context& context, const SavedMachine& saved);
/// Throws Error(usage) when the file cannot be read or holds no output of rocminfo.
[[nodiscard]] std::optional<probe::SavedRocminfo> rocminfo_of(const Context& context,
                                                              const SavedMachine& saved);

} // namespace dcuop::cli
