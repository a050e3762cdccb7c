#include "dcuop/key/facts.hpp"

#include <algorithm>

#include "dcuop/support/error.hpp"

namespace dcuop::key {

namespace {

bool needs_torch(const op::Op& op) {
  return op.abi != op::Abi::none;
}
bool needs_python(const op::Op& op) {
  return needs_torch(op) || op.kind == op::Kind::pybind_module;
}

bool has_host_source(const op::Op& op, op::Language language, op::HostCompiler compiler) {
  return op.host_compiler == compiler &&
         std::any_of(op.sources.begin(), op.sources.end(),
                     [&](const op::Source& source) { return source.language == language; });
}

void require_torch(const Facts& facts, const op::Op& op) {
  if (!needs_torch(op)) {
    return;
  }
  if (!facts.torch) {
    throw Error(ExitCode::environment,
                "no torch in " + needed(facts.python).executable.string() + " (" +
                    needed(facts.python).origin + "), which " + op.name + " is built for",
                "name the Python that has it: --python PATH or DCUOP_PYTHON; or set abi = \"none\" in " +
                    op.manifest.string() + " when the op does not use torch");
  }
  const probe::Torch& torch = needed(facts.torch);
  const bool fits = (!op.has_hip() || torch.is_hip()) && (!op.has_cuda() || torch.is_cuda());
  if (!fits && !op.allow_cpu_torch) {
    const std::string kind = op.has_hip() ? "HIP" : "CUDA";
    throw Error(ExitCode::environment,
                "torch " + torch.summary() + " in " + needed(facts.python).executable.string() + " is a " +
                    (torch.is_cpu_only() ? "CPU-only"
                     : torch.is_hip()    ? "HIP"
                                         : "CUDA") +
                    " build, and " + op.name + " has " + kind + " sources",
                "use a Python whose torch is built for " + kind + ", or set allow_cpu_torch = true in " +
                    op.manifest.string() + " (the op then builds and imports here, but cannot launch)");
  }
}

/// Form alone: which of them nvcc knows is its matter.
void check_cuda_archs(const probe::ArchSelection& selection) {
  for (const std::string& arch : selection.archs) {
    if (!op::is_cuda_arch(arch)) {
      throw Error(
          ExitCode::usage, "'" + arch + "' (" + selection.origin + ") is no arch of nvcc",
          "write sm_90, sm_90a (for that processor alone) or compute_90 (PTX, for it and later ones)");
    }
  }
}

/// `facts` have the host compilers already.
void gather_cuda_facts(const probe::Machine& machine, const std::vector<op::Op>& ops, const Wishes& wishes,
                       Facts& facts) {
  const auto first = std::find_if(ops.begin(), ops.end(), [](const op::Op& op) { return op.has_cuda(); });
  if (first == ops.end()) {
    return;
  }
  facts.cuda = probe::find_cuda_compiler(machine, cxx_compiler_of(facts, *first));
  facts.cuda_archs = probe::select_cuda_archs(machine, wishes.archs);
  check_cuda_archs(facts.cuda_archs);
}

} // namespace

Facts gather_facts(const probe::Machine& machine, const std::vector<op::Op>& ops, const Wishes& wishes) {
  const auto any = [&](const auto& predicate) { return std::any_of(ops.begin(), ops.end(), predicate); };
  Facts facts;
  if (any(needs_python)) {
    facts.python = probe::find_python(machine, wishes.python);
    facts.torch = probe::find_torch(machine, needed(facts.python));
  }
  for (const op::Op& op : ops) {
    require_torch(facts, op);
  }
  const auto wants = [](op::Language language, op::HostCompiler compiler) {
    return [=](const op::Op& op) { return has_host_source(op, language, compiler); };
  };
  const bool wants_toolchain = any(wants(op::Language::cxx, op::HostCompiler::toolchain)) ||
                               any(wants(op::Language::c, op::HostCompiler::toolchain)) ||
                               any(wants(op::Language::cuda, op::HostCompiler::toolchain));
  const bool has_hip = any([](const op::Op& op) { return op.has_hip(); });
  if (has_hip || wants_toolchain) {
    facts.hip_compiler = probe::find_hip_compiler(machine);
    facts.rocm = probe::find_rocm(machine);
  }
  if (has_hip) {
    facts.archs = probe::select_archs(machine, wishes.archs, wishes.configured_archs);
  }
  if (wants_toolchain) {
    facts.toolchain_cxx = probe::host_compiler_of(machine, needed(facts.hip_compiler));
  }
  if (any([](const op::Op& op) { return !op.has_hip(); }) ||
      any(wants(op::Language::cxx, op::HostCompiler::system))) {
    facts.cxx_compiler = probe::find_host_compiler(machine);
  }
  if (any(wants(op::Language::c, op::HostCompiler::system))) {
    facts.c_compiler = probe::find_host_compiler(machine, true);
  }
  gather_cuda_facts(machine, ops, wishes, facts);
  return facts;
}

const probe::Compiler& cxx_compiler_of(const Facts& facts, const op::Op& op) {
  return op.host_compiler == op::HostCompiler::toolchain ? needed(facts.toolchain_cxx)
                                                         : needed(facts.cxx_compiler);
}

} // namespace dcuop::key
