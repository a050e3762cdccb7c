#pragma once
// A hit that the next process may have without starting dcuop: see python/dcuop/_recall.py, which reads it.

#include <filesystem>

#include <nlohmann/json_fwd.hpp>

#include "command.hpp"
#include "dcuop/build/build.hpp"

namespace dcuop::cli {

/// The names that this process asked its environment for: {"names": [...], "prefixes": [...], "all": false}.
[[nodiscard]] nlohmann::json asked_variables(const Context& context);

/// A process of its own, which outlives this one, asks the
/// same again, as a process that the kernel watches, and writes the answer with all that it depends on to `file`, which has
/// to be one of the cache's answer_directory(). Where that cannot be told (no tracing, a server was asked) the file is
/// empty. Nothing is written when something changed within the last two seconds: later, then.
void remember_detached(Context& context, const std::filesystem::path& file, const build::OpResult& hit);

} // namespace dcuop::cli
