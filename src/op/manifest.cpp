#include "dcuop/op/manifest.hpp"

#include <algorithm>
#include <array>
#include <optional>
#include <string_view>
#include <utility>

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"
#include "flags.hpp"
#include "identifier.hpp"
#include "manifest_file.hpp"
#include "read_manifest.hpp"
#include "sources.hpp"

namespace dcuop::op {

namespace {

/// An op that is being read: first from the [defaults] of its workspace, then from its own tables, whose
/// values take the place of the defaults'.
struct Draft {
  Op op;
  bool has_abi = false;
  std::optional<TomlPlace> sources_place;
  std::vector<TomlPlace> source_places;                          ///< of each source
  std::vector<std::pair<std::string, TomlPlace>> own_arch_flags; ///< keys of the op's own [build.arch_flags]
};

/// One value on its way into a draft.
struct Field {
  Draft& draft;
  const TomlFile& file;
  const TomlNode& node;
  std::string section;
  std::string key;

  [[nodiscard]] std::string name() const { return "'" + key + "' in [" + section + "]"; }
  [[nodiscard]] bool is_default() const { return section == "defaults"; }
  [[nodiscard]] fs::path directory() const { return file.path().parent_path(); }
};

/// "backend.host".
std::string section_of(Backend backend) {
  return "backend." + to_string(backend);
}

struct Key {
  KeyInfo info;
  void (*apply)(const Field&);
};

const std::vector<Key>& keys();
std::vector<Key> op_and_build_keys();
std::vector<Key> other_keys();
Draft draft_of(const TomlFile& file);
void require_backend(Draft& draft, const TomlFile& file, Backend backend);
void apply_table(Draft& draft, const TomlFile& file, const std::string& section);
void apply_backend(Draft& draft, const TomlFile& file);
void complete(Draft& draft, const TomlFile& file);

} // namespace

Op read_op(const fs::path& manifest, Backend backend) {
  // The real directory: compilers resolve "../x" through it, whatever links led here.
  const fs::path given = fs::absolute(manifest).lexically_normal();
  return op_of(read_manifest_file(fs::weakly_canonical(given.parent_path()) / given.filename()),
               given.parent_path(), backend);
}

std::vector<Backend> backends_of(const fs::path& manifest) {
  return backends_in(read_manifest_file(manifest));
}

Op op_of(const TomlFile& file, const fs::path& directory, Backend backend) {
  if (!describes_op(file)) {
    file.fail({}, "this opens a workspace and describes no op", "name one of its members");
  }
  Draft draft = draft_of(file);
  require_backend(draft, file, backend);
  if (const std::optional<TomlFile> root = nearest_workspace_file(directory)) {
    draft.op.workspace_root = fs::weakly_canonical(root->path().parent_path());
    apply_table(draft, *root, "defaults");
  }
  apply_table(draft, file, "op");
  apply_table(draft, file, "build");
  apply_backend(draft, file);
  complete(draft, file);
  return std::move(draft.op);
}

Op read_tables(const TomlFile& file) {
  Draft draft = draft_of(file);
  apply_table(draft, file, "op");
  apply_table(draft, file, "build");
  complete(draft, file);
  return std::move(draft.op);
}

const std::vector<KeyInfo>& manifest_keys() {
  static const std::vector<KeyInfo> infos = [] {
    std::vector<KeyInfo> result;
    for (const Key& key : keys()) {
      result.push_back(key.info);
    }
    return result;
  }();
  return infos;
}

namespace {

Draft draft_of(const TomlFile& file) {
  Draft draft;
  draft.op.manifest = file.path();
  draft.op.directory = file.path().parent_path();
  draft.op.workspace_root = draft.op.directory;
  return draft;
}

void require_backend(Draft& draft, const TomlFile& file, Backend backend) {
  draft.op.backend = backend;
  draft.op.backends = backends_in(file);
  if (!draft.op.has_backend(backend)) {
    std::vector<std::string> names;
    for (const Backend known : draft.op.backends) {
      names.push_back(to_string(known));
    }
    const bool is_hip = backend == Backend::hip;
    file.fail({},
              "the op has no " + (is_hip ? "sources in [build]" : "[" + section_of(backend) + "]") +
                  "; it is built for " + join(names, ", "),
              std::string(is_hip ? "add them" : "say there what differs from [build]") +
                  ", or choose another with --backend or DCUOP_BACKEND");
  }
}

/// `section`: "op", "backend.host".
const TomlNode* table_at(const TomlFile& file, const std::string& section) {
  const TomlNode* table = &file.root();
  for (const std::string& name : split(section, '.')) {
    table = table == nullptr ? nullptr : table->find(name);
  }
  return table;
}

void apply_table(Draft& draft, const TomlFile& file, const std::string& section) {
  const TomlNode* table = table_at(file, section);
  if (table == nullptr) {
    return;
  }
  const std::string home = section == "defaults" ? "build" : section.substr(0, section.find('.'));
  for (const TomlMember& member : table->members) {
    const auto key = std::find_if(keys().begin(), keys().end(), [&](const Key& candidate) {
      return candidate.info.section == home && candidate.info.name == member.key;
    });
    if (key != keys().end()) {
      key->apply({draft, file, member.value, section, member.key});
    }
  }
}

/// What [build] says of HIP's device code and compilers holds for no other backend.
void apply_backend(Draft& draft, const TomlFile& file) {
  Op& op = draft.op;
  if (op.backend == Backend::hip) {
    return;
  }
  op.hip_flags.clear();
  op.archs.clear();
  op.arch_flags.clear();
  draft.own_arch_flags.clear();
  op.host_compiler = HostCompiler::system;
  apply_table(draft, file, section_of(op.backend));
  for (std::size_t index = 0; index < op.sources.size(); ++index) {
    Source& source = op.sources[index];
    if (source.language != Language::hip) {
      continue;
    }
    if (op.backend == Backend::cuda && source.path.extension() == ".cu") {
      source.language = Language::cuda;
      continue;
    }
    file.fail(
        draft.source_places.at(index),
        "source '" + source.path.string() + "' is " + (op.backend == Backend::host ? "device code" : "HIP") +
            ", and the op is to be built for " + to_string(op.backend),
        "name the sources of that build in [" + section_of(op.backend) + "]: sources = [\"binding.cpp\", " +
            (op.backend == Backend::host ? "\"op_host.cpp\"]" : "\"op_kernel.cu\"]"));
  }
}

Abi abi_of(Kind kind) {
  switch (kind) {
  case Kind::pybind_module:
    return Abi::torch_python;
  case Kind::torch_library:
  case Kind::executable:
    return Abi::torch;
  case Kind::plain:
    return Abi::none;
  }
  return Abi::torch_python;
}

void complete_name(Draft& draft, const TomlFile& file) {
  if (!draft.op.name.empty()) {
    return;
  }
  const std::string directory = draft.op.directory.filename().string();
  if (!is_identifier(directory)) {
    file.fail({}, "the op has no name, and its directory's, '" + directory + "', is not an identifier",
              "add to [op]: name = \"...\" (letters, digits and _, no digit first)");
  }
  draft.op.name = directory;
}

void complete_arch_flags(Draft& draft, const TomlFile& file) {
  const std::vector<std::string>& archs = draft.op.archs;
  for (const auto& [arch, place] : draft.own_arch_flags) {
    if (!draft.op.supports_any_arch() && std::find(archs.begin(), archs.end(), arch) == archs.end()) {
      file.fail(place, "flags for '" + arch + "', which is not among the archs of this op",
                archs.empty() ? "it names no archs" : "its archs are: " + join(archs, ", "));
    }
  }
  // Defaults may speak of archs that only other ops support.
  std::erase_if(draft.op.arch_flags, [&](const auto& entry) {
    return !draft.op.supports_any_arch() && std::find(archs.begin(), archs.end(), entry.first) == archs.end();
  });
}

/// What follows from the values together.
void complete(Draft& draft, const TomlFile& file) {
  complete_name(draft, file);
  if (!draft.has_abi) {
    draft.op.abi = abi_of(draft.op.kind);
  }
  if (draft.op.sources.empty()) {
    file.fail(draft.sources_place.value_or(TomlPlace{}), "the op has no sources",
              "add to [build]: sources = [\"binding.cpp\", \"op_kernel.hip\"]");
  }
  if (draft.op.has_cuda() && draft.op.archs.empty()) {
    file.fail(draft.sources_place.value_or(TomlPlace{}),
              "the op has CUDA sources but names no archs for them",
              "add to [backend.cuda] what it supports: archs = [\"sm_90\"]");
  }
  if (draft.op.has_hip() && draft.op.archs.empty()) {
    file.fail(draft.sources_place.value_or(TomlPlace{}), "the op has HIP sources but names no archs",
              "add to [build] what it supports: archs = [\"gfx906\"]");
  }
  complete_arch_flags(draft, file);
}

// What each key does ---------------------------------------------------------------------------------------

template <typename T, std::size_t N>
T choice_of(const Field& field, const std::array<std::pair<std::string_view, T>, N>& choices) {
  const std::string text = field.file.text_of(field.node, field.name());
  std::vector<std::string> names;
  for (const auto& [name, value] : choices) {
    if (text == name) {
      return value;
    }
    names.emplace_back(name);
  }
  const std::optional<std::string> near = nearest(text, names);
  field.file.fail(field.node.place, field.name() + " must be one of " + join(names, ", ") + ", not '" + text +
                                        "'" + (near ? "; did you mean '" + *near + "'?" : ""));
}

void apply_name(const Field& field) {
  const std::string name = field.file.text_of(field.node, field.name());
  if (!is_identifier(name)) {
    field.file.fail(field.node.place, field.name() + " must be an identifier, not '" + name + "'",
                    "letters, digits and _, no digit first: it names the module that Python imports");
  }
  field.draft.op.name = name;
}

void apply_kind(const Field& field) {
  static constexpr std::array<std::pair<std::string_view, Kind>, 4> choices = {{
      {"pybind", Kind::pybind_module},
      {"torch-library", Kind::torch_library},
      {"plain", Kind::plain},
      {"executable", Kind::executable},
  }};
  field.draft.op.kind = choice_of(field, choices);
}

void apply_abi(const Field& field) {
  static constexpr std::array<std::pair<std::string_view, Abi>, 3> choices = {{
      {"torch-python", Abi::torch_python},
      {"torch", Abi::torch},
      {"none", Abi::none},
  }};
  field.draft.op.abi = choice_of(field, choices);
  field.draft.has_abi = true;
}

void apply_sources(const Field& field) {
  const Op& op = field.draft.op;
  SourceList list = read_sources(field.file, field.node, field.name(), {op.directory, op.workspace_root});
  field.draft.sources_place = field.node.place;
  field.draft.source_places = std::move(list.places);
  field.draft.op.sources = std::move(list.sources);
}

void apply_include_dirs(const Field& field) {
  std::vector<fs::path> directories;
  for (const TomlNode& item : field.file.texts_of(field.node, field.name())) {
    const fs::path path = absolute_from(item.text, field.directory());
    const std::optional<FileIdentity> identity = identity_of(path);
    // Those of another package may be missing on some machines; the project's own are there or misspelt.
    if (identity && !identity->is_directory()) {
      field.file.fail(item.place, "include directory '" + item.text + "' is no directory");
    }
    if (fs::path(item.text).is_relative() && !identity) {
      const std::optional<std::string> near =
          nearest(path.filename().string(), list_directory(path.parent_path()));
      field.file.fail(item.place, "include directory '" + item.text + "' does not exist" +
                                      (near ? "; did you mean '" + *near + "'?" : ""));
    }
    directories.push_back(path);
  }
  field.draft.op.include_dirs = std::move(directories);
}

void apply_cxx_standard(const Field& field) {
  constexpr std::array<std::int64_t, 5> standards = {14, 17, 20, 23, 26};
  const std::int64_t standard = field.file.integer_of(field.node, field.name());
  if (std::find(standards.begin(), standards.end(), standard) == standards.end()) {
    field.file.fail(field.node.place,
                    field.name() + " must be one of 14, 17, 20, 23, 26, not " + std::to_string(standard));
  }
  field.draft.op.cxx_standard = static_cast<int>(standard);
}

std::vector<std::string> flags_of(const Field& field) {
  return read_flags(field.node, {field.file, field.name(), field.directory(), field.draft.op.workspace_root});
}
void apply_cxx_flags(const Field& field) {
  field.draft.op.cxx_flags = flags_of(field);
}
void apply_hip_flags(const Field& field) {
  field.draft.op.hip_flags = flags_of(field);
}
void apply_cuda_flags(const Field& field) {
  field.draft.op.cuda_flags = read_flags(
      field.node, {field.file, field.name(), field.directory(), field.draft.op.workspace_root, true});
}
void apply_link_flags(const Field& field) {
  field.draft.op.link_flags = flags_of(field);
}

void apply_libraries(const Field& field) {
  std::vector<std::string> libraries;
  for (const TomlNode& item : field.file.texts_of(field.node, field.name())) {
    if (item.text.starts_with('-') || item.text.find_first_of("/ ") != std::string::npos) {
      field.file.fail(
          item.place, "'" + item.text + "' in " + field.name() + " is not the name of a library",
          "write what stands after -l: \"numa\", or \":libnuma.so.1\" for one file; where to look "
          "for it (-L) belongs in link_flags");
    }
    libraries.push_back(item.text);
  }
  field.draft.op.libraries = std::move(libraries);
}

void check_arch(const Field& field, const std::string& arch, TomlPlace place) {
  if (field.section == section_of(Backend::cuda)) {
    if (!is_cuda_arch(arch)) {
      field.file.fail(
          place, "'" + arch + "' in " + field.name() + " is no arch of nvcc",
          "write sm_90, sm_90a (for that processor alone) or compute_90 (PTX, for it and later ones)");
    }
    return;
  }
  if (!is_target_id(arch)) {
    field.file.fail(
        place, "'" + arch + "' in " + field.name() + " is not a target id",
        "a target id is a processor and its features, sramecc before xnack: gfx906, gfx90a:xnack-, "
        "gfx936:sramecc+:xnack-");
  }
}

void apply_archs(const Field& field) {
  std::vector<std::string> archs;
  for (const TomlNode& item : field.file.texts_of(field.node, field.name())) {
    if (item.text != any_arch) {
      check_arch(field, item.text, item.place);
    }
    if (std::find(archs.begin(), archs.end(), item.text) != archs.end()) {
      field.file.fail(item.place, "'" + item.text + "' stands twice in " + field.name());
    }
    archs.push_back(item.text);
  }
  field.draft.op.archs = std::move(archs);
}

void apply_arch_flags(const Field& field) {
  if (field.node.type != TomlNode::Type::table) {
    field.file.fail(field.node.place, field.name() + " must be a table, not " + to_string(field.node.type),
                    "write [" + field.section + ".arch_flags] and below it: gfx906 = [\"-DWAVE=64\"]");
  }
  field.draft.op.arch_flags.clear();
  for (const TomlMember& member : field.node.members) {
    check_arch(field, member.key, member.place);
    const Field flags{field.draft, field.file, member.value, field.section + ".arch_flags", member.key};
    field.draft.op.arch_flags[member.key] = flags_of(flags);
    if (!field.is_default()) {
      field.draft.own_arch_flags.emplace_back(member.key, member.place);
    }
  }
}

void apply_host_compiler(const Field& field) {
  static constexpr std::array<std::pair<std::string_view, HostCompiler>, 2> choices = {{
      {"system", HostCompiler::system},
      {"toolchain", HostCompiler::toolchain},
  }};
  field.draft.op.host_compiler = choice_of(field, choices);
}

void apply_allow_cpu_torch(const Field& field) {
  field.draft.op.allow_cpu_torch = field.file.boolean_of(field.node, field.name());
}

// The workspace's own keys are not an op's: find_workspace reads them.
void apply_members(const Field&) {}

constexpr const char* texts = "array of strings";

const std::vector<Key>& keys() {
  static const std::vector<Key> table = [] {
    std::vector<Key> all = op_and_build_keys();
    const std::vector<Key> others = other_keys();
    all.insert(all.end(), others.begin(), others.end());
    return all;
  }();
  return table;
}

std::vector<Key> op_and_build_keys() {
  return {
      {{"op", "name", "string", "the directory's name",
        "What the op and its module are called: an identifier, the NAME in `import NAME`."},
       apply_name},
      {{"op", "kind", "string", "pybind",
        "What is built: \"pybind\" (a Python extension module), \"torch-library\" (TORCH_LIBRARY ops for "
        "torch.ops.load_library) or \"plain\" (a shared library for ctypes or dlopen)."},
       apply_kind},
      {{"op", "abi", "string", "torch-python for pybind, torch for torch-library, none for plain",
        "What the result is bound to, and so what makes it be built again: \"torch-python\" (this Python and "
        "this "
        "torch), \"torch\" (this torch) or \"none\"."},
       apply_abi},
      {{"build", "sources", texts, "",
        "Files to compile, relative to the op, patterns allowed (*, ?, [...], **); .hip and .cu are HIP, "
        ".cpp, .cc "
        "and .cxx are C++, .c is C."},
       apply_sources},
      {{"build", "include_dirs", texts, "[]", "Directories for #include, relative to this file or absolute.",
        true},
       apply_include_dirs},
      {{"build", "cxx_standard", "integer", "17",
        "The C++ standard of C++ and HIP units: 14, 17, 20, 23 or 26; more where torch's headers need more.",
        true},
       apply_cxx_standard},
      {{"build", "cxx_flags", texts, "[]", "Flags for C and C++ units.", true}, apply_cxx_flags},
      {{"build", "hip_flags", texts, "[]", "Flags for HIP units, all archs.", true}, apply_hip_flags},
      {{"build", "link_flags", texts, "[]", "Flags for the link.", true}, apply_link_flags},
      {{"build", "libraries", texts, "[]", "Libraries to link, as after -l.", true}, apply_libraries},
      {{"build", "archs", texts, "[]",
        "Target ids that the op supports, or \"*\" for whatever the compiler knows; which of them are built "
        "is "
        "chosen when building (--arch, DCUOP_ARCH, the visible devices). Needed when there are HIP sources.",
        true},
       apply_archs},
      {{"build", "arch_flags", "table of arrays of strings", "{}",
        "Flags for the device pass of one arch; each key is one of archs.", true},
       apply_arch_flags},
      {{"build", "host_compiler", "string", "system",
        "What compiles C and C++ units: \"system\" ($CXX, else c++) or \"toolchain\" (the HIP toolchain's "
        "clang).",
        true},
       apply_host_compiler},
      {{"build", "allow_cpu_torch", "boolean", "false",
        "Whether HIP sources may be built against a torch without HIP, which cannot launch them.", true},
       apply_allow_cpu_torch},
  };
}

std::vector<Key> other_keys() {
  const char* from_build = "as in [build]";
  return {
      {{"backend", "sources", texts, from_build,
        "Files of this backend's build in the place of [build]'s; .cu is CUDA, and there is no .hip."},
       apply_sources},
      {{"backend", "include_dirs", texts, from_build, "Directories for #include."}, apply_include_dirs},
      {{"backend", "cxx_flags", texts, from_build, "Flags for C and C++ units."}, apply_cxx_flags},
      {{"backend", "cuda_flags", texts, "[]", "Flags of nvcc for CUDA units.", false, true},
       apply_cuda_flags},
      {{"backend", "link_flags", texts, from_build, "Flags for the link."}, apply_link_flags},
      {{"backend", "libraries", texts, from_build, "Libraries to link, as after -l."}, apply_libraries},
      {{"backend", "archs", texts, "[]",
        "What the op supports: sm_90, sm_90a, compute_90 (PTX), or \"*\". Needed when there are CUDA "
        "sources.",
        false, true},
       apply_archs},
      {{"backend", "host_compiler", "string", "system",
        "What compiles C and C++ units, and the host's part of CUDA units: as in [build], which does not "
        "count here."},
       apply_host_compiler},
      {{"workspace", "members", texts, "",
        "The workspace's ops: directories relative to this file, patterns allowed; those without a "
        "dcuop.toml are "
        "skipped."},
       apply_members},
  };
}

} // namespace

} // namespace dcuop::op
