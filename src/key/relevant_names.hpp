#pragma once
// Where the compiler was not traced: which names in a directory matter.

#include <filesystem>
#include <set>
#include <string>

#include "dcuop/key/input_set.hpp"

namespace dcuop::key {

/// Among the probed names: any name may matter. No file can be called that.
inline constexpr const char* any_name = "/";

/// The names that an include of this build could mean: the components of the inputs' paths and of what
/// __has_include asks for. Editors' swap files and the like are not among them.
class RelevantNames {
 public:
  explicit RelevantNames(const InputSet& set);
  [[nodiscard]] Digest digest_in(const std::filesystem::path& directory) const;

 private:
  std::set<std::string> names_;
  bool all_ = false;
};

} // namespace dcuop::key
