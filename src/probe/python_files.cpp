#include "python_files.hpp"

#include <algorithm>
#include <array>
#include <set>
#include <string_view>

#include "dcuop/elf/image.hpp"
#include "dcuop/elf/loader.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::probe {

namespace {

/// An interpreter by the name that it has in the tree: "/usr/bin/python3".
struct Choice {
  fs::path name;
  std::string origin;
  bool is_guess = false;
};

class Reader {
 public:
  Reader(const fs::path& root, const Environment& environment, const Choice& choice)
      : root_(root), environment_(environment), name_(choice.name), file_(there(choice.name)) {
    python_.executable = file_;
    python_.origin = choice.origin;
    python_.implementation = "cpython";
  }

  Python read() {
    require_program();
    read_venv();
    read_version();
    find_library();
    read_build_values();
    find_modules();
    return std::move(python_);
  }

 private:
  void require_program();
  void read_venv();
  void read_version();
  [[nodiscard]] std::string exact_version() const;
  void find_library();
  void read_build_values();
  void find_modules();
  [[nodiscard]] std::vector<fs::path> site_directories(const fs::path& prefix) const;
  void add_path_files(const fs::path& site);
  void note_users_modules();

  [[nodiscard]] fs::path there(const fs::path& path) const { return inside(root_, path); }
  [[nodiscard]] bool is_there(const fs::path& path) const { return identity_of(there(path)).has_value(); }
  void add(const fs::path& directory);
  void not_told(const std::string& fact, const std::string& reason) {
    python_.not_told.push_back({fact, reason});
  }
  [[noreturn]] void fail(const std::string& what) const {
    throw Error(ExitCode::environment, "the Python " + file_.string() + " " + what,
                "name another one of that tree: --python PATH, as it is named there");
  }

  const fs::path& root_;
  const Environment& environment_;
  fs::path name_, file_;
  fs::path start_;     ///< the standard library is looked for from here upwards
  std::string series_; ///< "3.11", "3.13t": as directories are named
  fs::path library_;   ///< lib/python3.11, or empty
  bool in_venv_ = false;
  bool sees_system_ = true; ///< the modules of the base installation
  Python python_;
};

std::vector<Choice> choices_of(const Machine& machine, const PythonWish& wish);
bool has_torch(const fs::path& root, const Python& python);

} // namespace

Python python_in_tree(const Machine& machine, const PythonWish& wish) {
  std::optional<Python> first;
  std::string problem;
  for (const Choice& choice : choices_of(machine, wish)) {
    try {
      Python python = Reader(machine.root, machine.environment, choice).read();
      if (!choice.is_guess || has_torch(machine.root, python)) {
        return python;
      }
      first = first ? std::move(first) : std::move(python);
    } catch (const Error& error) {
      problem = problem.empty() ? error.what() : problem;
    }
  }
  if (!first) {
    throw Error(ExitCode::environment, problem,
                "name another one of that tree: --python PATH, as it is named there");
  }
  return *std::move(first);
}

namespace {

// ---- which ----

/// What images of Python, conda and torch put first on their PATH, which is not in their files.
constexpr std::array usual_places = {"/opt/venv/bin", "/opt/conda/bin", "/usr/local/bin", "/usr/bin", "/bin"};

class Choices {
 public:
  explicit Choices(const fs::path& root) : root_(root) {}

  /// Whether it is there; two names of one directory are one.
  bool add(const Choice& choice) {
    const auto identity = identity_of(inside(root_, choice.name));
    const bool is_file = identity && identity->is_regular();
    if (is_file && known_.insert(inside(root_, choice.name.parent_path()) / choice.name.filename()).second) {
      all_.push_back(choice);
    }
    return is_file;
  }
  bool add_wish(const std::string& text, const std::string& origin, bool is_guess) {
    if (text.find('/') != std::string::npos) {
      return add({text, origin, is_guess});
    }
    return std::ranges::any_of(usual_places, [&](const char* place) {
      return add({fs::path(place) / text, origin, is_guess});
    });
  }
  std::vector<Choice> take() { return std::move(all_); }

