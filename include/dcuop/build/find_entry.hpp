#pragma once
// The entry that a request would hit now, without building anything.

#include <optional>

#include "dcuop/key/request.hpp"
#include "dcuop/store/store.hpp"

namespace dcuop::build {

[[nodiscard]] std::optional<store::Entry> find_entry(const key::Request& request, const store::Store& store);

/// Where the stat memo of an op's inputs lies.
[[nodiscard]] std::filesystem::path input_memo_file(const key::Request& request, const store::Store& store);

} // namespace dcuop::build
