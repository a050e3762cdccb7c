#include "unknown_word.hpp"

#include <optional>
#include <string>
#include <vector>

#include "dcuop/support/text.hpp"

namespace dcuop::cli {

namespace {

/// The last command of the line: `dcuop cache stat` got as far as `cache`.
const CLI::App& reached(const CLI::App& app) {
  const std::vector<CLI::App*> named = app.get_subcommands();
  return named.empty() ? app : reached(*named.front());
}

std::string typed_name(const CLI::App& app) {
  const CLI::App* const parent = app.get_parent();
  return parent == nullptr ? "dcuop" : typed_name(*parent) + " " + app.get_name();
}

std::vector<std::string> commands_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* const command : app.get_subcommands([](const CLI::App*) { return true; })) {
    names.push_back(command->get_name());
  }
  return names;
}

/// As commands take those of the commands above them too (fallthrough).
std::vector<std::string> options_of(const CLI::App& app) {
  std::vector<std::string> names;
  for (const CLI::App* level = &app; level != nullptr; level = level->get_parent()) {
    for (const CLI::Option* const option : level->get_options()) {
      for (const std::string& name : option->get_lnames()) {
        names.push_back("--" + name);
      }
    }
  }
  return names;
}

Error unknown(const char* kind, const std::string& word, const CLI::App& command,
              const std::vector<std::string>& known) {
  const std::optional<std::string> near = nearest(word, known);
  return Error(ExitCode::usage,
               std::string("unknown ") + kind + " '" + word + "'" +
                   (near ? "; did you mean '" + *near + "'?" : ""),
               typed_name(command) + " --help");
}

} // namespace

Error misunderstood(const CLI::App& app, const CLI::ParseError& fault) {
  const CLI::App& command = reached(app);
  const std::vector<std::string> left = app.remaining(true);
  if (!left.empty() && left.front().starts_with("-")) {
    return unknown("option", left.front().substr(0, left.front().find('=')), command, options_of(command));
  }
  if (!left.empty() && !commands_of(command).empty()) {
    return unknown("command", left.front(), command, commands_of(command));
  }
  return Error(ExitCode::usage, fault.what(), typed_name(command) + " --help");
}

} // namespace dcuop::cli
