#pragma once
// A directory of one's own outside of the cache.

#include <filesystem>
#include <string>

#include "dcuop/support/environment.hpp"

namespace dcuop {

/// Makes "<TMPDIR>/dcuop-XXXXXX" (mode 0700); a TMPDIR that is gone or cannot be written is passed over for /tmp and
/// /var/tmp, as compilers do. The caller owns it. Throws Error(environment) when none will do.
[[nodiscard]] std::filesystem::path make_temporary_directory(const Environment& environment);

/// The same, removed in the destructor.
class TemporaryDirectory {
 public:
  explicit TemporaryDirectory(const Environment& environment)
      : path_(make_temporary_directory(environment)) {}
  ~TemporaryDirectory();
  TemporaryDirectory(const TemporaryDirectory&) = delete;
  TemporaryDirectory& operator=(const TemporaryDirectory&) = delete;
  [[nodiscard]] const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

} // namespace dcuop
