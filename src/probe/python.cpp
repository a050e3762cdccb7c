#include "dcuop/probe/python.hpp"

#include <algorithm>
#include <array>
#include <system_error>

#include <nlohmann/json.hpp>

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"
#include "python_files.hpp"

namespace dcuop::probe {

namespace {

using nlohmann::json;

struct Choice {
  fs::path path;
  std::string origin;
};

/// How far an interpreter's answer can be remembered. A script can be anything: it is asked each time, unless
/// it is one of pyenv's shims, whose rules are known.
enum class Kind { program, pyenv_shim, script };

Choice choose(const Machine& machine, const PythonWish& wish);
Kind kind_of(const fs::path& path);
Digest question_of(const Machine& machine, const Choice& choice, Kind kind);
std::string ask(const Machine& machine, const Choice& choice);
std::vector<fs::path> witnesses_of(const Machine& machine, const Choice& choice, Kind kind,
                                   const std::string& answer);
std::string checked_answer(const PythonWish& wish);
Python python_from(const std::string& answer, const Choice& choice, Kind kind);

} // namespace

Python find_python(const Machine& machine, const PythonWish& wish) {
  if (!wish.answer.empty()) {
    return python_from(checked_answer(wish), {wish.path, wish.origin}, Kind::program);
  }
  if (machine.is_saved) {
    return python_in_tree(machine, wish);
  }
  const Choice choice = choose(machine, wish);
  const Kind kind = kind_of(choice.path);
  if (kind == Kind::script) {
    return python_from(ask(machine, choice), choice, kind);
  }
  const std::string answer = machine.memos.recall("python", question_of(machine, choice, kind), [&] {
    std::string said = ask(machine, choice);
    std::vector<fs::path> witnesses = witnesses_of(machine, choice, kind, said);
    return Answer{std::move(said), std::move(witnesses)};
  });
  return python_from(answer, choice, kind);
}

namespace {

bool is_present(const fs::path& path) {
  std::error_code ignored;
  return fs::exists(path, ignored);
}

fs::path named(const Machine& machine, const std::string& name, const std::string& origin) {
  const auto found = machine.environment.find_program(
      name.find('/') == std::string::npos ? name : absolute_from(name, machine.working_directory).string());
  if (!found) {
    throw Error(ExitCode::environment, "no Python at '" + name + "' (from " + origin + ")",
                "Name an interpreter that exists and is executable: --python PATH");
  }
  return absolute_from(*found, machine.working_directory);
}

Choice choose(const Machine& machine, const PythonWish& wish) {
  if (!wish.path.empty()) {
    return {named(machine, wish.path, wish.origin), wish.origin};
  }
  if (const auto value = machine.environment.get_nonempty("DCUOP_PYTHON")) {
    return {named(machine, *value, "DCUOP_PYTHON"), "DCUOP_PYTHON"};
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto prefix = machine.environment.get_nonempty(variable)) {
      fs::path candidate = absolute_from(*prefix, machine.working_directory) / "bin/python3";
      if (is_present(candidate)) {
        return {std::move(candidate), variable};
      }
    }
  }
  if (const auto found = machine.environment.find_program("python3")) {
    return {absolute_from(*found, machine.working_directory), "python3 on PATH"};
  }
  throw Error(
      ExitCode::environment,
      "no Python: no --python, no DCUOP_PYTHON, no active venv or conda environment, no python3 on PATH",
      "Say which interpreter the operator is for: --python /path/to/python3");
}

Kind kind_of(const fs::path& path) {
  constexpr std::string_view elf_magic = "\x7f"
                                         "ELF";
  const std::string start = read_file_prefix(path, 4096).value_or("");
  if (start.starts_with(elf_magic)) {
    return Kind::program;
  }
  const bool is_shim = path.parent_path().filename() == "shims" && start.find("pyenv") != std::string::npos;
  return is_shim ? Kind::pyenv_shim : Kind::script;
}

/// Variables that change sys.path, sysconfig, or which libpython is loaded.
constexpr std::array python_variables = {
    "PYTHONPATH",     "PYTHONHOME",      "PYTHONUSERBASE", "PYTHONNOUSERSITE", "PYTHONPLATLIBDIR",
    "PYTHONSAFEPATH", "LD_LIBRARY_PATH", "HOME",           "VIRTUAL_ENV",      "CONDA_PREFIX"};
constexpr std::array pyenv_variables = {"PYENV_VERSION", "PYENV_DIR", "PYENV_ROOT", "PATH"};

/// Relative entries of PYTHONPATH are taken from the working directory; an empty one is that directory.
bool has_relative_entry(const std::string& search_path) {
  return !search_path.starts_with('/') || search_path.ends_with(':') ||
         search_path.find("::") != std::string::npos ||
         std::ranges::any_of(split(search_path, ':'), [](const std::string& s) { return s[0] != '/'; });
}

Digest question_of(const Machine& machine, const Choice& choice, Kind kind) {
  Hasher hasher;
  hasher.number("version", 1);
  hasher.text("path", choice.path.string());
  // Two installations can hold the same bytes; sys.prefix follows from where the real file lies.
  std::error_code ignored;
  hasher.text("real path", fs::canonical(choice.path, ignored).string());
  const auto add = [&](const char* variable) {
    if (const auto value = machine.environment.get(variable)) {
      hasher.text(variable, *value);
    }
  };
  std::ranges::for_each(python_variables, add);
  const auto python_path = machine.environment.get_nonempty("PYTHONPATH");
  const bool here_matters = python_path && has_relative_entry(*python_path);
  if (kind == Kind::pyenv_shim) {
    std::ranges::for_each(pyenv_variables, add);
  }
  if (kind == Kind::pyenv_shim || here_matters) {
    hasher.text("working directory", machine.working_directory.string());
  }
  return hasher.finish();
}

/// sys.path without the working directory that -c puts first: a json.py that lies there is not run. Paths that are no
/// UTF-8 are left out: JSON could not carry them.
constexpr const char* script = R"py(
import sys
sys.path[:] = [path for path in sys.path if path]
import json, os, site, sysconfig
def text(path):
    try:
        return os.fsencode(path).decode('utf-8')
    except (TypeError, UnicodeDecodeError):
        return ''
def texts(paths):
    return [t for t in map(text, paths) if t]
def site_directories():
    found = list(getattr(site, 'getsitepackages', list)())
    if site.ENABLE_USER_SITE:
        found.append(site.getusersitepackages())
    return found
config = sysconfig.get_config_var
sites = site_directories()
facts = {
    'executable': text(sys.executable),
    'version': sys.version.split()[0],
    'implementation': sys.implementation.name,
    'ext_suffix': config('EXT_SUFFIX') or '',
    'soabi': config('SOABI') or '',
    'include': text(sysconfig.get_path('include')),
    'search_path': texts(sys.path),
    'prefix': text(sys.prefix),
    'base_prefix': text(sys.base_prefix),
    'sites': texts(sites),
    'path_files': texts(os.path.join(d, n) for d in sites if os.path.isdir(d)
                        for n in sorted(os.listdir(d)) if n.endswith('.pth')),
    'modules': texts(getattr(m, '__file__', None) for n, m in list(sys.modules.items())
                     if n.startswith('_sysconfigdata') or n in ('sitecustomize', 'usercustomize')),
}
print('\n' + json.dumps(facts))
)py";

