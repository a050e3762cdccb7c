#include "description.hpp"

#include <chrono>
#include <iostream>

#include <nlohmann/json.hpp>

#include "dcuop/op/described.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/log.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {

namespace {

using nlohmann::json;

constexpr std::size_t largest_description = std::size_t{256} << 20U;
/// It imports torch, and what the arguments need besides: minutes on a cold network file system.
constexpr std::chrono::seconds collecting_limit{300};

void check_size(const std::string& shown, const std::string& text) {
  if (text.size() > largest_description) {
    throw Error(ExitCode::usage, shown + " is larger than " + human_size(largest_description),
                "that is no description of ops");
  }
}

std::string text_of_file(const std::string& from, const fs::path& path) {
  std::optional<std::string> text = read_file_prefix(path, largest_description + 1);
  if (!text) {
    throw Error(ExitCode::usage, "cannot read " + from,
                "--from names a JSON file, - for stdin, or a Python file");
  }
  check_size(from, *text);
  return std::move(*text);
}

std::string text_on_stdin(Context& context) {
  std::string text;
  for (char block[1U << 16U]; std::cin.read(block, sizeof block) || std::cin.gcount() > 0;) {
    text.append(block, static_cast<std::size_t>(std::cin.gcount()));
    check_size("the description on stdin", text);
  }
  context.standard_input = text;
  return text;
}

/// The calls of load() in a Python file. Nothing of it is run but what their arguments need.
std::string collected(Context& context, const fs::path& file) {
  const probe::Machine machine = context.machine();
  const probe::Python python = probe::find_python(machine, context.python_wish());
  Command command;
  // Not with -m: a json.py in the working directory would be run.
  command.argv = {python.executable.string(), "-c",
                  "import sys; sys.path = [path for path in sys.path if path]; "
                  "from dcuop._collect import main; sys.exit(main(sys.argv[1:]))",
                  file.string()};
  command.limit = collecting_limit;
  command.working_directory = context.working_directory;
  command.environment = context.environment;
  const ProcessResult result = machine.processes.run(command);
  if (result.ok()) {
    if (!result.diagnostics.empty()) {
      context.terminal.remark(std::string(trimmed(result.diagnostics)));
    }
    return result.output;
  }
  if (result.timed_out) {
    throw Error(ExitCode::usage,
                "reading the calls of load() in " + file.string() + " took longer than " +
                    std::to_string(collecting_limit.count()) + " s",
                "something that their arguments need does not end");
  }
  std::vector<std::string> lines = split(std::string(trimmed(result.diagnostics)), '\n');
  if (result.diagnostics.find("No module named 'dcuop'") != std::string::npos ||
      result.diagnostics.find("No module named dcuop") != std::string::npos) {
    throw Error(ExitCode::environment,
                python.executable.string() + " has no dcuop module to read " + file.string(),
                "install it there (pip install .), or name its directory in PYTHONPATH");
  }
  const std::string last = lines.empty() ? "no reason given" : lines.back();
  if (lines.size() > 1) {
    lines.pop_back();
    context.terminal.remark(join(lines, "\n"));
  }
  throw Error(ExitCode::usage, "the calls of load() in " + file.string() + " cannot be read: " + last);
}

std::string description_text(Context& context, const std::string& from) {
  if (from == "-") {
    return text_on_stdin(context);
  }
  const fs::path path = absolute_from(from, context.working_directory);
  if (path.extension() != ".py") {
    return text_of_file(from, path);
  }
  static_cast<void>(text_of_file(from, path));
  return collected(context, path);
}

} // namespace

Described read_description(Context& context, const std::string& from, op::Backend backend) {
  const std::string shown = from == "-" ? "the description on stdin" : from;
  const json document = shallow_json(description_text(context, from));
  if (!document.is_object() || !document.contains("ops")) {
    throw Error(ExitCode::usage, shown + " is no JSON object with \"ops\"",
                "docs/json.md says what it holds");
  }
  Described described;
  const auto place = [&context](const op::InlineFiles& files) { return context.store().place_files(files); };
  described.ops = op::read_described(document["ops"], place, backend);
  if (const auto python = document.find("python"); python != document.end() && python->is_object()) {
    const auto executable = python->find("executable");
    if (executable != python->end() && executable->is_string()) {
      described.python = probe::PythonWish{executable->get<std::string>(), shown};
      described.python->answer = json_text(*python);
    }
  }
  return described;
}

} // namespace dcuop::cli
