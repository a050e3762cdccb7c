#include "hidden_inputs.hpp"

#include <algorithm>
#include <cctype>

#include "dcuop/support/files.hpp"

namespace dcuop::build {

namespace {

/// -Wdate-time says nothing in system headers, under -w or under a pragma, so the texts are looked through as well.
/// A line comment that names one does not count.
bool names_a_date_in(const std::string& text) {
  for (const char* macro : {"__DATE__", "__TIME__", "__TIMESTAMP__"}) {
    for (std::size_t at = text.find(macro); at != std::string::npos; at = text.find(macro, at + 1)) {
      const std::size_t line = text.rfind('\n', at) + 1; // npos + 1 is 0
      if (text.substr(line, at - line).find("//") == std::string::npos) {
        return true;
      }
    }
  }
  return false;
}

/// .incbin and .include, in any case; "." #name as well, since nothing else is written like that.
bool has_assembler_include(std::string text) {
  std::transform(text.begin(), text.end(), text.begin(), [](unsigned char c) { return std::tolower(c); });
  for (std::size_t at = text.find(".inc"); at != std::string::npos; at = text.find(".inc", at + 1)) {
    const std::string_view rest = std::string_view(text).substr(at);
    if (rest.starts_with(".incbin") || rest.starts_with(".include")) {
      return true;
    }
  }
  return text.find("\".\" #") != std::string::npos;
}

/// The compiler itself and its scripts are inputs of a traced build, and no text that it preprocesses.
bool is_program(const fs::path& path) {
  const std::string start = read_file_prefix(path, 8).value_or("");
  return start.starts_with("\x7f"
                           "ELF") ||
         start.starts_with("#!") || start.starts_with("!<");
}

} // namespace

bool names_a_date(const std::string& diagnostics) {
  return diagnostics.find("[-Wdate-time]") != std::string::npos;
}

std::vector<std::string> hidden_inputs(const key::InputSet& inputs, const key::PathBase& base,
                                       bool was_traced) {
  std::vector<std::string> reasons;
  for (const key::Input& input : inputs.inputs) {
    const fs::path path = base.absolute(input.path);
    if (is_program(path)) {
      continue;
    }
    const std::string text = read_file(path).value_or("");
    if (!was_traced && has_assembler_include(text)) {
      reasons.push_back(input.path +
                        " has .incbin or .include: what the assembler reads is not followed here");
    }
    if (names_a_date_in(text)) {
      reasons.push_back(input.path + " names __DATE__, __TIME__ or __TIMESTAMP__");
    }
  }
  return reasons;
}

} // namespace dcuop::build
