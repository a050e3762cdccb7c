#include "relevant_names.hpp"

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::key {

RelevantNames::RelevantNames(const InputSet& set) {
  for (const Input& input : set.inputs) {
    for (std::string& part : split(input.path, '/')) {
      names_.insert(std::move(part));
    }
  }
  names_.insert(set.probed_names.begin(), set.probed_names.end());
  all_ = names_.contains(any_name);
}

Digest RelevantNames::digest_in(const fs::path& directory) const {
  Hasher hasher;
  for (const std::string& entry : list_names_and_kinds(directory)) {
    const std::string name = entry.substr(0, entry.rfind('/'));
    if (all_ || names_.contains(name)) {
      hasher.text("name", entry);
      hasher.number("found", static_cast<std::uint64_t>(found_at(directory / name)));
    }
  }
  return hasher.finish();
}

} // namespace dcuop::key
