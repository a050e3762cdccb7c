#include "seen_hit.hpp"

#include <string_view>

namespace dcuop::build {

namespace {

Digest question_of(const Digest& request, const key::PathBase& base) {
  Hasher hasher;
  hasher.digest("request", request);
  hasher.text("directory", base.directory.string());
  hasher.text("workspace", base.workspace.string());
  hasher.text("programs", base.program_path);
  hasher.text("home", base.home);
  return hasher.finish();
}

/// What no file's identity answers, nor that of the directories whose names are others than at the build.
key::InputSet questions_in(const key::InputSet& inputs, const key::Comparison& comparison) {
  key::InputSet questions;
  questions.look_ups = inputs.look_ups;
  questions.look_ups.insert(questions.look_ups.end(), comparison.asked_again.begin(),
                            comparison.asked_again.end());
  questions.program_path = inputs.program_path;
  return questions;
}

constexpr std::size_t hex_size = 2 * sizeof(Digest::bytes);

} // namespace

SeenHit::SeenHit(const store::Store& store, const Digest& request, const key::PathBase& base)
    : store_(store), base_(base),
      memo_(store.memo_directory() / "hits" / question_of(request, base).hex(), question_of(request, base)) {}

std::optional<store::Entry> SeenHit::find() const {
  const std::optional<std::string> value = memo_.recall();
  const std::optional<Digest> entry =
      value ? Digest::from_hex(std::string_view(*value).substr(0, hex_size)) : std::nullopt;
  const std::optional<key::InputSet> questions =
      entry ? key::input_set_from_json_text(value->substr(hex_size)) : std::nullopt;
  if (!questions) {
    return std::nullopt;
  }
  DigestMemo none{fs::path{}};
  return key::compare(*questions, base_, none, true).unchanged() ? store_.find(store::Shelf::entries, *entry)
                                                                 : std::nullopt;
}

void SeenHit::look_at(const key::InputSet& inputs) {
  std::vector<fs::path> paths;
  paths.reserve(inputs.inputs.size() + inputs.directories.size());
  for (const key::Input& input : inputs.inputs) {
    paths.push_back(base_.absolute(input.path));
  }
  for (const key::WatchedDirectory& directory : inputs.directories) {
    paths.push_back(base_.absolute(directory.path));
  }
  memo_.look_at(paths);
}

void SeenHit::remember(const key::InputSet& inputs, const key::Comparison& comparison, const Digest& entry) {
  // Relevant names are no question that can be put alone.
  if (!comparison.relevant_again) {
    memo_.remember(entry.hex() + key::to_json_text(questions_in(inputs, comparison)));
  }
}

} // namespace dcuop::build
