#pragma once
// compile_commands.json (clang's JSON Compilation Database) of ops, for clangd and clang-tidy.

#include <filesystem>
#include <vector>

#include "dcuop/key/request.hpp"

namespace dcuop::build {

/// One object a unit. Throws Error(environment) when `file` cannot be written.
void write_compile_commands(const std::vector<key::Request>& requests, const std::filesystem::path& file);

} // namespace dcuop::build
