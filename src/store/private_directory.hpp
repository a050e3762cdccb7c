#pragma once
// Names of private directories, and making one.

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

#include "dcuop/store/store.hpp"

namespace dcuop::store {

/// "<host>-<boot>-<pid>-<random>", the boot id cut to eight digits.
struct PrivateName {
  std::string host;
  std::string boot;
};
[[nodiscard]] std::optional<PrivateName> parse_private_name(std::string_view name);

/// A free name below `root`'s tmp, locked but not yet made: for a directory that is renamed there to be
/// deleted.
[[nodiscard]] PrivateDirectory reserve_private_name(const std::filesystem::path& root);

/// "kept-<shelf letter><key>-<private name>": outlives its maker (see Store::publish), and is swept after a
/// day on the host that made it unless the entry is in use there.
[[nodiscard]] std::string kept_name(Shelf shelf, const Digest& key, const std::string& private_name);

struct KeptName {
  Digest key;
  PrivateName made_by;
};
[[nodiscard]] std::optional<KeptName> parse_kept_name(std::string_view name);

} // namespace dcuop::store
