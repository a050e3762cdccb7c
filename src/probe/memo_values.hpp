#pragma once
// Facts as the text of a memo. Whoever can write the cache can write memos: what does not parse is asked
// again.

#include <optional>
#include <string>

#include "compiler_facts.hpp"
#include "dcuop/probe/toolchain.hpp"

namespace dcuop::probe {

[[nodiscard]] std::string memo_text(const CompilerFacts& facts);
[[nodiscard]] std::optional<CompilerFacts> compiler_facts_from(const std::string& text);

/// Without the compiler, which the asker has.
[[nodiscard]] std::string memo_text(const Toolchain& toolchain);
[[nodiscard]] std::optional<Toolchain> toolchain_from(const std::string& text);

} // namespace dcuop::probe
