#pragma once
// Bringing a finished private directory to its place, against other publishers, damage and network file
// systems.

#include <filesystem>
#include <functional>

#include "dcuop/store/store.hpp"
#include "entry.hpp"

namespace dcuop::store {

/// rename(2): 0 or an errno. The seam at which tests stand in for a network file system.
using RenameDirectory =
    std::function<int(const std::filesystem::path& from, const std::filesystem::path& to)>;

[[nodiscard]] int rename_directory(const std::filesystem::path& from, const std::filesystem::path& to);

enum class Placed {
  ours,      ///< `directory` is at its place now
  theirs,    ///< another process was first, and its entry is whole
  invisible, ///< another process was first, but what it published cannot be seen from here
};

struct Placing {
  Placed placed = Placed::ours;
  std::optional<Manifest> manifest; ///< the winner's, when it is theirs
};

/// `directory` must be complete and durable. Throws Error(environment) when the file system refuses.
[[nodiscard]] Placing place_directory(const std::filesystem::path& root, Shelf shelf, const Digest& key,
                                      const std::filesystem::path& directory, const RenameDirectory& rename);

} // namespace dcuop::store
