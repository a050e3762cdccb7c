#include "case_file.hpp"

#include <algorithm>

#include <link.h>

#include "symbol_names.hpp"

#include "dcuop/support/error.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

// Made by the linker (ld, gold, lld).
extern "C" const ElfW(Ehdr) __ehdr_start __attribute__((visibility("hidden")));

namespace dcuop::doctor {
namespace {

/// From the header in memory: a chroot may have no /proc/self/exe.
elf::Identity own_identity() {
  elf::Identity identity;
  identity.kind = elf::FileKind::elf;
  identity.elf_class = __ehdr_start.e_ident[EI_CLASS] == ELFCLASS64 ? 64 : 32;
  identity.little_endian = __ehdr_start.e_ident[EI_DATA] == ELFDATA2LSB;
  identity.machine = __ehdr_start.e_machine;
  return identity;
}

/// The interpreter's header decides what can be loaded; without one, this program's own does.
elf::Identity interpreter_identity(const EnvironmentFacts& facts) {
  elf::Identity identity;
  if (facts.python) {
    identity = elf::identify(facts.python->executable);
  }
  if (identity.kind != elf::FileKind::elf) {
    identity = own_identity();
  }
  return identity;
}

void append_unique(std::vector<const elf::Image*>& images, const elf::Image* image) {
  if (image != nullptr && std::find(images.begin(), images.end(), image) == images.end()) {
    images.push_back(image);
  }
}

void append_paths(std::vector<std::filesystem::path>& paths, const elf::Closure& closure) {
  for (const auto& library : closure.libraries) {
    if (!library.path.empty() && std::find(paths.begin(), paths.end(), library.path) == paths.end()) {
      paths.push_back(library.path);
    }
  }
}

bool mentions_torch(const elf::Image& image) {
  return std::any_of(image.needed.begin(), image.needed.end(),
                     [](const std::string& name) { return library_family(name) == LibraryFamily::torch; }) ||
         std::any_of(image.symbols.begin(), image.symbols.end(), [](const elf::Symbol& symbol) {
           return !symbol.defined && symbol_family(symbol.name) == SymbolFamily::torch;
         });
}

/// torch._C, which `import torch` imports after libtorch_global_deps.so.
std::vector<std::filesystem::path> extension_of(const probe::Torch& torch,
                                                const std::filesystem::path& root) {
  std::vector<std::filesystem::path> files;
  for (const auto& name : list_directory(torch.package)) {
    if (name.starts_with("_C.") && name.ends_with(".so")) {
      files.push_back(followed_in(root, torch.package / name));
    }
  }
  return files;
}

bool is_in_place_of(const std::vector<Shadow>& shadows, const std::filesystem::path& own) {
  return std::any_of(shadows.begin(), shadows.end(),
                     [&own](const Shadow& shadow) { return shadow.own == own; });
}

std::vector<std::filesystem::path> path_list(const Environment& environment, std::string_view variable,
                                             std::string_view separators) {
  std::string text = environment.get(variable).value_or("");
  std::replace_if(
      text.begin(), text.end(),
      [separators](char character) { return separators.find(character) != std::string_view::npos; }, ':');
  std::vector<std::filesystem::path> paths;
  for (const auto& part : split(text, ':')) {
    paths.emplace_back(part);
  }
  return paths;
}

} // namespace

std::filesystem::path real_path(const std::filesystem::path& path) {
  std::error_code failure;
  auto real = std::filesystem::canonical(path, failure);
  return failure ? path : real;
}

const elf::Image* ImagePool::read(const std::filesystem::path& path) {
  const auto key = key_of(path);
  if (const auto known = images_.find(key); known != images_.end()) {
    return known->second.get();
  }
  std::unique_ptr<elf::Image> image;
  try {
    image = std::make_unique<elf::Image>(elf::read_image(followed_in(root_, path)));
  } catch (const Error& fault) {
    problems_[key] = fault.what();
  }
  return images_.emplace(key, std::move(image)).first->second.get();
}

std::string ImagePool::key_of(const std::filesystem::path& path) const {
  // The real path of a name below /proc/<pid>/root would be one of this mount namespace.
  return root_ != "/" && is_named_below(path, root_) ? inside(root_, path).string()
                                                     : real_path(path).string();
}

std::string ImagePool::problem_of(const std::filesystem::path& path) const {
  const auto problem = problems_.find(key_of(path));
  return problem == problems_.end() ? std::string{} : problem->second;
}

std::vector<std::filesystem::path> Process::files() const {
  auto all = interpreter;
  all.insert(all.end(), torch.begin(), torch.end());
  return all;
}

CaseFile::CaseFile(const Question& asked, const EnvironmentFacts& known, const probe::Machine& here)
    : question(asked), facts(known), machine(here), process_root(probe::process_root(here)),
      file_name(asked.file.empty() ? ""
                                   : absolute_from(asked.file, here.working_directory).filename().string()),
      path(asked.file.empty() ? std::filesystem::path{}
                              : followed_in(process_root, absolute_from(asked.file, here.working_directory))),
      identity(elf::identify(path)), interpreter(interpreter_identity(known)), pool(process_root) {
  const bool readable = identity.kind == elf::FileKind::elf && identity.elf_class == interpreter.elf_class &&
                        identity.little_endian == interpreter.little_endian;
  if (readable) {
    image = pool.read(path);
    image_problem = pool.problem_of(path);
  }
}

void CaseFile::trace_load() {
  uses_torch = mentions_torch(*image);
  if (!question.loaded.empty()) {
    trace_process();
  } else {
    trace_interpreter();
  }
  if (uses_torch && facts.torch && question.loaded.empty()) {
    trace_torch(*facts.torch);
  }
  closure = elf::resolve_closure(*image, loader_context(process.files()));
  bind();
  device_code = elf::read_device_code(*image);
}

void CaseFile::trace_interpreter() {
  const auto preload = path_list(machine.environment, "LD_PRELOAD", ": ");
  if (facts.python) {
    const auto executable = real_path(facts.python->executable);
    process.interpreter.push_back(executable);
    if (const auto* program = pool.read(executable)) {
      append_paths(process.interpreter, elf::resolve_closure(*program, loader_context({})));
      append_unique(process.global, program);
    }
  }
  for (const auto& file : preload) {
    append_unique(process.global, pool.read(probe::inside(process_root, file)));
  }
  for (const auto& file : process.interpreter) {
    append_unique(process.global, pool.read(file));
  }
}

void CaseFile::trace_torch(const probe::Torch& torch) {
  // torch/__init__.py opens this one, alone, with RTLD_GLOBAL; torch._C and what it brings stay RTLD_LOCAL
  // unless TORCH_USE_RTLD_GLOBAL asks for the old way.
  const auto global_deps = followed_in(process_root, torch.package / "lib" / "libtorch_global_deps.so");
  std::vector<std::filesystem::path> libraries;
  if (identity_of(global_deps)) {
    libraries.push_back(global_deps);
  }
  // Before torch's libraries themselves: what its DT_NEEDED leads to need not be they.
  const auto extension = extension_of(torch, process_root);
  libraries.insert(libraries.end(), extension.begin(), extension.end());
  libraries.insert(libraries.end(), torch.libraries.begin(), torch.libraries.end());
  const bool all_global = machine.environment.get_nonempty("TORCH_USE_RTLD_GLOBAL").has_value();
  for (const auto& library : libraries) {
    const auto* root = pool.read(library);
    if (root == nullptr || is_in_place_of(process.shadows, library)) {
      continue;
    }
    const auto brought = elf::resolve_closure(*root, loader_context(process.files()));
    note_shadows(torch, brought);
    process.torch.push_back(library);
    append_paths(process.torch, brought);
    if (all_global || library == global_deps) {
      append_unique(process.global, root);
      for (const auto& part : brought.libraries) {
        append_unique(process.global, part.path.empty() ? nullptr : pool.read(part.path));
      }
    }
  }
  for (const auto& file : process.torch) {
    append_unique(process.torch_images, pool.read(file));
  }
}

void CaseFile::note_shadows(const probe::Torch& torch, const elf::Closure& brought) {
  for (const auto& own : torch.libraries) {
    const auto* known = pool.read(own);
    const auto taken =
        std::find_if(brought.libraries.begin(), brought.libraries.end(), [&](const auto& library) {
          return known != nullptr && !library.path.empty() && library.name == known->soname &&
                 real_path(library.path) != real_path(own);
        });
    if (taken != brought.libraries.end() && !is_in_place_of(process.shadows, own)) {
      process.shadows.push_back({own, taken->path, taken->found_by});
    }
  }
}

Process CaseFile::process_with_torch() {
  auto without = process;
  trace_torch(*facts.torch);
  std::swap(without, process);
  return without;
}

void CaseFile::bind() {
  scope = process.global;
  append_unique(scope, image);
  std::vector<const elf::Image*> loaded;
  for (const auto& file : process.files()) {
    append_unique(loaded, pool.read(file));
  }
  std::vector<const elf::Image*> brought = {image};
  for (const auto& library : closure.libraries) {
    const auto* found = library.path.empty() ? nullptr : pool.read(library.path);
    append_unique(scope, found);
    if (found != nullptr && std::find(loaded.begin(), loaded.end(), found) == loaded.end()) {
      append_unique(brought, found);
    }
  }
  for (const auto* newcomer : brought) {
    newcomers.push_back({newcomer, elf::unbound_symbols(*newcomer, scope)});
  }
}

std::vector<const elf::Library*> CaseFile::missing() const {
  std::vector<const elf::Library*> result;
  for (const auto& library : closure.libraries) {
    if (library.path.empty()) {
      result.push_back(&library);
    }
  }
  return result;
}

std::string CaseFile::described(const std::filesystem::path& library) const {
  if (facts.torch) {
    const auto real = real_path(library);
    const auto is_it = [&real](const std::filesystem::path& file) { return real_path(file) == real; };
    if (std::any_of(facts.torch->libraries.begin(), facts.torch->libraries.end(), is_it)) {
      return library.filename().string() + " of torch " + facts.torch->summary();
    }
  }
  return library.string();
}

std::string CaseFile::chain_to(const elf::Library& library) const {
  std::vector<std::string> names = {library.name};
  auto wanted_by = library.wanted_by;
  // A cycle of DT_NEEDED is legal: no chain is longer than the closure.
  for (std::size_t step = 0; step <= closure.libraries.size() && !wanted_by.empty(); ++step) {
    if (real_path(wanted_by) == real_path(path)) {
      break;
    }
    names.push_back(wanted_by.filename().string());
    const auto above =
        std::find_if(closure.libraries.begin(), closure.libraries.end(),
                     [&wanted_by](const elf::Library& other) { return other.path == wanted_by; });
    wanted_by = above == closure.libraries.end() ? std::filesystem::path{} : above->wanted_by;
  }
  names.push_back(file_name);
  std::reverse(names.begin(), names.end());
  return join(names, " -> ");
}

elf::LoaderContext CaseFile::loader_context(std::vector<std::filesystem::path> already_loaded) const {
  elf::LoaderContext context;
  context.preload = path_list(machine.environment, "LD_PRELOAD", ": ");
  context.library_path = path_list(machine.environment, "LD_LIBRARY_PATH", ":;");
  context.already_loaded = std::move(already_loaded);
  context.root = process_root;
  if (process_root != machine.root) {
    look_into_saved_machine(context.library_path);
  }
  return context;
}

/// Of a saved machine without user space: the libraries of a process are this machine's, but for the directories (of
/// a toolkit) that the file's own RUNPATH or LD_LIBRARY_PATH names and that the saved machine has.
void CaseFile::look_into_saved_machine(std::vector<std::filesystem::path>& library_path) const {
  auto wanted = library_path;
  if (image != nullptr) {
    for (const auto& list : {image->rpath, image->runpath}) {
      for (const auto& part : split(list, ':')) {
        wanted.emplace_back(part);
      }
    }
  }
  std::vector<std::filesystem::path> there;
  for (const auto& directory : wanted) {
    auto place = directory.is_absolute() ? probe::inside(machine.root, directory) : directory;
    if (const auto known = identity_of(place); known && known->is_directory()) {
      there.push_back(std::move(place));
    }
  }
  library_path.insert(library_path.begin(), there.begin(), there.end());
}

const elf::Image* CaseFile::provider_of(const std::string& soname) const {
  const auto is_it = [&soname](const elf::Image* candidate) {
    return candidate->soname == soname || candidate->path.filename() == soname;
  };
  for (const auto* group : {&scope, &process.torch_images}) {
    const auto found = std::find_if(group->begin(), group->end(), is_it);
    if (found != group->end()) {
      return *found;
    }
  }
  return nullptr;
}

finding::Finding CaseFile::finding(std::string_view rule, finding::Values values) const {
  values.emplace("file", file_name);
  auto made = finding::make_finding(rule, values);
  made.subject = path.string();
  return made;
}

void CaseFile::fix_by_building(finding::Finding& finding, const std::string& options) const {
  const bool known = !question.build_argument.empty();
  const std::string command =
      "dcuop build " + (known ? question.build_argument : "OP") + (options.empty() ? "" : " " + options);
  const std::string python = facts.python ? facts.python->executable.string() : "";
  // Of linking and device code only: a damaged file was not built so.
  if (!question.built_with.empty() && finding.rule >= "DCU200") {
    finding.evidence.push_back({"built with", question.built_with});
  }
  finding.fix = command;
  finding.chinese.fix = command;
  if (uses_torch && facts.torch && options.empty()) {
    finding.fix += "   (builds for the torch of " + python + ")";
    finding.chinese.fix += "   （针对 " + python + " 的 torch 编译）";
  }
  if (!known) {
    finding.fix += "   (or install the package's build for this machine)";
    finding.chinese.fix += "   （或安装该软件包面向本机的版本）";
  }
}

} // namespace dcuop::doctor
