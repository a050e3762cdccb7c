#include <algorithm>
#include <array>
#include <string_view>

#include "dcuop/elf/bundle.hpp"

namespace dcuop::elf {

namespace {

constexpr std::string_view spirv_processor = "amdgcnspirv";

struct Generic {
  std::string_view name;
  std::string_view covers; ///< space-separated
};

// AMDGPUUsage, "Generic Processor Code Object Versioning" and the generic processor table
// (https://llvm.org/docs/AMDGPUUsage.html). gfx950 joined gfx9-4-generic after LLVM 19.
constexpr std::array<Generic, 6> generics = {{
    {"gfx9-generic", "gfx900 gfx902 gfx904 gfx906 gfx909 gfx90c"},
    {"gfx9-4-generic", "gfx940 gfx941 gfx942 gfx950"},
    {"gfx10-1-generic", "gfx1010 gfx1011 gfx1012 gfx1013"},
    {"gfx10-3-generic", "gfx1030 gfx1031 gfx1032 gfx1033 gfx1034 gfx1035 gfx1036"},
    {"gfx11-generic", "gfx1100 gfx1101 gfx1102 gfx1103 gfx1150 gfx1151 gfx1152"},
    {"gfx12-generic", "gfx1200 gfx1201"},
}};

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}
bool is_hex(char c) {
  return is_digit(c) || (c >= 'a' && c <= 'f');
}

/// gfx906, gfx90a, gfx9-generic, gfx10-3-generic, amdgcnspirv.
bool is_processor(std::string_view name) {
  if (name == spirv_processor) {
    return true;
  }
  constexpr std::string_view prefix = "gfx";
  constexpr std::string_view suffix = "-generic";
  if (!name.starts_with(prefix)) {
    return false;
  }
  name.remove_prefix(prefix.size());
  if (!name.ends_with(suffix)) {
    return !name.empty() && is_digit(name.front()) && std::all_of(name.begin(), name.end(), is_hex);
  }
  name.remove_suffix(suffix.size());
  const auto is_version_char = [](char c) { return is_digit(c) || c == '-'; };
  return !name.empty() && is_digit(name.front()) && is_digit(name.back()) &&
         std::all_of(name.begin(), name.end(), is_version_char);
}

bool covers(std::string_view generic, std::string_view processor) {
  const auto found = std::find_if(generics.begin(), generics.end(),
                                  [&](const Generic& candidate) { return candidate.name == generic; });
  if (found == generics.end()) {
    return false;
  }
  for (std::string_view rest = found->covers; !rest.empty();) {
    const std::size_t end = std::min(rest.find(' '), rest.size());
    if (rest.substr(0, end) == processor) {
      return true;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  return false;
}

/// Code that leaves a feature open runs with either setting; code that names it wants the agent's to be
/// equal.
bool conflicts(const std::optional<bool>& code, const std::optional<bool>& agent) {
  return code.has_value() && code != agent;
}

void append_feature(std::string& text, std::string_view name, const std::optional<bool>& value) {
  if (value) {
    text.append(":").append(name).append(*value ? "+" : "-");
  }
}

} // namespace

std::optional<TargetId> TargetId::parse(std::string_view text) {
  TargetId id;
  const std::size_t processor_end = std::min(text.find(':'), text.size());
  id.processor = text.substr(0, processor_end);
  if (!is_processor(id.processor)) {
    return std::nullopt;
  }
  std::string_view rest = text.substr(processor_end);
  while (!rest.empty()) {
    rest.remove_prefix(1);
    const std::string_view feature = rest.substr(0, rest.find(':'));
    const bool on = feature.ends_with('+');
    if (!on && !feature.ends_with('-')) {
      return std::nullopt;
    }
    const std::string_view name = feature.substr(0, feature.size() - 1);
    std::optional<bool>* const value = name == "sramecc" ? &id.sramecc
                                       : name == "xnack" ? &id.xnack
                                                         : nullptr;
    if (value == nullptr || value->has_value()) {
      return std::nullopt;
    }
    *value = on;
    rest.remove_prefix(feature.size());
  }
  return id;
}

std::string TargetId::text() const {
  std::string text = processor;
  append_feature(text, "sramecc", sramecc);
  append_feature(text, "xnack", xnack);
  return text;
}

Fit fit_of(const TargetId& code, const TargetId& agent) {
  if (code.processor == spirv_processor) {
    return Fit::spirv;
  }
  const bool exact = code.processor == agent.processor;
  if (!exact && !covers(code.processor, agent.processor)) {
    return Fit::wrong_processor;
  }
  if (conflicts(code.xnack, agent.xnack)) {
    return Fit::xnack_conflict;
  }
  if (conflicts(code.sramecc, agent.sramecc)) {
    return Fit::sramecc_conflict;
  }
  return exact ? Fit::match : Fit::generic_match;
}

bool fits(Fit fit) {
  return fit == Fit::match || fit == Fit::generic_match;
}

} // namespace dcuop::elf
