#pragma once
// The tracer's records, as they come out of its pipe -> one FileAccess a path.

#include <optional>
#include <string>
#include <unordered_map>
#include <vector>

#include "dcuop/support/process.hpp"

namespace dcuop {

class TraceReader {
 public:
  void add(const std::string& bytes);
  /// nullopt when there was something that could not be followed.
  [[nodiscard]] std::optional<std::vector<FileAccess>> take();

 private:
  std::string rest_;                                     ///< of a record that is not here whole
  std::unordered_map<std::string, FileAccess> accesses_; ///< by path
  bool is_complete_ = true;
};

} // namespace dcuop
