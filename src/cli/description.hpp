#pragma once
// --from FILE: ops that are described, by a program or by a Python file that calls load().

#include <optional>
#include <string>
#include <vector>

#include "command.hpp"
#include "dcuop/op/op.hpp"

namespace dcuop::cli {

struct Described {
  std::vector<op::Op> ops;
  std::optional<probe::PythonWish> python; ///< the interpreter that describes itself in it
};

/// `from` is a JSON file, "-" for stdin, or a Python file, whose calls python/dcuop/_collect.py reads. Throws
/// Error(usage), Error(environment) when Python is needed and fails.
[[nodiscard]] Described read_description(Context& context, const std::string& from, op::Backend backend);

} // namespace dcuop::cli
