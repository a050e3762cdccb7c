#include "selection.hpp"

#include <algorithm>
#include <iterator>
#include <set>

#include "dcuop/elf/bundle.hpp"
#include "dcuop/op/manifest.hpp"
#include "dcuop/support/text.hpp"
#include "description.hpp"

namespace dcuop::cli {

void add_selection(const Subcommand& subcommand, Selection& selection) {
  subcommand.option("OP", selection.ops,
                    "Op directories, or names in the workspace (default: the op one stands in, else all)");
  subcommand
      .option("--from", selection.from,
              "The ops that FILE describes: JSON (- for stdin), or a Python file's calls of load()")
      .type_name("FILE");
  subcommand
      .option("--backend", selection.backend,
              "Which of its builds an op gets: hip, host or cuda (default: hip)")
      .type_name("NAME");
  subcommand.option("--arch", selection.archs, "Offload archs, e.g. gfx906,gfx936, or native")
      .one_list()
      .type_name("A[,B]");
}

namespace {

/// No processor has fewer than three digits behind "gfx".
bool can_be_target_id(const std::string& text) {
  const std::optional<elf::TargetId> target = elf::TargetId::parse(text);
  return target && target->processor.size() > std::string_view("gfx90").size();
}

bool are_for_cuda(const std::vector<op::Op>& ops) {
  return std::all_of(ops.begin(), ops.end(),
                     [](const op::Op& op) { return op.backend == op::Backend::cuda; });
}

/// Also where no op has device code: what is misspelt there would be missed by the next that has.
void check_archs(const std::vector<std::string>& wished, const std::string& origin,
                 const std::vector<op::Op>& ops) {
  const bool is_cuda = are_for_cuda(ops);
  std::vector<std::string> known =
      is_cuda ? std::vector<std::string>{"native", "sm_75", "sm_80",  "sm_86",
                                         "sm_89",  "sm_90", "sm_100", "sm_120"}
              : std::vector<std::string>{"native", "gfx906", "gfx908", "gfx90a", "gfx926",
                                         "gfx928", "gfx936", "gfx938", "gfx942"};
  for (const op::Op& op : ops) {
    known.insert(known.end(), op.archs.begin(), op.archs.end());
  }
  for (const std::string& list : wished) {
    for (const std::string& arch : split(list, ';')) {
      const std::string word(trimmed(arch));
      if (word.empty() || word == "native" || (is_cuda ? op::is_cuda_arch(word) : can_be_target_id(word))) {
        continue;
      }
      const std::optional<std::string> near = nearest(word, known);
      throw Error(
          ExitCode::usage,
          "'" + word + "' (" + origin + ") is no " + (is_cuda ? "arch of nvcc" : "offload arch") +
              (near ? "; did you mean '" + *near + "'?" : ""),
          is_cuda
              ? "write sm_90, sm_90a (for that processor alone) or compute_90 (PTX, for it and later ones)"
              : "a target id is a processor, then features: gfx906, gfx90a:sramecc+:xnack-");
    }
  }
}

/// What is configured is for ops that have a manifest; what is asked for on the command line is not passed over.
void refuse_backend_of_described(const std::vector<op::Op>& ops, const std::string& given) {
  for (const op::Op& op : ops) {
    if (!given.empty() && !op.description.empty() && op::to_string(op.backend) != given) {
      throw Error(ExitCode::usage,
                  "--backend " + given + ": " + op.name + " (" + op.manifest.string() + ") has no [backend." +
                      given + "]",
                  "only ops with a dcuop.toml are built for several backends");
    }
  }
}

} // namespace

op::Backend backend_of(const Context& context, const std::string& given) {
  const std::string name = given.empty() ? context.config.text("backend") : given;
  if (const std::optional<op::Backend> backend = op::backend_named(name)) {
    return *backend;
  }
  std::vector<std::string> names;
  for (const op::Backend backend : op::all_backends()) {
    names.push_back(op::to_string(backend));
  }
  const std::optional<std::string> near = nearest(name, names);
  throw Error(ExitCode::usage, "--backend must be one of " + join(names, ", ") + ", not '" + name + "'" +
                                   (near ? "; did you mean '" + *near + "'?" : ""));
}

Prepared prepare(Context& context, const Selection& selection) {
  Prepared prepared;
  if (selection.from && !selection.ops.empty()) {
    throw Error(ExitCode::usage, "--from and " + selection.ops.front() + " both say which ops",
                "leave one of them out");
  }
  const op::Backend backend = backend_of(context, selection.backend);
  probe::PythonWish python = context.python_wish();
  if (selection.from) {
    Described described = read_description(context, *selection.from, backend);
    prepared.ops = std::move(described.ops);
    refuse_backend_of_described(prepared.ops, selection.backend);
    python = python.origin == "--python" && !python.path.empty() ? python : described.python.value_or(python);
  } else {
    prepared.ops = op::select_ops(selection.ops, context.working_directory, backend);
  }
  if (!selection.archs.empty()) {
    if (trimmed(join(selection.archs, "")).empty()) {
      throw Error(ExitCode::usage, "--arch must not be empty", "for example: --arch gfx906, or leave it out");
    }
    check_archs(selection.archs, "--arch", prepared.ops);
  } else if (const std::string origin = context.config.value("arch").origin;
             origin == "DCUOP_ARCH" || !are_for_cuda(prepared.ops)) { // config.toml's are HIP's
    check_archs(context.config.list("arch"), origin, prepared.ops);
  }
  const probe::Machine machine = context.machine();
  prepared.facts =
      key::gather_facts(machine, prepared.ops, {python, selection.archs, context.config.list("arch")});
  for (const op::Op& op : prepared.ops) {
    prepared.requests.push_back(key::make_request(op, prepared.facts, machine));
  }
  return prepared;
}

probe::ArchSelection archs_of(const Prepared& prepared) {
  const key::Facts& facts = prepared.facts;
  if (!facts.archs.archs.empty() || !facts.cuda) {
    return facts.archs;
  }
  if (!facts.cuda_archs.archs.empty()) {
    return facts.cuda_archs;
  }
  std::set<std::string> archs;
  for (const key::Request& request : prepared.requests) {
    archs.insert(request.archs.begin(), request.archs.end());
  }
  return {{archs.begin(), archs.end()}, "the only one of dcuop.toml"};
}

std::string facts_line(const Prepared& prepared, const Environment& environment) {
  const key::Facts& facts = prepared.facts;
  std::vector<std::string> parts;
  std::set<op::Backend> backends;
  for (const op::Op& op : prepared.ops) {
    backends.insert(op.backend);
  }
  if (backends != std::set{op::Backend::hip}) {
    std::vector<std::string> names;
    std::transform(backends.begin(), backends.end(), std::back_inserter(names),
                   [](op::Backend backend) { return op::to_string(backend); });
    parts.push_back("backend " + join(names, ", "));
  }
  if (const probe::ArchSelection archs = archs_of(prepared); !archs.archs.empty()) {
    parts.push_back("arch " + join(archs.archs, ", ") + " (" + archs.origin + ")");
  }
  if (facts.cuda) {
    parts.push_back(facts.cuda->compiler.version_line);
  } else if (facts.hip_compiler) {
    parts.push_back(facts.hip_compiler->program.filename().string() + " " + facts.hip_compiler->hip_version);
  } else if (facts.cxx_compiler) {
    parts.push_back(facts.cxx_compiler->program.filename().string() + " " + facts.cxx_compiler->version);
  }
  if (facts.torch) {
    parts.push_back("torch " + key::needed(facts.torch).summary() + " (" +
                    shortened(key::needed(facts.python).executable, environment) + ")");
  }
  return join(parts, " · ");
}

} // namespace dcuop::cli
