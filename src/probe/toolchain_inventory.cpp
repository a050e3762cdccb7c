#include "toolchain_inventory.hpp"

#include <algorithm>
#include <tuple>

#include "dcuop/elf/image.hpp"
#include "dcuop/elf/loader.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "wrapper_scripts.hpp"

namespace dcuop::probe {

namespace {

/// ld.so(8): LD_LIBRARY_PATH is separated by colons or semicolons.
std::vector<fs::path> library_path_in(const Environment& environment) {
  auto list = environment.get("LD_LIBRARY_PATH").value_or("");
  std::replace(list.begin(), list.end(), ';', ':');
  const auto parts = split(list, ':');
  return {parts.begin(), parts.end()};
}

} // namespace

Inventory::Inventory(const Environment& environment)
    : environment_(environment), library_path_(library_path_in(environment)) {}

void Inventory::fail(const std::string& problem) {
  if (problem_.empty()) {
    problem_ = problem;
  }
}

void Inventory::add_file(const std::string& role, const fs::path& path) {
  if (!known_.insert(path).second) {
    return;
  }
  watch(path);
  const auto content = digest_of_file(path);
  if (!content) {
    fail(role + " " + path.string() + " cannot be read");
    return;
  }
  files_.push_back({role, path, *content});
}

void Inventory::add_file_if_there(const std::string& role, const fs::path& path) {
  const auto identity = identity_of(path);
  if (identity && identity->is_regular()) {
    add_file(role, path);
  } else {
    watch(path);
  }
}

void Inventory::add_program(const std::string& role, const fs::path& program) {
  if (known_.contains(program)) {
    return;
  }
  add_file(role, program);
  if (elf::identify(program).kind == elf::FileKind::elf) {
    add_libraries_of(program);
  } else if (is_script(program)) {
    for (const auto& helper : helper_scripts(program)) {
      add_file("script", helper);
    }
  }
}

void Inventory::add_libraries_of(const fs::path& program) {
  elf::LoaderContext context;
  context.library_path = library_path_;
  elf::Closure closure;
  try {
    // A program's $ORIGIN is the directory of what /proc/self/exe says: links resolved.
    std::error_code error;
    const auto real = fs::canonical(program, error);
    closure = elf::resolve_closure(elf::read_image(error ? program : real), context);
  } catch (const Error& error) {
    fail(error.what());
    return;
  }
  watch("/etc/ld.so.cache");
  for (const auto& library : closure.libraries) {
    if (library.path.empty()) {
      fail(library.wanted_by.string() + " needs " + library.name + ", which is not found");
      continue;
    }
    add_file("library", library.path);
    for (const auto& directory : library_path_) {
      const auto earlier = directory / library.name;
      if (earlier == library.path) {
        break;
      }
      watch(earlier);
    }
  }
}

std::optional<fs::path> Inventory::find_program(const std::vector<std::string>& names,
                                                const std::vector<fs::path>& directories) {
  for (const auto& name : names) {
    for (const auto& directory : directories) {
      const auto candidate = directory / name;
      if (environment_.find_program(candidate.string())) {
        return candidate;
      }
      watch(candidate);
    }
  }
  return std::nullopt;
}

std::vector<ToolFile> Inventory::files() const {
  auto sorted = files_;
  std::sort(sorted.begin(), sorted.end(), [](const ToolFile& a, const ToolFile& b) {
    return std::tie(a.role, a.path) < std::tie(b.role, b.path);
  });
  return sorted;
}

} // namespace dcuop::probe
