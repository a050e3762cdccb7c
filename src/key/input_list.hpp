#pragma once
// What both collectors and merge() do to a set's lists.

#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include "dcuop/key/input_set.hpp"

namespace dcuop::key {

/// By path; equal paths become one, with the readers of all.
void sort_inputs(std::vector<Input>& inputs);

/// `name` in `directory` (portable): "x.h" in ".".
[[nodiscard]] std::string path_in(std::string_view directory, std::string_view name);

/// Of a directory's names and kinds; nullopt when there is no directory, or it cannot be read.
[[nodiscard]] std::optional<Digest> names_digest(const std::filesystem::path& directory, DigestMemo& memo);

} // namespace dcuop::key
