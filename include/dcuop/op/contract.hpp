#pragma once
// An op's contract: what `dcuop verify` holds it to. It stands in [verify] of its dcuop.toml, and no build reads it.

#include <filesystem>

#include <nlohmann/json_fwd.hpp>

namespace dcuop::op {

/// The contract in a manifest as the JSON that docs/verify.md describes: "functions" (none when the manifest has no
/// [[verify.function]]), "micro", "e2e" (null when there is none) and "gate", each key present. Throws Error(usage) with
/// "file:line:column: error: ..." for unknown keys (with the nearest valid one), wrong types, files that are not there,
/// and values that contradict each other.
[[nodiscard]] nlohmann::json read_contract(const std::filesystem::path& manifest);

} // namespace dcuop::op
