#include "dcuop/key/components.hpp"

#include <array>

#include <nlohmann/json.hpp>

#include "dcuop/support/error.hpp"

namespace dcuop::key {

namespace {

constexpr std::array<std::string_view, 13> group_names = {
    "schema",  "op",     "source", "header",      "flag",    "arch",  "toolchain",
    "bitcode", "python", "torch",  "environment", "library", "search"};

Group group_from(const std::string& name) {
  for (std::size_t index = 0; index < group_names.size(); ++index) {
    if (group_names[index] == name) {
      return static_cast<Group>(index);
    }
  }
  throw Error(ExitCode::usage, "components: unknown group '" + name + "'");
}

} // namespace

std::string_view to_string(Group group) {
  return group_names.at(static_cast<std::size_t>(group));
}

void Components::add(Group group, std::string name, std::string value) {
  const Digest digest = digest_of(value);
  add(group, std::move(name), digest, std::move(value));
}

void Components::add(Group group, std::string name, const Digest& digest, std::string value) {
  Component component{group, std::move(name), digest, std::move(value)};
  for (const Component& known : components_) {
    if (known.group == component.group && known.name == component.name && known.digest == component.digest) {
      return; // two units share a toolchain: said once
    }
  }
  components_.push_back(std::move(component));
}

void Components::add_all(const Components& others) {
  for (const Component& component : others.all()) {
    add(component.group, component.name, component.digest, component.value);
  }
}

Digest Components::digest() const {
  Hasher hasher;
  hasher.number("schema", schema_version);
  for (const Component& component : components_) {
    hasher.text("group", to_string(component.group));
    hasher.text("name", component.name);
    hasher.digest("digest", component.digest);
  }
  return hasher.finish();
}

nlohmann::json to_json(const Components& components) {
  nlohmann::json list = nlohmann::json::array();
  for (const Component& component : components.all()) {
    list.push_back({{"group", to_string(component.group)},
                    {"name", component.name},
                    {"digest", component.digest.hex()},
                    {"value", component.value}});
  }
  return list;
}

Components components_from_json(const nlohmann::json& json) {
  Components components;
  try {
    for (const nlohmann::json& item : json) {
      const std::optional<Digest> digest = Digest::from_hex(item.at("digest").get<std::string>());
      if (!digest) {
        throw Error(ExitCode::usage, "components: a digest is not 32 hex digits");
      }
      components.add(group_from(item.at("group").get<std::string>()), item.at("name").get<std::string>(),
                     *digest, item.at("value").get<std::string>());
    }
  } catch (const nlohmann::json::exception& fault) {
    throw Error(ExitCode::usage, std::string("components: ") + fault.what());
  }
  return components;
}

} // namespace dcuop::key
