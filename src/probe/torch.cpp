#include "dcuop/probe/torch.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <map>
#include <system_error>

#include <nlohmann/json.hpp>

#include "dcuop/elf/image.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"
#include "pybind11_abi.hpp"

namespace dcuop::probe {

namespace {

using nlohmann::json;

/// A library of torch and what stat says of it.
struct Library {
  fs::path link; ///< in the package's lib directory
  fs::path file; ///< the real one
  FileIdentity identity;
};

std::optional<fs::path> package_on(const Machine& machine, const std::vector<fs::path>& search_path);
std::vector<Library> libraries_of(const fs::path& root, const fs::path& package);
bool touched_lately(const std::vector<Library>& libraries);
Digest question_of(const Machine& machine, const Python& python, const fs::path& package,
                   const std::vector<Library>& libraries);
Answer read_torch(const Machine& machine, const Python& python, const fs::path& package,
                  const std::vector<Library>& libraries);
Torch torch_from(const std::string& answer);

} // namespace

std::optional<Torch> find_torch(const Machine& machine, const Python& python) {
  const std::optional<fs::path> package = package_on(machine, python.search_path);
  if (!package) {
    return std::nullopt;
  }
  const std::vector<Library> libraries = libraries_of(machine.root, *package);
  const auto read = [&] { return read_torch(machine, python, *package, libraries); };
  if (touched_lately(libraries)) {
    return torch_from(read().value);
  }
  return torch_from(machine.memos.recall("torch", question_of(machine, python, *package, libraries), read));
}

std::string Torch::summary() const {
  const auto major_minor = [](const std::string& full) {
    const std::vector<std::string> parts = split(full, '.');
    return parts.size() < 2 ? full : parts[0] + "." + parts[1];
  };
  if (is_hip()) {
    return version + " hip " + major_minor(hip);
  }
  return cuda.empty() ? version + " cpu" : version + " cuda " + major_minor(cuda);
}

namespace {

bool is_present(const fs::path& root, const fs::path& path) {
  std::error_code ignored;
  return fs::exists(followed_in(root, path), ignored);
}

// ---- where torch is ----

/// The target of a setuptools editable install: __editable___torch_<version>_finder.py maps package names to
/// source directories (https://setuptools.pypa.io/en/latest/userguide/development_mode.html).
std::optional<fs::path> editable_package(const Machine& machine, const fs::path& site_directory) {
  for (const std::string& name : list_directory(site_directory)) {
    if (!name.starts_with("__editable___torch_") || !name.ends_with("_finder.py")) {
      continue;
    }
    const std::string text = read_file(followed_in(machine.root, site_directory / name)).value_or("");
    constexpr std::string_view key = "'torch': '";
    const std::size_t start = text.find(key);
    const std::size_t end = start == std::string::npos ? start : text.find('\'', start + key.size());
    if (end != std::string::npos) {
      const fs::path named = text.substr(start + key.size(), end - start - key.size());
      fs::path package = machine.is_saved ? inside(machine.root, named) : named;
      if (is_present(machine.root, package / "__init__.py")) {
        return package;
      }
    }
  }
  return std::nullopt;
}

std::optional<fs::path> package_on(const Machine& machine, const std::vector<fs::path>& search_path) {
  for (const fs::path& directory : search_path) {
    if (is_present(machine.root, directory / "torch/__init__.py")) {
      return followed_in(machine.root, directory / "torch");
    }
  }
  // Python asks the finders of editable installs only when the search path has nothing.
  for (const fs::path& directory : search_path) {
    if (auto package = editable_package(machine, directory)) {
      return package;
    }
  }
  return std::nullopt;
}

[[noreturn]] void fail_incomplete(const fs::path& package, const std::string& what) {
  throw Error(ExitCode::environment, "the torch in " + package.string() + " is incomplete: " + what,
              "Reinstall torch for this Python, or choose another Python with --python "
              "(a PyTorch source tree on PYTHONPATH must be built first)");
}

/// In the order in which libtorch_python's dependencies are bound: each behind those it needs.
constexpr std::array library_names = {
    "libc10.so",       "libc10_hip.so",     "libc10_cuda.so",       "libtorch_cpu.so",
    "libtorch_hip.so", "libtorch_cuda.so",  "libtorch_cuda_cpp.so", "libtorch_cuda_cu.so",
    "libtorch.so",     "libtorch_python.so"};
constexpr std::array needed_names = {"libc10.so", "libtorch_cpu.so", "libtorch_python.so"};

std::vector<Library> libraries_of(const fs::path& root, const fs::path& package) {
  std::vector<Library> libraries;
  for (const char* name : library_names) {
    Library library{package / "lib" / name, {}, {}};
    const fs::path file = followed_in(root, library.link);
    if (const auto identity = identity_of(file)) {
      std::error_code error;
      const bool is_followed = root != "/" && is_named_below(file, root);
      library.file = is_followed ? file : fs::canonical(file, error);
      library.identity = *identity;
      libraries.push_back(std::move(library));
    }
  }
  std::vector<std::string> missing;
  for (const char* name : needed_names) {
    const bool found = std::ranges::any_of(
        libraries, [&](const Library& library) { return library.link.filename() == name; });
    if (!found) {
      missing.push_back((fs::path("lib") / name).string());
    }
  }
  if (!is_present(root, package / "version.py")) {
    missing.emplace_back("version.py");
  }
  if (!missing.empty()) {
    fail_incomplete(package, join(missing, ", ") + (missing.size() == 1 ? " is missing" : " are missing"));
  }
  return libraries;
}

// ---- what is remembered ----

/// A write within the clock tick of the stat would go unseen later.
bool touched_lately(const std::vector<Library>& libraries) {
  using namespace std::chrono;
  const std::int64_t now = duration_cast<nanoseconds>(system_clock::now().time_since_epoch()).count();
  constexpr std::int64_t tick = 2'000'000'000;
  return std::ranges::any_of(libraries,
                             [&](const Library& library) { return library.identity.ctime_ns > now - tick; });
}

/// The libraries are part of the question by what stat says, and no witnesses: those are remembered by
/// content too, and a HIP torch holds gigabytes. The device number is left out, as it changes with each
/// start of a container.
Digest question_of(const Machine& machine, const Python& python, const fs::path& package,
                   const std::vector<Library>& libraries) {
  Hasher hasher;
  hasher.number("version", 2);
  hasher.text("package", package.string());
  hasher.text("root", machine.root.string());
  for (const fs::path& directory : python.search_path) {
    hasher.text("search path", directory.string());
  }
  for (const Library& library : libraries) {
    hasher.text("library", library.file.string());
    hasher.number("inode", library.identity.inode);
    hasher.number("size", library.identity.size);
    hasher.number("mtime", static_cast<std::uint64_t>(library.identity.mtime_ns));
    hasher.number("ctime", static_cast<std::uint64_t>(library.identity.ctime_ns));
  }
  return hasher.finish();
}

// ---- reading ----

/// Assignments of strings in a generated version.py: name = '...' or name: Optional[str] = '...'; None is "".
std::map<std::string, std::string> parse_version_file(std::string_view text) {
  std::map<std::string, std::string> values;
  for (const std::string& line : split(text, '\n')) {
    const std::size_t equals = line.find('=');
    if (equals == std::string::npos || line.front() == ' ' || line.front() == '#') {
      continue;
    }
    const std::string_view left = std::string_view(line).substr(0, equals);
    const std::string_view name = trimmed(left.substr(0, left.find(':')));
    const std::string_view value = trimmed(std::string_view(line).substr(equals + 1));
    if (value.empty() || (value.front() != '\'' && value.front() != '"')) {
      continue;
    }
    const std::size_t end = value.find(value.front(), 1);
    if (end != std::string_view::npos) {
      values[std::string(name)] = value.substr(1, end - 1);
    }
  }
  return values;
}

bool is_digit(char c) {
  return c >= '0' && c <= '9';
}

/// "2.4.1+das.opt2.dtk25041" -> "25.04.1". The tag is no PEP 440 version: old ones hold two '+'.
std::string dtk_of(const std::string& version) {
  constexpr std::string_view tag = "dtk";
  for (std::size_t at = version.find(tag, version.find('+')); at != std::string::npos;
       at = version.find(tag, at + 1)) {
    const bool starts_word = at > 0 && (version[at - 1] == '.' || version[at - 1] == '+');
    const std::size_t first = at + tag.size();
    std::size_t end = first;
    while (end < version.size() && is_digit(version[end])) {
      ++end;
    }
    const std::size_t digits = end - first;
    if (starts_word && (digits == 4 || digits == 5)) {
      std::string dtk = version.substr(first, 2) + "." + version.substr(first + 2, 2);
      return digits == 5 ? dtk + "." + version[end - 1] : dtk;
    }
  }
  return {};
}

/// From functions that take a std::string in every torch release: c10::Error's constructors and
/// torchCheckFail.
std::optional<bool> cxx11_abi_of(const elf::Image& libc10) {
  bool seen_new = false;
  bool seen_old = false;
  for (const elf::Symbol& symbol : libc10.symbols) {
    const bool tells = symbol.defined && (symbol.name.starts_with("_ZN3c105ErrorC") ||
                                          symbol.name.starts_with("_ZN3c106detail14torchCheckFail"));
    if (!tells) {
      continue;
    }
    seen_new = seen_new || symbol.name.find("__cxx11") != std::string::npos;
    seen_old = seen_old || symbol.name.find("Ss") != std::string::npos;
  }
  return seen_new == seen_old ? std::nullopt : std::optional(seen_new);
}

/// From the line that ends an older compile: 1.13 wants C++14, 2.1 C++17, 2.15 C++20.
/// #if ... __cplusplus < 202002L
/// #error C++20 or later compatible compiler is required to use ATen.
int cxx_standard_of(const std::string& aten_header) {
  constexpr std::array<std::pair<std::string_view, int>, 4> standards = {
      {{"201402L", 14}, {"201703L", 17}, {"202002L", 20}, {"202302L", 23}}};
  constexpr std::string_view condition = "__cplusplus < ";
  const std::size_t at = aten_header.find(condition);
  if (at == std::string::npos) {
    return 0;
  }
  const std::string_view number = std::string_view(aten_header).substr(at + condition.size());
  const auto found = std::ranges::find_if(
      standards, [number](const auto& standard) { return number.starts_with(standard.first); });
  return found == standards.end() ? 0 : found->second;
}

struct Headers {
  std::vector<fs::path> include_dirs;
  std::vector<fs::path> pybind11_dirs;
  std::vector<fs::path> looked_for; ///< decided by whether they are there
  int cxx_standard = 0;
};

/// Debian's torch has its headers in /usr/include as well; that directory is never named, as -isystem
/// /usr/include puts it before libstdc++'s and breaks its #include_next.
Headers find_headers(const Machine& machine, const Python& python, const fs::path& package) {
  Headers headers;
  const auto is_there = [&](const fs::path& path) {
    headers.looked_for.push_back(path);
    return is_present(machine.root, path);
  };
  const auto standard_of = [&machine](const fs::path& header) {
    return cxx_standard_of(read_file(followed_in(machine.root, header)).value_or(""));
  };
  const fs::path own = package / "include";
  const fs::path api = "torch/csrc/api/include";
  const fs::path system = machine.root / "usr/include";
  const fs::path aten = "ATen/ATen.h";
  if (is_there(own / aten)) {
    headers.include_dirs = {own, own / api};
    headers.cxx_standard = standard_of(own / aten);
  } else if (is_there(system / aten)) {
    headers.include_dirs = {system / api};
    headers.cxx_standard = standard_of(system / aten);
  }
  std::erase_if(headers.include_dirs,
                [&machine](const fs::path& directory) { return !is_present(machine.root, directory); });

  const fs::path header = "pybind11/pybind11.h";
  if (is_there(own / header) || is_there(system / header) ||
      is_there(machine.root / "usr/local/include" / header)) {
    return headers;
  }
  for (const fs::path& directory : python.search_path) {
    fs::path candidate = directory / "pybind11/include";
    if (is_there(candidate / header)) {
      headers.pybind11_dirs.push_back(std::move(candidate));
      break;
    }
  }
  return headers;
}

std::vector<fs::path> extension_modules(const fs::path& root, const fs::path& package) {
  std::vector<fs::path> modules;
  for (const std::string& name : list_directory(package)) {
    if (name.starts_with("_C.") && name.ends_with(".so")) {
      modules.push_back(followed_in(root, package / name));
    }
  }
  return modules;
}

elf::Image image_of(const fs::path& package, const Library& library) {
  try {
    elf::Image image = elf::read_image(library.file);
    if (image.truncated()) {
      fail_incomplete(package, library.file.string() + " is truncated");
    }
    return image;
  } catch (const Error& error) {
    if (error.code == ExitCode::environment) {
      throw;
    }
    fail_incomplete(package, error.what());
  }
}

json texts(const std::vector<fs::path>& paths) {
  json list = json::array();
  for (const fs::path& path : paths) {
    list.push_back(path.string());
  }
  return list;
}

Answer read_torch(const Machine& machine, const Python& python, const fs::path& package,
                  const std::vector<Library>& libraries) {
  std::map<std::string, std::string> version =
      parse_version_file(read_file(followed_in(machine.root, package / "version.py")).value_or(""));
  if (version["__version__"].empty()) {
    fail_incomplete(package, "version.py says no __version__");
  }
  const bool has_device_library = std::ranges::any_of(libraries, [](const Library& library) {
    const std::string name = library.link.filename().string();
    return name == "libtorch_hip.so" || name == "libtorch_cuda.so";
  });
  if (!version["hip"].empty() && !has_device_library) {
    fail_incomplete(package,
                    "version.py says hip " + version["hip"] + ", but lib/libtorch_hip.so is missing");
  }
  json answer = {{"package", package.string()},
                 {"version", version["__version__"]},
                 {"hip", version["hip"]},
                 {"cuda", version["cuda"]},
                 {"git_version", version["git_version"]},
                 {"dtk", dtk_of(version["__version__"])}};

  Hasher identity;
  std::vector<fs::path> files;
  for (const Library& library : libraries) {
    const elf::Image image = image_of(package, library);
    const std::string name = library.link.filename().string();
    files.push_back(library.file);
    identity.text("soname", image.soname.empty() ? name : image.soname);
    if (!image.build_id.empty()) {
      identity.text("build id", image.build_id);
    } else if (const auto content = digest_of_file(library.file)) {
      identity.digest("content", *content);
    }
    if (name == "libc10.so") {
      const std::optional<bool> abi = cxx11_abi_of(image);
      answer["cxx11_abi"] = abi ? json(*abi) : json(nullptr);
    }
    if (name == "libtorch_cpu.so") {
      answer["library_dir"] = library.file.parent_path().string();
    }
  }
  answer["libraries"] = texts(files);
  answer["identity"] = identity.finish().hex();

  std::vector<fs::path> pybind11_holders = {files.back()}; // libtorch_python.so is the last
  std::ranges::move(extension_modules(machine.root, package), std::back_inserter(pybind11_holders));
  const Pybind11Abi pybind11 = find_pybind11_abi(pybind11_holders).value_or(Pybind11Abi{});
  answer["pybind11"] = {pybind11.compiler, pybind11.stdlib, pybind11.build_abi};

  Headers headers = find_headers(machine, python, package);
  answer["include_dirs"] = texts(headers.include_dirs);
  answer["cxx_standard"] = headers.cxx_standard;
  answer["pybind11_include_dirs"] = texts(headers.pybind11_dirs);
  headers.looked_for.push_back(package / "version.py");
  return {json_text(answer), std::move(headers.looked_for)};
}

Torch torch_from(const std::string& answer) {
  const json facts = json_from(answer);
  const auto text = [&](const char* key) { return facts.at(key).get<std::string>(); };
  const auto paths = [&](const char* key) {
    std::vector<fs::path> list;
    for (const json& path : facts.at(key)) {
      list.emplace_back(path.get<std::string>());
    }
    return list;
  };
  Torch torch;
  torch.package = text("package");
  torch.version = text("version");
  torch.hip = text("hip");
  torch.cuda = text("cuda");
  torch.git_version = text("git_version");
  torch.dtk = text("dtk");
  torch.include_dirs = paths("include_dirs");
  torch.pybind11_include_dirs = paths("pybind11_include_dirs");
  torch.cxx_standard = facts.at("cxx_standard").get<int>();
  torch.library_dir = text("library_dir");
  torch.libraries = paths("libraries");
  if (const json& abi = facts.at("cxx11_abi"); abi.is_boolean()) {
    torch.cxx11_abi = abi.get<bool>();
  }
  torch.pybind11_compiler = facts.at("pybind11").at(0).get<std::string>();
  torch.pybind11_stdlib = facts.at("pybind11").at(1).get<std::string>();
  torch.pybind11_build_abi = facts.at("pybind11").at(2).get<std::string>();
  torch.identity = Digest::from_hex(text("identity")).value_or(Digest{});
  return torch;
}

} // namespace

} // namespace dcuop::probe
