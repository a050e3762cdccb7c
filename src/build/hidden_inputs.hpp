#pragma once
// Inputs that are in no list of files: the date, and what the assembler reads when the compiler was not traced.

#include <string>
#include <vector>

#include "dcuop/key/input_set.hpp"

namespace dcuop::build {

/// -Wdate-time had something to say.
[[nodiscard]] bool names_a_date(const std::string& diagnostics);

/// Why a unit with these inputs must not be cached; empty: it may.
[[nodiscard]] std::vector<std::string> hidden_inputs(const key::InputSet& inputs, const key::PathBase& base,
                                                     bool was_traced);

} // namespace dcuop::build
