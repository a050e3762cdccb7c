#pragma once
// Ops that have no dcuop.toml: a program describes them in JSON, with the same tables and keys (docs/json.md,
// "Described ops"). torch.utils.cpp_extension.load() becomes such a description.

#include <filesystem>
#include <functional>
#include <map>
#include <string>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/op/op.hpp"

namespace dcuop::op {

/// Text of files by name, for an op whose sources are on no disk yet.
using InlineFiles = std::map<std::string, std::string>;

/// Puts inline files where they can be compiled, and stay as long as the op is remembered: their directory.
using PlaceFiles = std::function<std::filesystem::path(const InlineFiles&)>;

/// The "ops" of a description: each {"label", "directory" or "files", "op": {...}, "build": {...}}, or
/// {"label", "manifest", "backend"} for an op's directory that has a dcuop.toml; without "backend" `backend` counts, and
/// of other ops not at all. `label` says who asks, for messages
/// ("train.py:12"). Op::description says again what an op is, with its files placed; empty for a manifest's. Throws
/// Error(usage) with what is wrong and where.
[[nodiscard]] std::vector<Op> read_described(const nlohmann::json& ops, const PlaceFiles& place,
                                             Backend backend = Backend::hip);

} // namespace dcuop::op
