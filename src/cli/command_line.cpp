#include "command_line.hpp"

#include <cstdint>
#include <utility>

#include <CLI/CLI.hpp>

#include "unknown_word.hpp"

namespace dcuop::cli {

Option Option::type_name(const std::string& name) const {
  return Option(*option_->type_name(name));
}

Option Option::description(const std::string& text) const {
  return Option(*option_->description(text));
}

Option Option::required() const {
  return Option(*option_->required());
}

Option Option::one_word() const {
  return Option(*option_->allow_extra_args(false));
}

Option Option::one_list() const {
  return Option(*option_->delimiter(',')->allow_extra_args(false));
}

Option Option::optional_value() const {
  return Option(*option_->expected(0, 1)->default_str(""));
}

Option Option::shows_default() const {
  return Option(*option_->capture_default_str());
}

Option Option::hidden() const {
  return Option(*option_->group(""));
}

Option Option::in_range(int least, int most) const {
  return Option(*option_->check(CLI::Range(least, most)));
}

Option Option::in_range(unsigned least, unsigned most) const {
  return Option(*option_->check(CLI::Range(least, most)));
}

Option Option::positive() const {
  return Option(*option_->check(CLI::PositiveNumber));
}

Option Option::one_of(const std::vector<std::string>& values) const {
  return Option(*option_->check(CLI::IsMember(values)));
}

Option Option::check(std::function<std::string(const std::string&)> fault_of) const {
  return Option(*option_->check(std::move(fault_of)));
}

Option Option::needs(Option other) const {
  return Option(*option_->needs(other.option_));
}

Option Option::excludes(Option other) const {
  return Option(*option_->excludes(other.option_));
}

Option Option::excludes_quietly(Option other) const {
  (void)excludes(other);
  other.option_->remove_excludes(option_);
  return *this;
}

bool Option::is_given() const {
  return option_->count() > 0;
}

template <class Value>
Option Subcommand::option(const std::string& names, Value& into, const std::string& meaning) const {
  return Option(*app_->add_option(names, into, meaning));
}

using Text = std::string;
template Option Subcommand::option(const Text&, std::string&, const Text&) const;
template Option Subcommand::option(const Text&, std::optional<std::string>&, const Text&) const;
template Option Subcommand::option(const Text&, std::vector<std::string>&, const Text&) const;
template Option Subcommand::option(const Text&, int&, const Text&) const;
template Option Subcommand::option(const Text&, std::int64_t&, const Text&) const;
template Option Subcommand::option(const Text&, std::uint32_t&, const Text&) const;
template Option Subcommand::option(const Text&, std::uint64_t&, const Text&) const;
template Option Subcommand::option(const Text&, double&, const Text&) const;

Option Subcommand::text_option(const std::string& name, const std::function<void(const std::string&)>& take,
                               const std::string& meaning) const {
  return Option(*app_->add_option_function<std::string>(name, take, meaning));
}

Option Subcommand::flag(const std::string& names, bool& into, const std::string& meaning) const {
  return Option(*app_->add_flag(names, into, meaning));
}

Subcommand Subcommand::subcommand(const std::string& name, const std::string& summary) const {
  CLI::App* const below = app_->add_subcommand(name, summary);
  below->fallthrough();
  return Subcommand(*below);
}

void Subcommand::require_subcommand() const {
  app_->require_subcommand(1);
}

void Subcommand::footer(const std::string& text) const {
  app_->footer(text);
}

Option Subcommand::named(const std::string& name) const {
  return Option(*app_->get_option(name));
}

void Subcommand::remove(const std::string& name) const {
  app_->remove_option(app_->get_option(name));
}

Subcommand Subcommand::program() const {
  CLI::App* app = app_;
  while (app->get_parent() != nullptr) {
    app = app->get_parent();
  }
  return Subcommand(*app);
}

bool Subcommand::is_parsed() const {
  return app_->parsed();
}

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

} // namespace

CommandLine::CommandLine(const std::string& description, const std::string& version)
    : app_(std::make_unique<CLI::App>(description)) {
  app_->set_version_flag("--version", version);
  app_->require_subcommand(1);
  app_->fallthrough();
}

CommandLine::~CommandLine() = default;

Subcommand CommandLine::program() const {
  return Subcommand(*app_);
}

std::optional<int> CommandLine::parse(int argc, const char* const* argv) const {
  try {
    app_->parse(argc, argv);
    return std::nullopt;
  } catch (const CLI::CallForHelp& help) {
    return app_->exit(help);
  } catch (const CLI::CallForVersion& version) {
    return app_->exit(version);
  } catch (const CLI::ParseError& fault) {
    const CLI::App& command = reached(*app_);
    throw misunderstood({typed_name(command), commands_of(command), options_of(command),
                         app_->remaining(true), fault.what()});
  }
}

} // namespace dcuop::cli
