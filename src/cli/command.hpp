#pragma once
// What a subcommand is made of: parse -> immutable request -> call -> print. A subcommand is one file,
// src/cli/cmd_<name>.cpp, with one function add_<name>() that is listed in main.cpp.

#include <filesystem>
#include <functional>
#include <memory>
#include <string>
#include <vector>

#include "command_line.hpp"
#include "dcuop/cli/config.hpp"
#include "dcuop/probe/machine.hpp"
#include "dcuop/probe/python.hpp"
#include "dcuop/support/environment.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/process.hpp"
#include "dcuop/support/terminal.hpp"

namespace dcuop::store {
class Store;
}

namespace dcuop::cli {

/// What every subcommand is run with. Lives in main.
struct Context {
  const Environment& environment;
  const std::filesystem::path working_directory;
  SystemProcessRunner& processes;
  Terminal& terminal;
  const Config& config;
  /// What was asked of `environment` so far.
  const std::shared_ptr<const AskedVariables> asked;

  /// Opens the cache (cached after the first call). Throws Error(environment).
  store::Store& store();
  /// This machine, with its memos in the cache when that can be opened, else without.
  [[nodiscard]] probe::Machine machine();
  /// --lang > DCUOP_LANG > LC_ALL, LC_MESSAGES, LANG: true for Chinese.
  [[nodiscard]] bool chinese() const;
  /// --python or the user's configuration; DCUOP_PYTHON is the probe's to read.
  [[nodiscard]] probe::PythonWish python_wish() const;
  [[nodiscard]] bool json() const { return terminal.options().json; }

  std::vector<std::string> arguments; ///< of this process
  std::string standard_input;         ///< what was read from it
  std::shared_ptr<store::Store> opened_store;
  std::unique_ptr<MemoStore> memos;
};

using Run = std::function<ExitCode(Context&)>;

/// Collects the subcommands; main runs the one that was parsed.
struct Commands {
  Subcommand program;
  std::vector<std::pair<Subcommand, Run>> all;
  /// A subcommand with its one-line summary and, after the options in --help, its examples.
  [[nodiscard]] Subcommand add(const std::string& name, const std::string& summary,
                               const std::string& examples) const;
  void run(Subcommand subcommand, Run function) { all.emplace_back(subcommand, std::move(function)); }
};

void add_build(Commands& commands);
void add_new(Commands& commands);
void add_key(Commands& commands);
void add_explain(Commands& commands);
void add_list(Commands& commands);
void add_clean(Commands& commands);
void add_cache(Commands& commands);
void add_config(Commands& commands);
void add_env(Commands& commands);
void add_doctor(Commands& commands);
void add_rule(Commands& commands);
void add_check(Commands& commands);
void add_inspect(Commands& commands);
void add_superkernel(Commands& commands);
void add_verify(Commands& commands);

} // namespace dcuop::cli
