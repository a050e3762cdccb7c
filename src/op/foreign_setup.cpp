#include "foreign_setup.hpp"

#include <nlohmann/json.hpp>

#include "dcuop/support/json_text.hpp"

namespace dcuop::op {

namespace {

using nlohmann::json;

std::vector<Unread> unread_from(const json& list) {
  std::vector<Unread> result;
  for (const json& item : list) {
    result.push_back({item.value("field", ""), static_cast<std::size_t>(unsigned_from(item.at("line"))),
                      item.at("text").get<std::string>()});
  }
  return result;
}

std::string text_or_empty(const json& value) {
  return value.is_null() ? std::string() : value.get<std::string>();
}

SetupExtension extension_from(const json& item) {
  using Texts = std::vector<std::string>;
  SetupExtension extension;
  extension.type = item.at("class").get<std::string>();
  extension.name = text_or_empty(item.at("name"));
  extension.line = static_cast<std::size_t>(unsigned_from(item.at("line")));
  extension.sources = item.at("sources").get<Texts>();
  extension.include_dirs = item.at("include_dirs").get<Texts>();
  extension.macros = item.at("macros").get<Texts>();
  extension.undef_macros = item.at("undef_macros").get<Texts>();
  extension.cxx_flags = item.at("cxx").get<Texts>();
  extension.nvcc_flags = item.at("nvcc").get<Texts>();
  extension.link_flags = item.at("extra_link_args").get<Texts>();
  extension.libraries = item.at("libraries").get<Texts>();
  extension.library_dirs = item.at("library_dirs").get<Texts>();
  extension.unread = unread_from(item.at("unread"));
  return extension;
}

} // namespace

ForeignSetup read_foreign_setup(const std::string& text) {
  ForeignSetup setup;
  if (text.empty()) {
    return setup;
  }
  try {
    const json answer = shallow_json(text);
    for (const json& item : answer.at("extensions")) {
      setup.extensions.push_back(extension_from(item));
    }
    setup.assumed = unread_from(answer.at("assumed"));
    setup.problem = text_or_empty(answer.at("problem"));
  } catch (const std::exception& fault) { // of nlohmann's, and std::invalid_argument
    return {{}, {}, std::string("what was read of it is not understood: ") + fault.what()};
  }
  return setup;
}

} // namespace dcuop::op
