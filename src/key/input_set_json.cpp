// InputSet as JSON. Inputs are grouped by directory: torch's 5,000 headers lie in 71.
//
//   {"parts": ["binding.cpp", "link"],
//    "inputs": [["include", [["op.h", "<digest>", readers], ...]], ...],
//    "directories": [["include", "<digest of all names>" | null, "<digest of relevant names>" | null], ...],
//    "look_ups": [["l", "/opt/current", "v1"], ...],
//    "asked": "<packed>",
//    "answers": "<digest>",
//    "probed": ["version.h", ...]}
//
// Paths and names are escaped: a record must lead to the very file that was read.

#include "dcuop/key/input_set.hpp"

#include <algorithm>
#include <iterator>
#include <stdexcept>

#include <nlohmann/json.hpp>

#include "dcuop/support/json_text.hpp"

namespace dcuop::key {

namespace {

using nlohmann::json;

Digest digest_from(const json& value) {
  const std::optional<Digest> digest = Digest::from_hex(value.get_ref<const std::string&>());
  if (!digest) {
    throw std::invalid_argument("not a digest");
  }
  return *digest;
}

std::optional<Digest> optional_digest_from(const json& value) {
  return value.is_null() ? std::nullopt : std::optional(digest_from(value));
}

json to_json(const std::optional<Digest>& digest) {
  return digest ? json(digest->hex()) : json();
}

std::string name_from(const json& value) {
  return unescaped_bytes(value.get_ref<const std::string&>());
}

Question question_from(const json& value) {
  const auto& letter = value.get_ref<const std::string&>();
  constexpr std::string_view letters = "tlx=ph";
  if (letter.size() != 1 || letters.find(letter) == std::string_view::npos) {
    throw std::invalid_argument("not a question");
  }
  return static_cast<Question>(letter.front());
}

std::vector<std::string> names_from(const json& values) {
  std::vector<std::string> names;
  std::transform(values.begin(), values.end(), std::back_inserter(names), name_from);
  return names;
}

json to_json(const std::vector<std::string>& names) {
  json values = json::array();
  std::transform(names.begin(), names.end(), std::back_inserter(values), escaped_bytes);
  return values;
}

std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::pair(std::string{}, path)
                                    : std::pair(path.substr(0, slash + 1), path.substr(slash + 1));
}

InputSet input_set_from(const json& document) {
  InputSet set;
  set.parts = names_from(document.at("parts"));
  set.answers = digest_from(document.at("answers"));
  set.probed_names = names_from(document.at("probed"));
  for (const json& group : document.at("inputs")) {
    const std::string directory = name_from(group.at(0));
    for (const json& file : group.at(1)) {
      set.inputs.push_back(
          {directory + name_from(file.at(0)), digest_from(file.at(1)), unsigned_from(file.at(2))});
    }
  }
  for (const json& item : document.at("directories")) {
    set.directories.push_back(
        {name_from(item.at(0)), optional_digest_from(item.at(1)), optional_digest_from(item.at(2))});
  }
  for (const json& item : document.at("look_ups")) {
    set.look_ups.push_back({question_from(item.at(0)), name_from(item.at(1)), name_from(item.at(2))});
  }
  set.asked = document.at("asked").get<std::string>();
  return set;
}

} // namespace

std::string to_json_text(const InputSet& set) {
  json inputs = json::array();
  for (const Input& input : set.inputs) {
    auto [directory, name] = split_path(escaped_bytes(input.path));
    if (inputs.empty() || inputs.back().at(0) != directory) {
      inputs.push_back(json::array({directory, json::array()}));
    }
    inputs.back().at(1).push_back(json::array({name, input.content.hex(), input.readers}));
  }
  json directories = json::array();
  for (const WatchedDirectory& directory : set.directories) {
    directories.push_back(
        json::array({escaped_bytes(directory.path), to_json(directory.names), to_json(directory.relevant)}));
  }
  json look_ups = json::array();
  for (const LookUp& look_up : set.look_ups) {
    look_ups.push_back(json::array({std::string(1, static_cast<char>(look_up.question)),
                                    escaped_bytes(look_up.subject), escaped_bytes(look_up.answer)}));
  }
  const json document = {{"parts", to_json(set.parts)},
                         {"inputs", std::move(inputs)},
                         {"directories", std::move(directories)},
                         {"look_ups", std::move(look_ups)},
                         {"asked", set.asked},
                         {"answers", set.answers.hex()},
                         {"probed", to_json(set.probed_names)}};
  return json_text(document);
}

std::optional<InputSet> input_set_from_json_text(const std::string& text) {
  try {
    return input_set_from(json_from(text));
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const std::invalid_argument&) { // not a digest, no question
    return std::nullopt;
  }
}

} // namespace dcuop::key
