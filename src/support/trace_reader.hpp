#pragma once
// The tracer's records, as they come out of its pipe -> one FileAccess a path.

#include <optional>
#include <string>
#include <unordered_map>

#include "dcuop/support/process.hpp"
#include "tracer.hpp"

namespace dcuop {

class TraceReader {
 public:
  void add(const std::string& bytes);
  /// nullopt when the last record is not here whole.
  [[nodiscard]] std::optional<Trace> take();

 private:
  void note(const tracing::Record& record, std::string&& path, std::string&& real);

  std::string rest_;                                     ///< of a record that is not here whole
  std::unordered_map<std::string, FileAccess> accesses_; ///< by path
  Trace trace_;
};

} // namespace dcuop
