#include "input_list.hpp"

#include <algorithm>

#include "dcuop/support/files.hpp"

namespace dcuop::key {

void sort_inputs(std::vector<Input>& inputs) {
  std::sort(inputs.begin(), inputs.end(), [](const Input& a, const Input& b) { return a.path < b.path; });
  std::vector<Input> unique;
  for (Input& input : inputs) {
    if (!unique.empty() && unique.back().path == input.path) {
      unique.back().readers |= input.readers;
    } else {
      unique.push_back(std::move(input));
    }
  }
  inputs = std::move(unique);
}

std::string path_in(std::string_view directory, std::string_view name) {
  if (directory == ".") {
    return std::string(name);
  }
  return std::string(directory).append(directory.ends_with('/') ? "" : "/").append(name);
}

std::optional<Digest> names_digest(const fs::path& directory, DigestMemo& memo) {
  const std::optional<FileIdentity> identity = identity_of(directory);
  return identity && identity->is_directory() ? memo.digest(directory) : std::nullopt;
}

} // namespace dcuop::key
