// InputSet as JSON. Inputs are grouped by directory: torch's 5,000 headers lie in 71.
//
//   {"parts": ["binding.cpp", "link"],
//    "inputs": [["include", [["op.h", "<digest>", readers], ...]], ...],
//    "directories": [["include", "<digest of all names>" | null, "<digest of relevant names>"], ...],
//    "answers": "<digest>",
//    "probed": ["version.h", ...]}

#include "dcuop/key/input_set.hpp"

#include <stdexcept>

#include <nlohmann/json.hpp>

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

std::pair<std::string, std::string> split_path(const std::string& path) {
  const std::size_t slash = path.rfind('/');
  return slash == std::string::npos ? std::pair(std::string{}, path)
                                    : std::pair(path.substr(0, slash + 1), path.substr(slash + 1));
}

InputSet input_set_from(const json& document) {
  InputSet set;
  set.parts = document.at("parts").get<std::vector<std::string>>();
  set.answers = digest_from(document.at("answers"));
  set.probed_names = document.at("probed").get<std::vector<std::string>>();
  for (const json& group : document.at("inputs")) {
    const std::string& directory = group.at(0).get_ref<const std::string&>();
    for (const json& file : group.at(1)) {
      set.inputs.push_back({directory + file.at(0).get_ref<const std::string&>(), digest_from(file.at(1)),
                            file.at(2).get<std::uint64_t>()});
    }
  }
  for (const json& item : document.at("directories")) {
    WatchedDirectory directory{item.at(0).get<std::string>(), std::nullopt, digest_from(item.at(2))};
    if (!item.at(1).is_null()) {
      directory.names = digest_from(item.at(1));
    }
    set.directories.push_back(std::move(directory));
  }
  return set;
}

} // namespace

std::string to_json_text(const InputSet& set) {
  json inputs = json::array();
  for (const Input& input : set.inputs) {
    auto [directory, name] = split_path(input.path);
    if (inputs.empty() || inputs.back().at(0) != directory) {
      inputs.push_back(json::array({directory, json::array()}));
    }
    inputs.back().at(1).push_back(json::array({name, input.content.hex(), input.readers}));
  }
  json directories = json::array();
  for (const WatchedDirectory& directory : set.directories) {
    directories.push_back(json::array(
        {directory.path, directory.names ? json(directory.names->hex()) : json(), directory.relevant.hex()}));
  }
  const json document = {{"parts", set.parts},
                         {"inputs", std::move(inputs)},
                         {"directories", std::move(directories)},
                         {"answers", set.answers.hex()},
                         {"probed", set.probed_names}};
  return document.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::optional<InputSet> input_set_from_json_text(const std::string& text) {
  try {
    return input_set_from(json::parse(text));
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

} // namespace dcuop::key
