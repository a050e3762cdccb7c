// rocminfo's text. Neither its columns nor its indentation can be relied on: people and programs hand it on
// with blanks collapsed, lines joined, colour codes kept, or cut at both ends.

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>

#include "dcuop/elf/bundle.hpp"
#include "dcuop/probe/devices.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

struct Field {
  std::string_view label;
  std::string_view value;
};

std::string without_colour(std::string_view text);
bool is_agent_heading(std::string_view line);
std::vector<Field> fields_of(std::string_view line);
void apply(const Field& field, bool has_headings, Rocminfo& into);
bool says_a_problem(std::string_view line);

} // namespace

Rocminfo parse_rocminfo(std::string_view text) {
  Rocminfo result;
  const std::string plain = without_colour(text);
  std::vector<std::string> problems;
  bool has_headings = false;
  for (const std::string& line : split(plain, '\n')) {
    const std::string_view content = trimmed(line);
    if (is_agent_heading(content)) {
      result.agents.emplace_back();
      has_headings = true;
      continue;
    }
    if (says_a_problem(content)) {
      problems.emplace_back(content);
      continue;
    }
    for (const Field& field : fields_of(content)) {
      apply(field, has_headings, result);
    }
  }
  std::erase_if(result.agents, [](const RocminfoAgent& agent) { return agent.name.empty(); });
  result.problem = join(problems, "; ");
  return result;
}

SavedRocminfo read_saved_rocminfo(std::string_view text, const std::string& origin) {
  SavedRocminfo saved{parse_rocminfo(text), origin};
  if (!saved.told.recognised()) {
    throw Error(ExitCode::usage,
                origin + (trimmed(text).empty() ? " is empty" : " holds no agent and no message of rocminfo"),
                "save the whole output of rocminfo: rocminfo > FILE 2>&1");
  }
  return saved;
}

namespace {

/// Removes ANSI control sequences: ESC [ parameters, up to a letter.
std::string without_colour(std::string_view text) {
  std::string plain;
  plain.reserve(text.size());
  for (std::size_t i = 0; i < text.size(); ++i) {
    if (text[i] != '\x1b') {
      if (text[i] != '\r') {
        plain.push_back(text[i]);
      }
      continue;
    }
    if (i + 1 < text.size() && text[i + 1] == '[') {
      ++i;
      while (i + 1 < text.size() && (text[i + 1] < '@' || text[i + 1] > '~')) {
        ++i;
      }
      ++i;
    }
  }
  return plain;
}

bool is_agent_heading(std::string_view line) {
  constexpr std::string_view word = "Agent ";
  if (!line.starts_with(word) || line.size() == word.size()) {
    return false;
  }
  return line.find_first_not_of("0123456789", word.size()) == std::string_view::npos;
}

constexpr std::array<std::string_view, 9> labels = {"Name",         "Marketing Name", "Vendor Name",
                                                    "Uuid",         "Device Type",    "Node",
                                                    "Compute Unit", "Wavefront Size", "Runtime Version"};

/// The label that starts at `position`: at the line's start, or behind at least two blanks ("Marketing Name:"
/// holds no "Name:" then).
std::optional<std::string_view> label_at(std::string_view line, std::size_t position) {
  const bool apart =
      position == 0 || (position >= 2 && line[position - 1] == ' ' && line[position - 2] == ' ');
  if (!apart) {
    return std::nullopt;
  }
  const std::string_view rest = line.substr(position);
  for (const std::string_view label : labels) {
    if (rest.starts_with(label) && rest.substr(label.size()).starts_with(':')) {
      return label;
    }
  }
  return std::nullopt;
}

std::vector<Field> fields_of(std::string_view line) {
  std::vector<Field> fields;
  std::size_t value_start = 0;
  const auto close_last = [&](std::size_t end) {
    if (!fields.empty()) {
      std::string_view value = trimmed(line.substr(value_start, end - value_start));
      while (value.starts_with(':')) {
        value = trimmed(value.substr(1));
      }
      fields.back().value = value;
    }
  };
  for (std::size_t i = 0; i < line.size(); ++i) {
    const std::optional<std::string_view> label = label_at(line, i);
    if (!label) {
      continue;
    }
    close_last(i);
    fields.push_back({*label, {}});
    value_start = i + label->size() + 1;
    i = value_start - 1;
  }
  close_last(line.size());
  return fields;
}

std::uint32_t leading_number(std::string_view text) {
  std::uint32_t number = 0;
  std::from_chars(text.data(), text.data() + text.size(), number);
  return number;
}

/// An agent's name, or the name of one of its ISAs. Where headings were cut away, a second name starts the
/// next agent, and an ISA that stands alone tells its agent's processor.
void apply_name(std::string_view value, bool has_headings, Rocminfo& into) {
  constexpr std::string_view isa_prefix = "amdgcn-amd-amdhsa--";
  if (value.starts_with(isa_prefix)) {
    if (into.agents.empty()) {
      const auto target = elf::TargetId::parse(value.substr(isa_prefix.size()));
      into.agents.emplace_back().name = target ? target->processor : std::string(value);
    }
    into.agents.back().isas.emplace_back(value);
    return;
  }
  if (into.agents.empty() || !into.agents.back().name.empty()) {
    if (has_headings) {
      return; // an ISA's name, cut short
    }
    into.agents.emplace_back();
  }
  into.agents.back().name = value;
}

void apply(const Field& field, bool has_headings, Rocminfo& into) {
  if (field.label == "Name") {
    apply_name(field.value, has_headings, into);
    return;
  }
  if (field.label == "Runtime Version") {
    into.runtime_version = field.value;
    return;
  }
  if (into.agents.empty()) {
    return;
  }
  RocminfoAgent& agent = into.agents.back();
  if (field.label == "Marketing Name") {
    agent.marketing_name = field.value;
  } else if (field.label == "Vendor Name") {
    agent.vendor = field.value;
  } else if (field.label == "Uuid") {
    agent.uuid = field.value;
  } else if (field.label == "Device Type") {
    agent.device_type = field.value;
  } else if (field.label == "Node") {
    agent.node = leading_number(field.value);
  } else if (field.label == "Compute Unit") {
    agent.compute_units = leading_number(field.value);
  } else if (field.label == "Wavefront Size") {
    agent.wavefront = leading_number(field.value);
  }
}

/// The sentences of rocminfo.cc (ROCm/rocminfo) when something is wrong.
bool says_a_problem(std::string_view line) {
  constexpr std::array<std::string_view, 6> phrases = {
      "is NOT loaded",  "Unable to open ",         "is not member of ",
      "Call returned ", "Failed to get user name", "could not get list of modules"};
  return std::any_of(phrases.begin(), phrases.end(),
                     [&](std::string_view phrase) { return line.find(phrase) != std::string_view::npos; });
}

} // namespace

} // namespace dcuop::probe
