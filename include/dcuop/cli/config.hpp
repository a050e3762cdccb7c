#pragma once
// Settings: command line > DCUOP_* environment > user config.toml > default. One table drives parsing,
// environment names, defaults, the documentation and `dcuop config --origin`.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include "dcuop/support/environment.hpp"

namespace dcuop::cli {

enum class SettingType {
  program,   ///< a name on PATH, or a path
  path,      ///< "~/" is the home directory
  path_list, ///< ':' ';' or ',' separated: a path may hold spaces
  list,      ///< ',' ';' or white space separated
  integer,   ///< 1 or more
  size,      ///< "5GiB", "512M"; a plain number is bytes
  duration,  ///< "10m", "45s"; a plain number is seconds
  choice,
};

struct Setting {
  std::string name;     ///< "cache_dir"; the key in config.toml
  std::string variable; ///< "DCUOP_CACHE_DIR"
  SettingType type = SettingType::choice;
  std::string default_value; ///< what holds when nothing is set; "" when that is worked out where it is used
  std::string default_text;  ///< the default for people ("$XDG_CACHE_HOME/dcuop, else ~/.cache/dcuop")
  std::string choices;       ///< of a choice: "auto|never"
  std::string meaning;       ///< one sentence
};

/// cache_dir, python, hipcc, nvcc, arch, backend (hip|host|cuda), jobs, build (auto|never), lock_timeout, lock_wait, max_size,
/// system_caches, trusted_owners, lang (auto|en|zh).
[[nodiscard]] const std::vector<Setting>& settings();

struct Value {
  std::string text;   ///< a list's items joined with ','; "" when not set and worked out elsewhere
  std::string origin; ///< "--cache-dir", "DCUOP_CACHE_DIR", "/home/x/.config/dcuop/config.toml:3", "default"
  std::vector<std::string> items; ///< of a list
};

class Config {
 public:
  /// `command_line`: setting name -> text, for those given. Throws Error(usage) with the place for an unknown
  /// key (and the nearest one), a wrong type or a value out of its choices. An empty variable counts as not
  /// set.
  [[nodiscard]] static Config load(const Environment& environment,
                                   const std::map<std::string, std::string>& command_line);

  /// Of a name in settings(); another is a fault of the program (std::out_of_range).
  [[nodiscard]] const Value& value(const std::string& name) const;
  [[nodiscard]] std::string text(const std::string& name) const { return value(name).text; }
  [[nodiscard]] std::vector<std::string> list(const std::string& name) const { return value(name).items; }
  [[nodiscard]] std::optional<std::int64_t> integer(const std::string& name) const; ///< nullopt when empty
  [[nodiscard]] std::optional<std::uint64_t> size(const std::string& name) const;   ///< bytes
  [[nodiscard]] std::optional<std::int64_t> seconds(const std::string& name) const;
  /// cache_dir with its default worked out ($XDG_CACHE_HOME/dcuop, ~/.cache/dcuop), absolute. Throws
  /// Error(environment) when there is no home directory to take it from.
  [[nodiscard]] std::filesystem::path cache_dir() const;
  /// Where the user's file is looked for: $XDG_CONFIG_HOME/dcuop/config.toml, ~/.config/dcuop/config.toml;
  /// empty without a home directory.
  [[nodiscard]] const std::filesystem::path& user_file() const { return user_file_; }
  /// What the user should know and no command depends on: variables that look like a misspelt DCUOP_* one.
  [[nodiscard]] const std::vector<std::string>& remarks() const { return remarks_; }

 private:
  std::map<std::string, Value> values_;
  std::vector<std::string> remarks_;
  std::filesystem::path user_file_;
};

} // namespace dcuop::cli
