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
  if (op.has_hip() && !needed(facts.torch).is_hip() && !op.allow_cpu_torch) {
    const bool cpu = needed(facts.torch).is_cpu_only();
    throw Error(ExitCode::environment,
                "torch " + needed(facts.torch).summary() + " in " + needed(facts.python).executable.string() +
                    " is " + (cpu ? "a CPU-only build" : "a CUDA build") + ", and " + op.name +
                    " has HIP sources",
                "use a Python whose torch is built for HIP, or set allow_cpu_torch = true in " +
                    op.manifest.string() + " (the op then builds and imports here, but cannot launch)");
  }
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
    if (op.has_cuda()) {
      throw Error(ExitCode::environment,
                  op.name + " has CUDA sources, which this dcuop does not compile yet");
    }
    require_torch(facts, op);
  }
  const auto wants = [](op::Language language, op::HostCompiler compiler) {
    return [=](const op::Op& op) { return has_host_source(op, language, compiler); };
  };
  const bool wants_toolchain = any(wants(op::Language::cxx, op::HostCompiler::toolchain)) ||
                               any(wants(op::Language::c, op::HostCompiler::toolchain));
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
  return facts;
}

} // namespace dcuop::key