 private:
  const fs::path& root_;
  std::set<fs::path> known_;
  std::vector<Choice> all_;
};

std::vector<Choice> choices_of(const Machine& machine, const PythonWish& wish) {
  Choices choices(machine.root);
  const bool is_order = wish.origin == "--python" && !wish.path.empty();
  if (is_order && choices.add_wish(wish.path, wish.origin, false)) {
    return choices.take();
  }
  if (is_order) {
    throw Error(ExitCode::environment,
                "no Python at '" + wish.path + "' in " + machine.root.string() + " (from --python)",
                "name it as that machine does: --python /usr/bin/python3");
  }
  // Said of this machine, mostly: taken when the tree has them too.
  if (!wish.path.empty()) {
    choices.add_wish(wish.path, wish.origin, true);
  }
  if (const auto value = machine.environment.get_nonempty("DCUOP_PYTHON")) {
    choices.add_wish(*value, "DCUOP_PYTHON", true);
  }
  for (const char* variable : {"VIRTUAL_ENV", "CONDA_PREFIX"}) {
    if (const auto prefix = machine.environment.get_nonempty(variable)) {
      choices.add({fs::path(*prefix) / "bin/python3", variable, true});
    }
  }
  const std::string guess = "; the PATH of that machine is not known";
  for (const char* place : usual_places) {
    choices.add({fs::path(place) / "python3", std::string(place) + guess, true});
  }
  const fs::path environments = "/opt/conda/envs";
  for (const std::string& name : list_directory(inside(machine.root, environments))) {
    choices.add({environments / name / "bin/python3", "conda environment " + name + guess, true});
  }
  auto found = choices.take();
  if (found.empty()) {
    throw Error(ExitCode::environment,
                "no Python in " + machine.root.string() + ": no python3 in " +
                    join({usual_places.begin(), usual_places.end()}, ", "),
                "name it as that machine does: --python /path/to/python3");
  }
  return found;
}

bool has_torch(const fs::path& root, const Python& python) {
  return std::ranges::any_of(python.search_path, [&root](const fs::path& directory) {
    return identity_of(inside(root, directory / "torch/__init__.py")).has_value();
  });
}

// ---- what it is ----

void Reader::require_program() {
  const elf::Identity identity = elf::identify(file_);
  if (identity.kind != elf::FileKind::elf) {
    fail("is no program: what it starts is known only by running it, and nothing below " + root_.string() +
         " is run");
  }
  start_ = file_.parent_path();
}

/// getpath.py: pyvenv.cfg beside the program as it was named, or one above, says where the real one is.
void Reader::read_venv() {
  const fs::path directory = name_.parent_path();
  for (const fs::path& prefix : {directory, directory.parent_path()}) {
    const auto text = read_file(there(prefix / "pyvenv.cfg"));
    if (!text) {
      continue;
    }
    in_venv_ = true;
    sees_system_ = false;
    python_.prefix = there(prefix);
    for (const std::string& line : split(*text, '\n')) {
      const std::size_t equals = line.find('=');
      if (equals == std::string::npos) {
        continue;
      }
      const std::string_view key = trimmed(std::string_view(line).substr(0, equals));
      const std::string_view value = trimmed(std::string_view(line).substr(equals + 1));
      if (key == "home" && value.starts_with('/')) {
        start_ = there(value);
      } else if (key == "include-system-site-packages") {
        sees_system_ = value == "true" || value == "True";
      }
    }
    return;
  }
}

/// "3.11" of "python3.11" and "libpython3.11.so.1.0", "3.13t" of "python3.13t"; "" for another name.
std::string series_in(std::string_view name) {
  constexpr std::string_view stem = "python";
  const std::size_t at = name.find(stem);
  std::string_view rest = at == std::string_view::npos ? "" : name.substr(at + stem.size());
  if (!rest.starts_with("3.")) {
    return {};
  }
  std::size_t end = 2;
  while (end < rest.size() && rest[end] >= '0' && rest[end] <= '9') {
    ++end;
  }
  const bool free_threaded = end < rest.size() && rest[end] == 't';
  return end == 2 ? std::string{} : std::string(rest.substr(0, end + (free_threaded ? 1 : 0)));
}

std::string number_of(const std::string& series) {
  return series.ends_with('t') ? series.substr(0, series.size() - 1) : series;
}

void Reader::read_version() {
  series_ = series_in(file_.filename().string());
  if (series_.empty()) {
    const elf::Image image = elf::read_image(file_);
    for (const std::string& needed : image.needed) {
      series_ = series_.empty() ? series_in(needed) : series_;
    }
  }
  if (series_.empty()) {
    fail("has a version that neither its name nor a libpython that it needs tells");
  }
  python_.version = exact_version();
  if (python_.version.empty()) {
    python_.version = number_of(series_);
    not_told("patch version", "only the series " + series_ + " is in its name; it is not run");
  }
}

/// PY_VERSION is a string constant of the program or of its libpython: "3.11.2", "3.14.0rc1".
std::string Reader::exact_version() const {
  constexpr std::size_t limit = std::size_t{256} << 20;
  std::vector<fs::path> files = {file_};
  for (const auto& library :
       elf::resolve_closure(elf::read_image(file_),
                            {.preload = {}, .library_path = {}, .already_loaded = {}, .root = root_})
           .libraries) {
    if (library.name.starts_with("libpython")) {
      files.push_back(library.path);
    }
  }
  const std::string beginning = std::string(1, '\0') + number_of(series_) + ".";
  std::set<std::string> found;
  for (const fs::path& file : files) {
    const std::string bytes = read_file_prefix(file, limit).value_or("");
    for (std::size_t at = bytes.find(beginning); at != std::string::npos;
         at = bytes.find(beginning, at + 1)) {
      const std::string text(bytes.c_str() + at + 1);
      const bool is_version = text.size() > beginning.size() - 1 && text.size() < 16 &&
                              text.find_first_not_of("0123456789.abrc+") == std::string::npos;
      if (is_version) {
        found.insert(text);
      }
    }
  }
  return found.size() == 1 ? *found.begin() : std::string{};
}

void Reader::find_library() {
  for (fs::path above = start_; lies_below(above, root_); above = above.parent_path()) {
    for (const char* name : {"lib", "lib64"}) {
      const fs::path library = above / name / ("python" + series_);
      if (is_there(library / "os.py") || is_there(library / "os.pyc")) {
        library_ = there(library);
        python_.base_prefix = above;
        python_.prefix = in_venv_ ? python_.prefix : above;
        return;
      }
    }
  }
  python_.base_prefix = start_.parent_path();
  python_.prefix = in_venv_ ? python_.prefix : python_.base_prefix;
  not_told("standard library",
           "there is no lib/python" + series_ + "/os.py in " + start_.string() + " or above");
}

/// 'EXT_SUFFIX': '.cpython-311-x86_64-linux-gnu.so',
std::string value_in(const std::string& text, std::string_view name) {
  const std::string key = std::string("'").append(name).append("': '");
  const std::size_t start = text.find(key);
  const std::size_t end = start == std::string::npos ? start : text.find('\'', start + key.size());
  return end == std::string::npos ? std::string{} : text.substr(start + key.size(), end - start - key.size());
}

/// sysconfig's values are in a module of the standard library; of several (conda keeps those of cross builds) it is
/// known only by running which one is taken.
void Reader::read_build_values() {
  std::set<std::string> suffixes, abis;
  std::string file_name;
  for (const std::string& name : library_.empty() ? std::vector<std::string>{} : list_directory(library_)) {
    if (name.starts_with("_sysconfigdata") && name.ends_with(".py")) {
      const std::string text = read_file(there(library_ / name)).value_or("");
      suffixes.insert(value_in(text, "EXT_SUFFIX"));
      abis.insert(value_in(text, "SOABI"));
      file_name = name;
    }
  }
  suffixes.erase("");
  abis.erase("");
  const std::string where = library_.empty() ? "its standard library was not found" : "";
  if (suffixes.size() == 1) {
    python_.ext_suffix = *suffixes.begin();
    python_.config_file = library_ / file_name;
  } else {
    not_told("EXT_SUFFIX", !where.empty() ? where
                           : suffixes.empty()
                               ? "there is no _sysconfigdata*.py in " + library_.string()
                               : "the _sysconfigdata*.py in " + library_.string() +
                                     " disagree: " + join({suffixes.begin(), suffixes.end()}, ", "));
  }
  python_.soabi = abis.size() == 1 ? *abis.begin() : "";
  // INCLUDEPY is of the machine that it was built on, conda's a placeholder.
  if (const fs::path headers = python_.base_prefix / "include" / ("python" + series_); is_there(headers)) {
    python_.include_dir = there(headers);
  }
}

// ---- where it finds modules ----

void Reader::add(const fs::path& directory) {
  const fs::path place = there(directory);
  const auto identity = identity_of(place);
  const auto& known = python_.search_path;
  if (identity && identity->is_directory() && std::find(known.begin(), known.end(), place) == known.end()) {
    python_.search_path.push_back(place);
  }
}

void Reader::find_modules() {
  for (const std::string& entry : split(environment_.get("PYTHONPATH").value_or(""), ':')) {
    if (entry.starts_with('/')) {
      add(entry);
    }
  }
  if (!library_.empty()) {
    add(library_);
    add(library_ / "lib-dynload");
  }
  std::vector<fs::path> sites;
  if (in_venv_) {
    sites = site_directories(python_.prefix);
  }
  if (sees_system_) {
    note_users_modules();
    std::ranges::move(site_directories(python_.base_prefix), std::back_inserter(sites));
  }
  for (const fs::path& site : sites) {
    add(site);
    add_path_files(site);
  }
}

/// Debian's site.py takes dist-packages for the distribution's Python, Fedora's /usr/local too.
std::vector<fs::path> Reader::site_directories(const fs::path& prefix) const {
  const std::string series = "python" + series_;
  const fs::path system = root_ / "usr";
  const fs::path local = system / "local";
  const bool is_debian =
      prefix == system && !library_.empty() &&
      read_file(there(library_ / "site.py")).value_or("").find("dist-packages") != std::string::npos;
  if (is_debian) {
    return {local / "lib" / series / "dist-packages", system / "lib/python3/dist-packages",
            system / "lib" / series / "dist-packages"};
  }
  std::vector<fs::path> directories;
  for (const fs::path& place : prefix == system ? std::vector{local, system} : std::vector{prefix}) {
    for (const char* name : {"lib64", "lib"}) {
      directories.push_back(place / name / series / "site-packages");
    }
  }
  return directories;
}

/// site.addpackage: lines that start with "import" are code.
void Reader::add_path_files(const fs::path& site) {
  for (const std::string& name : list_directory(there(site))) {
    if (!name.ends_with(".pth") || name.starts_with('.')) {
      continue;
    }
    for (const std::string& line : split(read_file(there(site / name)).value_or(""), '\n')) {
      const std::string entry(trimmed(line));
      if (entry.starts_with("import ") || entry.starts_with("import\t")) {
        not_told("search path", there(site / name).string() + " runs code that can change it");
      } else if (!entry.empty() && !entry.starts_with('#')) {
        add(entry.starts_with('/') ? fs::path(entry) : site / entry);
      }
    }
  }
}

void Reader::note_users_modules() {
  std::vector<fs::path> homes = {"/root"};
  for (const std::string& user : list_directory(there("/home"))) {
    homes.push_back(fs::path("/home") / user);
  }
  for (const fs::path& home : homes) {
    if (const fs::path modules = home / ".local/lib" / ("python" + series_) / "site-packages";
        is_there(modules)) {
      not_told("user", "the modules in " + there(modules).string() +
                           " are left out, as it is not known who runs it: PYTHONPATH=" + modules.string() +
                           " takes them in");
    }
  }
}

} // namespace

} // namespace dcuop::probe