[[noreturn]] void fail(const Choice& choice, const std::string& what, const ProcessResult& result) {
  std::vector<std::string> lines =
      split(result.diagnostics.empty() ? result.output : result.diagnostics, '\n');
  // A shim says the cause first, a traceback last.
  constexpr std::size_t shown_at_the_end = 2;
  if (lines.size() > 1 + shown_at_the_end) {
    lines.erase(lines.begin() + 1, lines.end() - shown_at_the_end);
  }
  std::string said = join(lines, " | ").substr(0, 400);
  throw Error(ExitCode::environment,
              "the Python " + choice.path.string() + " (from " + choice.origin + ") " + what +
                  (said.empty() ? std::string("; it printed nothing") : "; it printed: " + said),
              "Check it with: " + shell_quoted({choice.path.string(), "-c", "import sysconfig"}) +
                  ", or name another interpreter with --python");
}

/// The last line of its output that is the JSON object: a sitecustomize may have printed before it.
std::string ask(const Machine& machine, const Choice& choice) {
  constexpr std::chrono::seconds limit{20};
  Command command;
  command.argv = {choice.path.string(), "-c", script};
  command.working_directory = machine.working_directory;
  command.environment = machine.environment;
  command.limit = limit;
  const ProcessResult result = machine.processes.run(command);
  if (result.timed_out) {
    fail(choice, "did not answer within " + std::to_string(limit.count()) + " s", result);
  }
  if (!result.ok()) {
    fail(choice, "does not run (exit code " + std::to_string(result.exit_code) + ")", result);
  }
  const std::vector<std::string> lines = split(result.output, '\n');
  std::string last = lines.empty() ? "" : lines.back();
  const json facts = json_or_discarded(last);
  if (!facts.is_object() || !facts.contains("search_path") || !facts.contains("modules")) {
    fail(choice, "does not answer as a Python 3", result);
  }
  if (facts.value("ext_suffix", "").empty()) {
    fail(choice, "has no EXT_SUFFIX in its sysconfig", result);
  }
  return last;
}

