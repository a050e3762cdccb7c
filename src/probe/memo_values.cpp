#include "memo_values.hpp"

#include <array>
#include <stdexcept>
#include <utility>

#include <nlohmann/json.hpp>

#include "dcuop/support/json_text.hpp"

namespace dcuop::probe {

namespace {

using nlohmann::json;

constexpr std::array<std::pair<Family, std::string_view>, 4> family_names = {
    {{Family::clang, "clang"}, {Family::gcc, "gcc"}, {Family::nvcc, "nvcc"}, {Family::unknown, "unknown"}}};

std::string name_of(Family family) {
  for (const auto& [value, name] : family_names) {
    if (value == family) {
      return std::string(name);
    }
  }
  return "unknown";
}

Family family_named(const std::string& name) {
  for (const auto& [value, known] : family_names) {
    if (known == name) {
      return value;
    }
  }
  return Family::unknown;
}

/// Throws std::invalid_argument, which the readers below turn into "ask again".
Digest digest_from(const json& value) {
  const auto digest = Digest::from_hex(value.get<std::string>());
  if (!digest) {
    throw std::invalid_argument("not a digest");
  }
  return *digest;
}

} // namespace

std::string memo_text(const CompilerFacts& facts) {
  return json_text({{"family", name_of(facts.family)},
                    {"version", facts.version},
                    {"version_line", facts.version_line},
                    {"target", facts.target},
                    {"real_compiler", escaped_bytes(facts.real_compiler.string())}});
}

std::optional<CompilerFacts> compiler_facts_from(const std::string& text) {
  try {
    const auto value = json_from(text);
    return CompilerFacts{family_named(value.at("family").get<std::string>()),
                         value.at("version").get<std::string>(), value.at("version_line").get<std::string>(),
                         value.at("target").get<std::string>(),
                         unescaped_bytes(value.at("real_compiler").get<std::string>())};
  } catch (const json::exception&) {
    return std::nullopt;
  }
}

std::string memo_text(const Toolchain& toolchain) {
  auto files = json::array();
  for (const auto& file : toolchain.files) {
    files.push_back({file.role, escaped_bytes(file.path.string()), file.content.hex()});
  }
  return json_text({{"files", std::move(files)},
                    {"resolved_cpu", toolchain.resolved_cpu},
                    {"identity", toolchain.identity.hex()}});
}

std::optional<Toolchain> toolchain_from(const std::string& text) {
  try {
    const auto value = json_from(text);
    Toolchain toolchain;
    for (const auto& file : value.at("files")) {
      toolchain.files.push_back({file.at(0).get<std::string>(),
                                 unescaped_bytes(file.at(1).get<std::string>()), digest_from(file.at(2))});
    }
    toolchain.resolved_cpu = value.at("resolved_cpu").get<std::vector<std::string>>();
    toolchain.identity = digest_from(value.at("identity"));
    return toolchain;
  } catch (const json::exception&) {
    return std::nullopt;
  } catch (const std::invalid_argument&) {
    return std::nullopt;
  }
}

} // namespace dcuop::probe
