#pragma once
// /proc/self/mountinfo (proc(5)).

#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace dcuop::doctor {

struct Mount {
  std::filesystem::path point;
  std::string type;    ///< "tmpfs"
  std::string options; ///< of this mount: "rw,nosuid,noexec"
  [[nodiscard]] bool has(std::string_view option) const;
};

/// The mount that `path` (a real path) lies on; nullopt when the text tells of none.
[[nodiscard]] std::optional<Mount> mount_of(const std::filesystem::path& path, std::string_view mountinfo);

} // namespace dcuop::doctor
