#pragma once
// A new op: the files of ops/affine under another name, for one of the kinds that have a template.

#include <string>
#include <vector>

#include "dcuop/op/op.hpp"

namespace dcuop::op {

struct NewOp {
  std::string name;
  Kind kind = Kind::pybind_module; ///< not executable
  std::vector<std::string> archs;  ///< target ids; empty: those of the template
};

struct NewFile {
  std::string path; ///< relative to the op's directory
  std::string text;
};

/// Throws Error(usage): a name that Python, C++ or torch takes for something else, an arch that is no target id.
void check_new_op(const NewOp& wanted);

/// Of its archs alone.
void check_archs(const std::vector<std::string>& archs);

/// What the op's directory holds, sorted by path. `wanted` is one that check_new_op() lets through.
[[nodiscard]] std::vector<NewFile> files_of(const NewOp& wanted);

} // namespace dcuop::op
