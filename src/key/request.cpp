#include "dcuop/key/request.hpp"

#include <algorithm>

#include <nlohmann/json.hpp>

#include "cuda_archs.hpp"
#include "dcuop/key/flags.hpp"
#include "dcuop/support/error.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::key {

namespace {

using Words = std::vector<std::string>;

void append(Words& to, const Words& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// A toolchain is the same for all units that are compiled with the same flags.
class RequestMaker {
 public:
  RequestMaker(const op::Op& op, const Facts& facts, const probe::Machine& machine)
      : op_(op), facts_(facts), machine_(machine) {
    request_.op = op;
    request_.environment = probe::compile_environment(machine.environment, "/tmp");
    request_.base = {op.directory, op.workspace_root, request_.environment.get("PATH").value_or(""),
                     request_.environment.get("HOME").value_or("")};
  }

  Request make() {
    select_archs();
    name_artifact();
    describe_op();
    for (const op::Source& source : op_.sources) {
      add_unit(source);
    }
    add_link();
    request_.components.add_all(environment_components());
    request_.digest = request_.components.digest();
    request_.facts_json = facts_json();
    return std::move(request_);
  }

 private:
  void select_archs() {
    if (op_.has_cuda()) {
      request_.archs = cuda_archs_of(op_, facts_);
    }
    if (!op_.has_hip()) {
      return;
    }
    for (const std::string& arch : facts_.archs.archs) {
      if (!op_.supports(arch)) {
        throw Error(ExitCode::usage,
                    op_.name + " does not support " + arch + " (" + facts_.archs.origin + "); it supports " +
                        join(op_.archs, ", "),
                    "add \"" + arch + "\" to archs in " + op_.manifest.string() +
                        " if the op is written for it");
      }
      request_.archs.push_back(arch);
    }
    std::sort(request_.archs.begin(), request_.archs.end());
  }

  void name_artifact() {
    request_.artifact = op_.name + (op_.kind == op::Kind::pybind_module ? needed(facts_.python).ext_suffix
                                    : op_.kind == op::Kind::executable  ? ""
                                                                        : ".so");
  }

  void describe_op() {
    Components& components = request_.components;
    components.add(Group::schema, "dcuop", std::to_string(schema_version));
    components.add(Group::op, "name", op_.name);
    components.add(Group::op, "kind", op::to_string(op_.kind));
    components.add(Group::op, "abi", op::to_string(op_.abi));
    components.add(Group::op, "artifact", request_.artifact);
    if (op_.backend !=
        op::Backend::hip) { // absent: hip, so that entries from before there were others stay hits
      components.add(Group::op, std::string(backend_component), op::to_string(op_.backend));
    }
    if (op_.kind == op::Kind::pybind_module || op_.abi == op::Abi::torch_python) {
      components.add(Group::python, "python", needed(facts_.python).soabi);
    }
    if (op_.abi != op::Abi::none) {
      components.add(Group::torch, "torch", needed(facts_.torch).identity, needed(facts_.torch).summary());
    }
  }

  // Units ----------------------------------------------------------------------------------------------------

  [[nodiscard]] const probe::Compiler& compiler_for(const op::Source& source) const {
    if (source.language == op::Language::hip) {
      return needed(facts_.hip_compiler);
    }
    if (source.language == op::Language::cuda) {
      return needed(facts_.cuda).compiler;
    }
    const bool is_systems_c =
        source.language == op::Language::c && op_.host_compiler == op::HostCompiler::system;
    return is_systems_c ? needed(facts_.c_compiler) : cxx_compiler_of(facts_, op_);
  }

  [[nodiscard]] Words binding_definitions() const {
    Words words;
    if (op_.kind == op::Kind::pybind_module || op_.abi != op::Abi::none) {
      words.push_back("-DTORCH_EXTENSION_NAME=" + op_.name);
      words.emplace_back("-DTORCH_API_INCLUDE_EXTENSION_H");
    }
    if (op_.abi == op::Abi::none) {
      return words;
    }
    const probe::Torch& torch = needed(facts_.torch);
    if (torch.cxx11_abi) {
      words.push_back(std::string("-D_GLIBCXX_USE_CXX11_ABI=") + (*torch.cxx11_abi ? "1" : "0"));
    }
    // pybind11 modules share types with torch only when their internals carry the same three words.
    const auto define = [&](const char* name, const std::string& value) {
      if (!value.empty()) {
        words.push_back(std::string("-DPYBIND11_") + name + "=\"" + value + "\"");
      }
    };
    define("COMPILER_TYPE", torch.pybind11_compiler);
    define("STDLIB", torch.pybind11_stdlib);
    define("BUILD_ABI", torch.pybind11_build_abi);
    if (torch.is_hip()) {
      append(words, {"-DUSE_ROCM=1"});
    }
    return words;
  }

  [[nodiscard]] Words include_flags(const op::Source& source) const {
    Words words;
    const auto system = [&](const std::filesystem::path& directory) {
      // -isystem /usr/include breaks #include_next <stdlib.h> of libstdc++.
      if (directory != "/usr/include") {
        append(words, {"-isystem", directory.string()});
      }
    };
    for (const std::filesystem::path& directory : op_.include_dirs) {
      words.push_back("-I" + request_.base.portable(directory));
    }
    if (op_.abi != op::Abi::none) {
      std::for_each(needed(facts_.torch).include_dirs.begin(), needed(facts_.torch).include_dirs.end(),
                    system);
      std::for_each(needed(facts_.torch).pybind11_include_dirs.begin(),
                    needed(facts_.torch).pybind11_include_dirs.end(), system);
    }
    if (op_.kind == op::Kind::pybind_module || op_.abi == op::Abi::torch_python) {
      system(needed(facts_.python).include_dir);
    }
    if (op_.has_hip() && facts_.rocm) {
      system(needed(facts_.rocm).root / "include");
    }
    if (op_.has_cuda() && source.language != op::Language::cuda) { // nvcc knows its own
      std::for_each(needed(facts_.cuda).include_dirs.begin(), needed(facts_.cuda).include_dirs.end(), system);
    }
    return words;
  }

  /// torch's headers end a compile with less than they need, so an op written for an older torch gets more.
  [[nodiscard]] int cxx_standard() const {
    return op_.abi == op::Abi::none ? op_.cxx_standard
                                    : std::max(op_.cxx_standard, needed(facts_.torch).cxx_standard);
  }

  [[nodiscard]] Words own_flags(const op::Source& source) const {
    const bool is_c = source.language == op::Language::c;
    const bool is_cuda = source.language == op::Language::cuda;
    Words words = {is_cuda ? "-Xcompiler=-fPIC" : "-fPIC", "-O3"};
    if (is_cuda && op_.abi != op::Abi::none) {
      // As torch's own loader has it (COMMON_NVCC_FLAGS): its headers call constexpr functions of the host.
      words.emplace_back("--expt-relaxed-constexpr");
    }
    if (!is_c) {
      words.push_back("-std=c++" + std::to_string(cxx_standard()));
    }
    if (op_.has_hip()) {
      words.emplace_back("-D__HIP_PLATFORM_AMD__=1");
    }
    append(words, binding_definitions());
    append(words, include_flags(source));
    return words;
  }

  void add_unit(const op::Source& source) {
    const bool is_hip = source.language == op::Language::hip;
    const bool is_cuda = source.language == op::Language::cuda;
    UnitRequest unit;
    unit.source = source;
    unit.compiler = compiler_for(source);
    FlagReport user = is_cuda ? examine_cuda_flags(op_.cuda_flags, request_.base)
                              : examine_flags(is_hip ? op_.hip_flags : op_.cxx_flags, request_.base);
    unit.flags = own_flags(source);
    append(unit.flags, user.flags);
    std::vector<fs::path> named_files;
    take_report(unit, user, named_files);
    if (is_hip) {
      add_arch_flags(unit, named_files);
      take_report(unit, environment_flags(), named_files);
    } else if (is_cuda) {
      unit.host_compiler = cxx_compiler_of(facts_, op_);
      const FlagReport appended = nvcc_environment_flags();
      append(user.host_flags, appended.host_flags);
      take_report(unit, appended, named_files);
      refuse_shell_characters(unit);
    }
    unit.flags_without_archs = unit.flags;
    if (is_hip || is_cuda) {
      unit.archs = request_.archs;
      append(unit.flags, is_hip ? arch_options() : cuda_arch_options());
    }
    describe_unit(unit, user.host_flags, named_files);
    if (is_hip && unit.compiler.family == probe::Family::clang) {
      // clang hashes the output path into the CUID otherwise; two units with one CUID collide at an RDC link.
      unit.flags.push_back("-cuid=" + unit.request.hex().substr(0, 16));
    }
    request_.units.push_back(std::move(unit));
  }

  static void take_report(UnitRequest& unit, const FlagReport& report, std::vector<fs::path>& named_files) {
    append(unit.uncacheable, report.uncacheable);
    named_files.insert(named_files.end(), report.files.begin(), report.files.end());
  }

  /// What hipcc takes from its environment counts as if it stood in the manifest.
  [[nodiscard]] FlagReport environment_flags() const {
    Words words;
    for (const char* name : {"HIPCC_COMPILE_FLAGS_APPEND", "HIPCC_LINK_FLAGS_APPEND"}) {
      append(words, shell_words(request_.environment.get(name).value_or("")));
    }
    FlagReport report = examine_flags(words, request_.base);
    if (request_.environment.get_nonempty("CCC_OVERRIDE_OPTIONS")) {
      report.uncacheable.emplace_back("CCC_OVERRIDE_OPTIONS edits the command where dcuop does not see it");
    }
    return report;
  }

  [[nodiscard]] FlagReport nvcc_environment_flags() const {
    Words words;
    for (const char* name : {"NVCC_PREPEND_FLAGS", "NVCC_APPEND_FLAGS"}) {
      append(words, shell_words(request_.environment.get(name).value_or("")));
    }
    return examine_cuda_flags(words, request_.base);
  }

  /// nvcc hands its words to `sh -c`, between double quotes at best: an op's directory called "$(id)" would be run. Flags
  /// of the manifest are checked where it is read.
  void refuse_shell_characters(const UnitRequest& unit) const {
    Words words = {op_.directory.string(), unit.name(), needed(unit.host_compiler).program.string()};
    for (const std::string& flag : unit.flags) {
      if (!flag.starts_with("-DPYBIND11_")) { // whose quotes nvcc escapes
        words.push_back(flag);
      }
    }
    for (const std::string& word : words) {
      if (word.find_first_of("$`\"'\\\n") != std::string::npos) {
        throw Error(ExitCode::usage,
                    op_.name + ": nvcc would hand '" + word +
                        "' to a shell, to which a character in it means something",
                    "use paths without $, `, quotes and backslashes");
      }
    }
  }

  [[nodiscard]] Words cuda_arch_options() const {
    Words words;
    for (const std::string& arch : request_.archs) {
      const std::string processor = arch.substr(arch.find('_') + 1);
      words.push_back("-gencode=arch=compute_" + processor + ",code=" + arch);
    }
    return words;
  }

  [[nodiscard]] Words arch_options() const {
    Words words;
    for (const std::string& arch : request_.archs) {
      words.push_back("--offload-arch=" + arch);
    }
    return words;
  }

  void add_arch_flags(UnitRequest& unit, std::vector<fs::path>& named_files) const {
    for (const std::string& arch : request_.archs) {
      const auto found = op_.arch_flags.find(arch);
      if (found == op_.arch_flags.end()) {
        continue;
      }
      const FlagReport report = examine_flags(found->second, request_.base);
      take_report(unit, report, named_files);
      for (const std::string& flag : report.flags) {
        append(unit.flags, {"-Xarch_" + arch, flag});
      }
    }
  }

  /// `host_flags`: those for nvcc's host compiler.
  [[nodiscard]] probe::Toolchain toolchain_of(const UnitRequest& unit, const Words& host_flags) const {
    if (unit.host_compiler) {
      return probe::resolve_cuda_toolchain(machine_, needed(facts_.cuda), *unit.host_compiler, host_flags,
                                           request_.environment);
    }
    Words arguments = unit.flags;
    append(arguments, {"-x",
                       unit.source.language == op::Language::hip ? "hip"
                       : unit.source.language == op::Language::c ? "c"
                                                                 : "c++",
                       "-c"});
    return probe::resolve_toolchain(machine_, unit.compiler, arguments, request_.environment);
  }

  void describe_unit(UnitRequest& unit, const Words& host_flags, const std::vector<fs::path>& named_files) {
    const std::string name = unit.name();
    const std::optional<Digest> content = digest_of_file(op_.directory / unit.source.path);
    if (!content) {
      throw Error(ExitCode::usage, "cannot read " + (op_.directory / unit.source.path).string());
    }
    const probe::Toolchain toolchain = toolchain_of(unit, host_flags);
    if (!toolchain.problem.empty()) {
      unit.uncacheable.push_back(toolchain.problem);
    }
    Components& components = unit.components;
    components.add(Group::schema, "dcuop", std::to_string(schema_version));
    components.add(Group::source, name, *content, op::to_string(unit.source.language));
    components.add(Group::flag, name + " flags", framed(unit.flags_without_archs),
                   join(unit.flags_without_archs, " "));
    if (!unit.archs.empty()) {
      components.add(Group::arch, "offload arch", join(unit.archs, " "));
    }
    describe_files(components, named_files);
    if (unit.host_compiler) {
      components.add(Group::toolchain, "host compiler called",
                     unit.host_compiler->program.filename().string());
    }
    describe_toolchain(components, toolchain, name);
    components.add_all(environment_components());
    unit.request = components.digest();
    request_.components.add_all(components);
    for (const std::string& reason : unit.uncacheable) {
      request_.uncacheable.push_back(std::string(name).append(": ").append(reason));
    }
  }

  static Digest framed(const Words& words) {
    Hasher hasher;
    for (const std::string& word : words) {
      hasher.text("word", word);
    }
    return hasher.finish();
  }

  void describe_files(Components& components, const std::vector<fs::path>& files) {
    for (const fs::path& file : files) {
      const std::optional<Digest> content = digest_of_file(file);
      if (!content) {
        throw Error(ExitCode::usage, op_.name + ": a flag names " + file.string() + ", which cannot be read",
                    "look at the flags in " + op_.manifest.string());
      }
      components.add(Group::flag, request_.base.portable(file), *content, "named by a flag");
      request_.fixed_files.push_back({file, identity_of(file)});
    }
  }

  /// nvcc's "compilers" are several, of two makers.
  static bool is_compiler(const probe::Toolchain& toolchain, const probe::ToolFile& file) {
    return file.role == "compiler" && toolchain.compiler.family != probe::Family::nvcc;
  }

  void describe_toolchain(Components& components, const probe::Toolchain& toolchain,
                          const std::string& user) {
    components.add(Group::toolchain, "compiler called", toolchain.compiler.program.filename().string());
    for (const probe::ToolFile& file : toolchain.files) {
      const bool is_bitcode = file.role == "bitcode";
      components.add(is_bitcode ? Group::bitcode : Group::toolchain,
                     file.role + " " + file.path.filename().string(), file.content,
                     is_compiler(toolchain, file) ? toolchain.compiler.version : file.path.string());
      request_.fixed_files.push_back({file.path, identity_of(file.path)});
    }
    // -march=native, from wherever it came, is what it came to.
    if (!toolchain.resolved_cpu.empty()) {
      components.add(Group::flag, user + " native", join(toolchain.resolved_cpu, " "));
    }
  }

  // Link -----------------------------------------------------------------------------------------------------

  void add_link() {
    LinkRequest& link = request_.link;
    link.compiler = op_.has_hip() ? needed(facts_.hip_compiler) : cxx_compiler_of(facts_, op_);
    const FlagReport user = examine_flags(op_.link_flags, request_.base);
    const bool rdc = examine_flags(op_.hip_flags, request_.base).rdc;
    link.flags = op_.kind == op::Kind::executable ? Words{"-fPIC"} : Words{"-shared", "-fPIC"};
    if (op_.has_hip()) {
      append(link.flags, arch_options());
      append(link.flags, rdc ? rdc_options() : Words{});
    }
    // Behind the objects, as a library or an archive among them has to be, and before what they may need of torch.
    link.libraries = user.flags;
    if (op_.abi != op::Abi::none) {
      add_torch_libraries();
    }
    if (op_.has_cuda()) {
      add_cuda_runtime();
    }
    for (const std::string& library : op_.libraries) {
      link.libraries.push_back("-l" + library);
    }
    describe_link(user);
  }

  /// hipcc finds an lld on PATH that can be older than its clang; the one beside the clang reads its bitcode.
  [[nodiscard]] Words rdc_options() const {
    Words words = {"-fgpu-rdc", "--hip-link"};
    const probe::Compiler clang = probe::host_compiler_of(machine_, needed(facts_.hip_compiler));
    const fs::path real = fs::weakly_canonical(clang.program).parent_path();
    if (fs::exists(real / "lld")) {
      words.push_back("-B" + real.string());
    }
    return words;
  }

  /// A process that has torch's runtime loaded keeps that one: it has the same soname.
  void add_cuda_runtime() {
    const fs::path& directory = needed(facts_.cuda).library_dir;
    if (!directory.empty()) {
      append(request_.link.libraries, {"-L" + directory.string(), "-Wl,-rpath," + directory.string()});
    }
    request_.link.libraries.emplace_back("-lcudart");
  }

  void add_torch_libraries() {
    const probe::Torch& torch = needed(facts_.torch);
    Words& words = request_.link.libraries;
    words.push_back("-L" + torch.library_dir.string());
    if (op_.kind == op::Kind::executable) {
      words.push_back("-Wl,-rpath," + torch.library_dir.string());
    }
    append(words, {"-lc10", "-ltorch_cpu", "-ltorch"});
    if (torch.is_hip()) {
      append(words, {"-lc10_hip", "-ltorch_hip"});
    }
    if (op_.has_cuda() && torch.is_cuda()) {
      for (const char* name : {"c10_cuda", "torch_cuda"}) {
        if (identity_of(torch.library_dir / ("lib" + std::string(name) + ".so"))) {
          words.push_back(std::string("-l") + name);
        }
      }
    }
    if (op_.abi == op::Abi::torch_python) {
      words.emplace_back("-ltorch_python");
    }
  }

  void describe_link(const FlagReport& user) {
    const LinkRequest& link = request_.link;
    const probe::Toolchain toolchain =
        probe::resolve_toolchain(machine_, link.compiler, link.flags, request_.environment);
    Words words = link.flags;
    append(words, link.libraries);
    // Archs are a component of their own, and -B/-L of the toolchain and torch are judged by content.
    request_.components.add(Group::flag, "link flags", framed(words), join(words, " "));
    describe_files(request_.components, user.files);
    describe_toolchain(request_.components, toolchain, "link");
    for (const std::string& reason : user.uncacheable) {
      request_.uncacheable.push_back(std::string("link: ").append(reason));
    }
    if (!toolchain.problem.empty()) {
      request_.uncacheable.push_back("link: " + toolchain.problem);
    }
  }

  // Environment and facts ------------------------------------------------------------------------------------

  [[nodiscard]] Components environment_components() const {
    Components components;
    for (const std::string& name : probe::compile_variables()) {
      if (const std::optional<std::string> value = request_.environment.get(name)) {
        components.add(Group::environment, name, *value);
      }
    }
    return components;
  }

  [[nodiscard]] std::string facts_json() const {
    nlohmann::json facts = {{"arch", request_.archs},
                            {"backend", op::to_string(op_.backend)},
                            {"kind", op::to_string(op_.kind)},
                            {"origin", op_.directory.string()},
                            {"request", request_.digest.hex()}};
    if (op_.abi != op::Abi::none) {
      facts["torch"] = needed(facts_.torch).summary();
    }
    if (facts_.python) {
      facts["python"] = needed(facts_.python).version;
    }
    if (op_.has_hip()) {
      facts["hip"] = needed(facts_.hip_compiler).hip_version;
    }
    if (op_.has_cuda()) {
      facts["cuda"] = needed(facts_.cuda).compiler.version;
    }
    return json_text(facts);
  }

  const op::Op& op_;
  const Facts& facts_;
  const probe::Machine& machine_;
  Request request_;
};

} // namespace

std::string changed_fixed_file(const Request& request) {
  for (const Request::FixedFile& file : request.fixed_files) {
    if (identity_of(file.path) != file.identity) {
      return file.path.string();
    }
  }
  return {};
}

Request make_request(const op::Op& op, const Facts& facts, const probe::Machine& machine) {
  return RequestMaker(op, facts, machine).make();
}

} // namespace dcuop::key