std::string checked_answer(const PythonWish& wish) {
  const json facts = shallow_json(wish.answer);
  constexpr std::array texts = {"executable", "version", "implementation", "ext_suffix",
                                "soabi",      "include", "prefix",         "base_prefix"};
  const auto is_text = [&](const char* key) { return facts.contains(key) && facts[key].is_string(); };
  const bool is_complete =
      facts.is_object() && std::ranges::all_of(texts, is_text) && facts.contains("search_path") &&
      facts["search_path"].is_array() &&
      std::ranges::all_of(facts["search_path"], [](const json& path) { return path.is_string(); });
  if (!is_complete || facts["ext_suffix"].get<std::string>().empty()) {
    throw Error(ExitCode::usage, "\"python\" in the description of " + wish.origin + " is incomplete",
                "leave it out, and the interpreter is asked");
  }
  return wish.answer;
}

std::vector<fs::path> paths_in(const json& facts, const char* key) {
  std::vector<fs::path> paths;
  for (const json& path : facts.at(key)) {
    paths.emplace_back(path.get<std::string>());
  }
  return paths;
}

void add_pyenv_files(const Machine& machine, const Choice& choice, std::vector<fs::path>& into) {
  const fs::path root = choice.path.parent_path().parent_path();
  into.push_back(root / "version");
  into.push_back(root / "versions"); // "3.11" means the latest of the installed ones
  const fs::path start = machine.environment.get_nonempty("PYENV_DIR").value_or(machine.working_directory);
  for (fs::path directory = start; !directory.empty(); directory = directory.parent_path()) {
    into.push_back(directory / ".python-version");
    if (is_present(into.back()) || directory == directory.root_path()) {
      break;
    }
  }
}

/// What sys.path and sysconfig were made from (https://docs.python.org/3/library/site.html). The site
/// directories are listed because a new .pth file can extend sys.path; the other directories are not, as
/// people work in them (PYTHONPATH).
std::vector<fs::path> witnesses_of(const Machine& machine, const Choice& choice, Kind kind,
                                   const std::string& answer) {
  const json facts = json_from(answer);
  std::vector<fs::path> witnesses = {choice.path};
  fs::path program = choice.path;
  if (kind == Kind::pyenv_shim) {
    add_pyenv_files(machine, choice, witnesses);
    program = facts.at("executable").get<std::string>();
    witnesses.push_back(program);
  }
  witnesses.push_back(program.parent_path() / "pyvenv.cfg");
  witnesses.push_back(program.parent_path().parent_path() / "pyvenv.cfg");
  for (const char* key : {"sites", "path_files", "modules"}) {
    for (fs::path& path : paths_in(facts, key)) {
      witnesses.push_back(std::move(path));
    }
  }
  for (const fs::path& directory : paths_in(facts, "search_path")) {
    witnesses.push_back(directory / "sitecustomize.py");
    witnesses.push_back(directory / "usercustomize.py");
  }
  std::sort(witnesses.begin(), witnesses.end());
  witnesses.erase(std::unique(witnesses.begin(), witnesses.end()), witnesses.end());
  return witnesses;
}

Python python_from(const std::string& answer, const Choice& choice, Kind kind) {
  const json facts = json_from(answer);
  const auto text = [&](const char* key) { return facts.value(key, std::string()); };
  Python python;
  const std::string executable = text("executable");
  python.executable = kind == Kind::program || executable.empty() ? choice.path : fs::path(executable);
  python.origin = choice.origin;
  python.version = text("version");
  python.implementation = text("implementation");
  python.ext_suffix = text("ext_suffix");
  python.soabi = text("soabi");
  python.include_dir = text("include");
  python.prefix = text("prefix");
  python.base_prefix = text("base_prefix");
  for (fs::path& directory : paths_in(facts, "search_path")) {
    std::error_code ignored;
    if (fs::is_directory(directory, ignored)) {
      python.search_path.push_back(std::move(directory));
    }
  }
  return python;
}

} // namespace

} // namespace dcuop::probe
