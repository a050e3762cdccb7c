#pragma once
// What a build depends on, as ordered, named components: stored with every entry, compared by explain.

#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json_fwd.hpp>

#include "dcuop/support/digest.hpp"

namespace dcuop::key {

/// Changes when the meaning of a key or what dcuop passes to the compilers changes.
inline constexpr int schema_version = 4;

enum class Group {
  schema,
  op,
  source,
  header,
  flag,
  arch,
  toolchain,
  bitcode,
  python,
  torch,
  environment,
  library,
  search
};
[[nodiscard]] std::string_view to_string(Group group);

/// The name of the component that says what an op is built for, of Group::op; absent for HIP.
inline constexpr std::string_view backend_component = "backend";

struct Component {
  Group group = Group::op;
  std::string name; ///< "binding.cpp", "HIPCC_COMPILE_FLAGS_APPEND", "clang"
  Digest digest;
  std::string value; ///< for people: "-O3 -DX=1", "15.0.6", "/usr/bin/hipcc"
  bool operator==(const Component&) const = default;
};

/// Ordered components. The digest is of schema, group, name and digest of each, not of the values.
class Components {
 public:
  void add(Group group, std::string name, std::string value); ///< digest of the value
  void add(Group group, std::string name, const Digest& digest, std::string value);
  void add_all(const Components& others); ///< those that are not there yet
  [[nodiscard]] const std::vector<Component>& all() const { return components_; }
  [[nodiscard]] Digest digest() const;

 private:
  std::vector<Component> components_;
};

[[nodiscard]] nlohmann::json to_json(const Components& components);
/// Throws Error(usage) for what is not such JSON.
[[nodiscard]] Components components_from_json(const nlohmann::json& json);

} // namespace dcuop::key
