#include "unknown_word.hpp"

#include <optional>

#include "dcuop/support/text.hpp"

namespace dcuop::cli {

namespace {

Error unknown(const char* kind, const std::string& word, const std::string& command,
              const std::vector<std::string>& known) {
  const std::optional<std::string> near = nearest(word, known);
  return Error(ExitCode::usage,
               std::string("unknown ") + kind + " '" + word + "'" +
                   (near ? "; did you mean '" + *near + "'?" : ""),
               command + " --help");
}

} // namespace

Error misunderstood(const Misunderstanding& line) {
  if (!line.left.empty() && line.left.front().starts_with("-")) {
    const std::string& word = line.left.front();
    return unknown("option", word.substr(0, word.find('=')), line.command, line.options);
  }
  if (!line.left.empty() && !line.commands.empty()) {
    return unknown("command", line.left.front(), line.command, line.commands);
  }
  return Error(ExitCode::usage, line.fault, line.command + " --help");
}

} // namespace dcuop::cli
