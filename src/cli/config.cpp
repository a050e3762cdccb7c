#include "dcuop/cli/config.hpp"

#include <algorithm>
#include <charconv>
#include <functional>
#include <string_view>
#include <utility>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "dcuop/support/toml_file.hpp"

namespace dcuop::cli {

namespace {

/// Fails with what is wrong with a value: each source of values names its own place.
using Fail = std::function<void(const std::string& what, const std::string& hint)>;

std::map<std::string, Value> defaults(const Environment& environment);
void read_user_file(std::map<std::string, Value>& values, const fs::path& file,
                    const Environment& environment);
void read_variables(std::map<std::string, Value>& values, const Environment& environment);
void read_command_line(std::map<std::string, Value>& values, const std::map<std::string, std::string>& given,
                       const Environment& environment);
std::vector<std::string> misspelt_variables(const Environment& environment);
fs::path user_directory(const Environment& environment, const char* variable, const char* below_home);
std::optional<std::uint64_t> number_of(std::string_view text);

} // namespace

Config Config::load(const Environment& environment, const std::map<std::string, std::string>& command_line) {
  Config config;
  config.values_ = defaults(environment);
  if (const fs::path directory = user_directory(environment, "XDG_CONFIG_HOME", ".config");
      !directory.empty()) {
    config.user_file_ = directory / "dcuop" / "config.toml";
    read_user_file(config.values_, config.user_file_, environment);
  }
  read_variables(config.values_, environment);
  read_command_line(config.values_, command_line, environment);
  config.remarks_ = misspelt_variables(environment);
  return config;
}

const std::vector<Setting>& settings() {
  static const std::vector<Setting> table = {
      {"cache_dir", "DCUOP_CACHE_DIR", SettingType::path, "", "$XDG_CACHE_HOME/dcuop, else ~/.cache/dcuop",
       "", "Where results are kept."},
      {"python", "DCUOP_PYTHON", SettingType::program, "", "the active venv or conda, else python3 on PATH",
       "", "The Python that extensions are for."},
      {"hipcc", "DCUOP_HIPCC", SettingType::program, "", "the HIP compiler that is found on this machine", "",
       "The compiler of HIP sources."},
      {"nvcc", "DCUOP_NVCC", SettingType::program, "", "the nvcc that is found on this machine", "",
       "The compiler of CUDA sources."},
      {"arch", "DCUOP_ARCH", SettingType::list, "", "PYTORCH_ROCM_ARCH, else the visible devices", "",
       "Target ids to build for, among those that an op supports; PYTORCH_ROCM_ARCH goes before "
       "config.toml."},
      {"backend", "DCUOP_BACKEND", SettingType::choice, "hip", "hip", "hip|host|cuda",
       "Which of its builds an op gets: [build] of its dcuop.toml is hip's, [backend.NAME] says the "
       "others'."},
      {"jobs", "DCUOP_JOBS", SettingType::integer, "", "what the processors and the memory allow", "",
       "How many compilers run at once."},
      {"build", "DCUOP_BUILD", SettingType::choice, "auto", "auto", "auto|never",
       "Whether a miss is built, or is an error (exit 5)."},
      {"lock_timeout", "DCUOP_LOCK_TIMEOUT", SettingType::duration, "", "none", "",
       "How long to wait for another process that builds the same before giving up (exit 4)."},
      {"lock_wait", "DCUOP_LOCK_WAIT", SettingType::duration, "10m", "10m", "",
       "How long to wait for another process that builds the same before compiling privately."},
      {"trace", "DCUOP_TRACE", SettingType::choice, "auto", "auto", "auto|never",
       "Whether the kernel is asked what compilers read (ptrace); never: depfiles are believed."},
      {"max_size", "DCUOP_MAX_SIZE", SettingType::size, "5GiB", "5GiB", "",
       "How large the cache may grow before the least recently used entries go."},
      {"system_caches", "DCUOP_SYSTEM_CACHES", SettingType::path_list, "", "none", "",
       "Read-only caches that are looked into as well, such as one built into a container image."},
      {"trusted_owners", "DCUOP_TRUSTED_OWNERS", SettingType::list, "", "root", "",
       "Users besides root and yourself whose system caches are accepted."},
      {"lang", "DCUOP_LANG", SettingType::choice, "auto", "auto", "auto|en|zh",
       "The language of reports; auto takes it from LC_ALL, LC_MESSAGES and LANG."},
  };
  return table;
}

const Value& Config::value(const std::string& name) const {
  return values_.at(name);
}

std::optional<std::int64_t> Config::integer(const std::string& name) const {
  const std::optional<std::uint64_t> number = number_of(value(name).text);
  return number ? std::optional(static_cast<std::int64_t>(*number)) : std::nullopt;
}

std::optional<std::uint64_t> Config::size(const std::string& name) const {
  const std::string& given = value(name).text;
  const std::optional<std::uint64_t> bytes = number_of(given);
  return bytes ? bytes : parse_size(given);
}

std::optional<std::int64_t> Config::seconds(const std::string& name) const {
  const std::string& given = value(name).text;
  if (const std::optional<std::uint64_t> plain = number_of(given)) {
    return static_cast<std::int64_t>(*plain);
  }
  const std::optional<std::chrono::seconds> duration = parse_duration(given);
  return duration ? std::optional<std::int64_t>(duration->count()) : std::nullopt;
}

fs::path Config::cache_dir() const {
  const std::string& given = value("cache_dir").text;
  if (given.empty()) {
    throw Error(ExitCode::environment, "no place for the cache: neither HOME nor XDG_CACHE_HOME is set",
                "set DCUOP_CACHE_DIR, or give --cache-dir");
  }
  return given;
}

namespace {

// A plain number of a text, at most what fits the signed types as well.
std::optional<std::uint64_t> number_of(std::string_view text) {
  std::int64_t number = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (error != std::errc{} || end != text.data() + text.size() || text.empty() || number < 0) {
    return std::nullopt;
  }
  return static_cast<std::uint64_t>(number);
}

// A relative XDG directory is to be ignored: https://specifications.freedesktop.org/basedir-spec/latest/
fs::path user_directory(const Environment& environment, const char* variable, const char* below_home) {
  if (const std::optional<std::string> given = environment.get_nonempty(variable)) {
    if (fs::path(*given).is_absolute()) {
      return *given;
    }
  }
  const std::optional<std::string> home = environment.get_nonempty("HOME");
  return home && fs::path(*home).is_absolute() ? fs::path(*home) / below_home : fs::path();
}

std::map<std::string, Value> defaults(const Environment& environment) {
  std::map<std::string, Value> values;
  for (const Setting& setting : settings()) {
    values[setting.name] = {setting.default_value, "default", {}};
  }
  if (const fs::path directory = user_directory(environment, "XDG_CACHE_HOME", ".cache");
      !directory.empty()) {
    values["cache_dir"].text = (directory / "dcuop").string();
  }
  return values;
}

// One value, from text ------------------------------------------------------------------------------------

std::vector<std::string> split_at_any(std::string_view text, std::string_view separators) {
  std::vector<std::string> parts;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find_first_of(separators), text.size());
    if (const std::string_view part = trimmed(text.substr(0, end)); !part.empty()) {
      parts.emplace_back(part);
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return parts;
}

std::string with_home(const std::string& path, const Environment& environment) {
  const std::optional<std::string> home = environment.get_nonempty("HOME");
  return home && (path == "~" || path.starts_with("~/")) ? *home + path.substr(1) : path;
}

std::string absolute_path(const std::string& path, const Environment& environment) {
  return fs::absolute(with_home(path, environment)).lexically_normal().string();
}

std::string program(const std::string& text, const Environment& environment) {
  // Neither resolved nor made normal: a wrapper may look at the name that it was called by.
  const std::string path = with_home(text, environment);
  return path.find('/') == std::string::npos ? path : fs::absolute(path).string();
}

std::string choice(const Setting& setting, const std::string& text, const Fail& fail) {
  const std::vector<std::string> choices = split(setting.choices, '|');
  if (std::find(choices.begin(), choices.end(), text) == choices.end()) {
    const std::optional<std::string> near = nearest(text, choices);
    fail(" must be one of " + join(choices, ", ") + ", not '" + text + "'" +
             (near ? "; did you mean '" + *near + "'?" : ""),
         "");
  }
  return text;
}

void check_number(SettingType type, const std::string& text, const Fail& fail) {
  const std::optional<std::uint64_t> plain = number_of(text);
  if (type == SettingType::integer && plain.value_or(0) < 1) {
    fail(" must be a whole number from 1, not '" + text + "'", "");
  }
  if (type == SettingType::size && !plain && !parse_size(text)) {
    fail(" must be a size, not '" + text + "'", "such as 512M, 5GiB, or a number of bytes");
  }
  if (type == SettingType::duration && !plain && !parse_duration(text)) {
    fail(" must be a duration, not '" + text + "'", "such as 45s, 10m, 2h, or a number of seconds");
  }
}

/// `items` are a list's; the others have one. Checks and normalises.
Value checked(const Setting& setting, std::vector<std::string> items, const Environment& environment,
              const Fail& fail) {
  Value value;
  switch (setting.type) {
  case SettingType::path_list:
    for (std::string& item : items) {
      item = absolute_path(item, environment);
    }
    [[fallthrough]];
  case SettingType::list:
    value.text = join(items, ",");
    value.items = std::move(items);
    return value;
  case SettingType::path:
    value.text = absolute_path(items.front(), environment);
    return value;
  case SettingType::program:
    value.text = program(items.front(), environment);
    return value;
  case SettingType::choice:
    value.text = choice(setting, items.front(), fail);
    return value;
  case SettingType::integer:
  case SettingType::size:
  case SettingType::duration:
    check_number(setting.type, items.front(), fail);
    value.text = items.front();
    return value;
  }
  return value;
}

Value from_text(const Setting& setting, const std::string& text, const Environment& environment,
                const std::string& origin) {
  std::vector<std::string> items = {text};
  if (setting.type == SettingType::list) {
    items = split_at_any(text, ",; \t\n");
  } else if (setting.type == SettingType::path_list) {
    items = split_at_any(text, ":;,");
  }
  Value value =
      checked(setting, std::move(items), environment, [&](const std::string& what, const std::string& hint) {
        throw Error(ExitCode::usage, origin + what, hint);
      });
  value.origin = origin;
  return value;
}

// The sources of values -----------------------------------------------------------------------------------

const Setting* find_setting(const std::string& name) {
  const auto found = std::find_if(settings().begin(), settings().end(),
                                  [&](const Setting& setting) { return setting.name == name; });
  return found == settings().end() ? nullptr : &*found;
}

bool is_list(const Setting& setting) {
  return setting.type == SettingType::list || setting.type == SettingType::path_list;
}

bool is_number(const Setting& setting) {
  return setting.type == SettingType::integer || setting.type == SettingType::size ||
         setting.type == SettingType::duration;
}

// A config file acts wherever one stands, so what it names must not depend on that.
void check_independent(const TomlFile& file, const Setting& setting, const TomlNode& item) {
  const bool is_path = setting.type == SettingType::path || setting.type == SettingType::path_list;
  const bool is_program_path =
      setting.type == SettingType::program && item.text.find('/') != std::string::npos;
  if ((is_path || is_program_path) && item.text.front() != '/' && !item.text.starts_with("~/")) {
    file.fail(item.place,
              "'" + setting.name + "' must be an absolute path or begin with ~/, not '" + item.text + "'");
  }
}

Value from_node(const TomlFile& file, const Setting& setting, const TomlNode& node,
                const Environment& environment) {
  const std::string name = "'" + setting.name + "'";
  std::vector<TomlNode> nodes = {node};
  if (is_list(setting) && node.type == TomlNode::Type::array) {
    nodes = file.texts_of(node, name);
  }
  std::vector<std::string> items;
  for (const TomlNode& item : nodes) {
    if (is_number(setting) && item.type == TomlNode::Type::integer) {
      items.push_back(std::to_string(item.integer));
      continue;
    }
    items.push_back(file.text_of(item, name));
    check_independent(file, setting, item);
  }
  if (is_list(setting) && node.type == TomlNode::Type::text) {
    items = split_at_any(node.text, setting.type == SettingType::list ? ",; \t\n" : ":;,");
  }
  return checked(
      setting, std::move(items), environment,
      [&](const std::string& what, const std::string& hint) { file.fail(node.place, name + what, hint); });
}

void read_user_file(std::map<std::string, Value>& values, const fs::path& path,
                    const Environment& environment) {
  if (!identity_of(path)) {
    return;
  }
  const TomlFile file = TomlFile::read(path);
  for (const TomlMember& member : file.root().members) {
    const Setting* setting = find_setting(member.key);
    if (setting == nullptr) {
      std::vector<std::string> names;
      std::transform(settings().begin(), settings().end(), std::back_inserter(names),
                     [](const Setting& known) { return known.name; });
      const std::optional<std::string> near = nearest(member.key, names);
      file.fail(member.place,
                "unknown key '" + member.key + "'" + (near ? "; did you mean '" + *near + "'?" : ""),
                near ? "" : "the keys are: " + join(names, ", "));
    }
    Value value = from_node(file, *setting, member.value, environment);
    value.origin = path.string() + ":" + std::to_string(member.place.line);
    values[member.key] = std::move(value);
  }
}

void read_variables(std::map<std::string, Value>& values, const Environment& environment) {
  for (const Setting& setting : settings()) {
    if (const std::optional<std::string> text = environment.get_nonempty(setting.variable)) {
      values[setting.name] = from_text(setting, *text, environment, setting.variable);
    }
  }
}

void read_command_line(std::map<std::string, Value>& values, const std::map<std::string, std::string>& given,
                       const Environment& environment) {
  for (const auto& [name, text] : given) {
    const Setting* setting = find_setting(name);
    std::string option = "--" + name;
    std::replace(option.begin(), option.end(), '_', '-');
    if (setting == nullptr) {
      throw Error(ExitCode::usage, option + " names no setting");
    }
    if (text.empty()) {
      throw Error(ExitCode::usage, option + " must not be empty");
    }
    values[name] = from_text(*setting, text, environment, option);
  }
}

std::vector<std::string> misspelt_variables(const Environment& environment) {
  std::vector<std::string> known = {"DCUOP_LOG"}; // read by configure_log
  std::transform(settings().begin(), settings().end(), std::back_inserter(known),
                 [](const Setting& setting) { return setting.variable; });
  std::vector<std::string> remarks;
  for (const auto& [name, value] : environment.starting_with("DCUOP_")) {
    if (std::find(known.begin(), known.end(), name) != known.end()) {
      continue;
    }
    if (const std::optional<std::string> near = nearest(name, known)) {
      std::string remark = "the environment has " + name;
      remark += ", which dcuop does not read; did you mean " + *near + "?";
      remarks.push_back(std::move(remark));
    }
  }
  return remarks;
}

} // namespace

} // namespace dcuop::cli
