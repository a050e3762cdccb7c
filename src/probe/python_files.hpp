#pragma once
// The Python of another tree, from its files alone: what Modules/getpath.py and Lib/site.py of CPython would make of
// them, and Debian's changes to the latter.

#include "dcuop/probe/python.hpp"

namespace dcuop::probe {

/// --python, as the tree names it. Else, of those that the tree has, the first with a torch, or else the first: what
/// the configuration, DCUOP_PYTHON, a venv or conda environment of this machine name, then the usual places, as the
/// tree's PATH is not known. Throws Error(environment) when there is none, or what it is cannot be told.
[[nodiscard]] Python python_in_tree(const Machine& machine, const PythonWish& wish);

} // namespace dcuop::probe
