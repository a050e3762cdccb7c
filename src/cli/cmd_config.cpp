// dcuop config: which settings hold, and where each comes from.

#include <algorithm>

#include <nlohmann/json.hpp>

#include "command.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {

namespace {

constexpr const char* examples =
    "  dcuop config                 every setting\n"
    "  dcuop config --origin        and where each comes from\n"
    "  dcuop config jobs            one of them: its value alone\n"
    "  DCUOP_JOBS=4 dcuop config --origin jobs\n"
    "A setting is taken from the command line, else from its DCUOP_* variable, else from\n"
    "~/.config/dcuop/config.toml (jobs = 4), else its default holds.";

struct Request {
  std::string name; ///< "" for all
  bool origin = false;
};

std::vector<Setting> asked_for(const Request& request) {
  std::vector<Setting> asked;
  std::vector<std::string> names;
  for (const Setting& setting : settings()) {
    names.push_back(setting.name);
    if (request.name.empty() || request.name == setting.name) {
      asked.push_back(setting);
    }
  }
  if (asked.empty()) {
    const std::optional<std::string> near = nearest(request.name, names);
    throw Error(ExitCode::usage,
                "unknown setting '" + request.name + "'" + (near ? "; did you mean '" + *near + "'?" : ""),
                near ? "" : "the settings are: " + join(names, ", "));
  }
  return asked;
}

nlohmann::json to_json(const Setting& setting, const Value& value) {
  nlohmann::json object = {{"origin", value.origin},
                           {"variable", setting.variable},
                           {"default", setting.default_text},
                           {"meaning", setting.meaning}};
  if (setting.type == SettingType::list || setting.type == SettingType::path_list) {
    object["value"] = value.items;
  } else {
    // null: nothing is set, and what holds is worked out where it is needed.
    object["value"] = value.text.empty() ? nlohmann::json() : nlohmann::json(value.text);
  }
  return object;
}

void print_json(Context& context, const std::vector<Setting>& asked) {
  nlohmann::json document = {{"schema", 1}, {"user_file", context.config.user_file().string()}};
  for (const Setting& setting : asked) {
    document["settings"][setting.name] = to_json(setting, context.config.value(setting.name));
  }
  context.terminal.answer(json_text(document, 2));
}

// In parentheses, so that nobody takes the explanation for a value.
std::string shown_value(const Setting& setting, const Value& value) {
  return value.text.empty() ? "(" + setting.default_text + ")" : value.text;
}

void print_lines(Context& context, const std::vector<Setting>& asked, bool origin) {
  std::size_t name_width = 0;
  std::size_t value_width = 0;
  for (const Setting& setting : asked) {
    name_width = std::max(name_width, setting.name.size());
    value_width = std::max(value_width, shown_value(setting, context.config.value(setting.name)).size());
  }
  for (const Setting& setting : asked) {
    const Value& value = context.config.value(setting.name);
    const std::string shown = shown_value(setting, value);
    std::string line = setting.name + std::string(name_width - setting.name.size(), ' ') + " = " + shown;
    if (origin) {
      line += std::string(value_width - shown.size() + 2, ' ');
      line += context.terminal.styled(value.origin, Style::dim);
    }
    context.terminal.answer(line);
  }
}

ExitCode run_config(Context& context, const Request& request) {
  const std::vector<Setting> asked = asked_for(request);
  if (context.json()) {
    print_json(context, asked);
  } else if (!request.name.empty() && !request.origin) {
    context.terminal.answer(context.config.text(request.name));
  } else {
    print_lines(context, asked, request.origin);
  }
  return ExitCode::ok;
}

} // namespace

void add_config(Commands& commands) {
  const auto request = std::make_shared<Request>();
  const Subcommand command = commands.add("config", "Show the settings that hold", examples);
  command.option("NAME", request->name, "One setting");
  command.flag("--origin", request->origin, "Also where each comes from");
  commands.run(command, [request](Context& context) { return run_config(context, *request); });
}

} // namespace dcuop::cli
