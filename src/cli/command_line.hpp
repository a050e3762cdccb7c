#pragma once
// Subcommands and their options. CLI11 does the work, in command_line.cpp alone: a file that includes it takes five
// seconds more to compile.

#include <functional>
#include <memory>
#include <optional>
#include <string>
#include <vector>

namespace CLI {
class App;
class Option;
} // namespace CLI

namespace dcuop::cli {

/// Refers to an option or a flag; lives as long as its CommandLine. What changes it returns it, to be changed further.
class Option {
 public:
  explicit Option(CLI::Option& option) : option_(&option) {}

  /// What --help shows for its value.
  Option type_name(const std::string& name) const;
  Option description(const std::string& text) const;
  Option required() const;
  /// The next word is not its value too: "--arch gfx906 affine" names an op.
  Option one_word() const;
  /// As one_word, and commas separate values.
  Option one_list() const;
  /// The value may be left out, and is empty then.
  Option optional_value() const;
  /// --help shows the value that the variable has now.
  Option shows_default() const;

  /// --help does not show it.
  Option hidden() const;

  Option in_range(int least, int most) const;
  Option in_range(unsigned least, unsigned most) const;
  Option positive() const;
  Option one_of(const std::vector<std::string>& values) const;
  /// `fault_of` says what is wrong with a value; empty: nothing.
  Option check(std::function<std::string(const std::string&)> fault_of) const;

  Option needs(Option other) const;
  Option excludes(Option other) const;
  /// As excludes, but --help says so here alone.
  Option excludes_quietly(Option other) const;

  [[nodiscard]] bool is_given() const;

 private:
  CLI::Option* option_;
};

/// Refers to a command, the program's own included; lives as long as its CommandLine.
class Subcommand {
 public:
  explicit Subcommand(CLI::App& app) : app_(&app) {}

  /// Adds an option, or without dashes a place for words. `into` must live as long as the CommandLine. Defined for
  /// strings, optional strings, vectors of strings, int, std::int64_t, std::uint32_t, std::uint64_t and double.
  template <class Value>
  Option option(const std::string& names, Value& into, const std::string& meaning) const;
  /// An option whose text is handed over, even when it is empty: an optional string stays without a value then.
  Option text_option(const std::string& name, const std::function<void(const std::string&)>& take,
                     const std::string& meaning) const;
  Option flag(const std::string& names, bool& into, const std::string& meaning) const;

  /// A command below this one; options of those above are taken too.
  [[nodiscard]] Subcommand subcommand(const std::string& name, const std::string& summary) const;
  /// One of those below must be named.
  void require_subcommand() const;
  /// What --help shows last.
  void footer(const std::string& text) const;

  /// By "--name", which must be there.
  [[nodiscard]] Option named(const std::string& name) const;
  void remove(const std::string& name) const;
  /// The one above all.
  [[nodiscard]] Subcommand program() const;
  [[nodiscard]] bool is_parsed() const;

 private:
  CLI::App* app_;
};

/// The program's command and all below it.
class CommandLine {
 public:
  CommandLine(const std::string& description, const std::string& version);
  ~CommandLine();
  CommandLine(const CommandLine&) = delete;
  CommandLine& operator=(const CommandLine&) = delete;

  [[nodiscard]] Subcommand program() const;
  /// The exit code when --help or --version was asked for, and printed. Throws Error(usage).
  [[nodiscard]] std::optional<int> parse(int argc, const char* const* argv) const;

 private:
  std::unique_ptr<CLI::App> app_;
};

} // namespace dcuop::cli
