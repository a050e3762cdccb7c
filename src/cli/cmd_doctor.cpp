// dcuop doctor: why a file does not load, or not launch, here.
#include <algorithm>
#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "arch_option.hpp"
#include "build_argument.hpp"
#include "command.hpp"
#include "entry_view.hpp"
#include "evidence_view.hpp"
#include "report_text.hpp"
#include "sarif.hpp"
#include "saved_machine.hpp"
#include "selection.hpp"
#include "torch_cache_view.hpp"

#include "dcuop/doctor/doctor.hpp"
#include "dcuop/op/manifest.hpp"
#include "dcuop/store/store.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/process.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {
namespace {

struct Request {
  std::string target;
  bool has_target = false;
  SavedMachine saved;
  std::vector<std::string> archs;
  bool torch_extensions = false;
  bool fix = false;
  bool sarif = false;
  EvidenceRequest evidence;
};

/// A path to a library, rather than an op's name or directory.
bool names_a_file(const std::string& target, const std::filesystem::path& working_directory) {
  const auto path = absolute_from(target, working_directory);
  if (const auto identity = identity_of(path)) {
    return !identity->is_directory() && path.filename() != "dcuop.toml";
  }
  return path.filename().string().find(".so") != std::string::npos;
}

store::Entry newest_entry(Context& context, const op::Op& op) {
  auto entries = context.store().entries_of(op.name, op.directory);
  const std::string backend = op::to_string(op.backend);
  std::erase_if(entries, [&](const store::Entry& entry) { return facts_of(entry).backend != backend; });
  if (entries.empty()) {
    const bool is_hip = op.backend == op::Backend::hip;
    throw Error(ExitCode::failed,
                op.name + " has no entry in the cache" + (is_hip ? "" : " for " + backend) +
                    ": there is no file to examine",
                "dcuop build " + op.name + (is_hip ? "" : " --backend " + backend));
  }
  return *std::max_element(entries.begin(), entries.end(),
                           [](const store::Entry& a, const store::Entry& b) { return a.built < b.built; });
}

/// What the builder kept beside the artifact.
void take_record(const store::Entry& entry, doctor::Question& question) {
  question.module_name = entry.name;
  const auto facts = json_or_discarded(entry.facts_json);
  const auto text = [&facts](const char* name) {
    const bool there = facts.is_object() && facts.contains(name) && facts[name].is_string();
    return there ? facts[name].get<std::string>() : std::string{};
  };
  if (const auto kind = text("kind"); !kind.empty()) {
    question.use =
        kind == op::to_string(op::Kind::pybind_module) ? doctor::Use::python_module : doctor::Use::library;
  }
  std::vector<std::string> parts;
  for (const char* name : {"torch", "python", "hip"}) {
    if (const auto value = text(name); !value.empty()) {
      parts.push_back(std::string(name) + " " + value);
    }
  }
  question.built_with = join(parts, ", ");
}

/// A file that only the saved machine has may be named as it is there.
std::filesystem::path file_of(const Request& request, const probe::Machine& machine) {
  const auto here = absolute_from(request.target, machine.working_directory);
  const auto there = probe::inside(machine.root, here);
  return !identity_of(here) && identity_of(there) ? there : std::filesystem::path(request.target);
}

doctor::Question question_of(Context& context, const Request& request, const probe::Machine& machine) {
  doctor::Question question;
  question.archs = checked_archs(request.archs, ArchOf::device);
  if (!request.has_target) {
    return question;
  }
  if (request.target.empty()) { // an unset variable of a script, which must not pass for a fine file
    throw Error(ExitCode::usage, "the target is empty",
                "name a .so file or an op; dcuop doctor without one judges this machine alone");
  }
  if (names_a_file(request.target, context.working_directory)) {
    question.file = file_of(request, machine);
    const auto file = absolute_from(request.target, context.working_directory);
    const auto entry = store::entry_with(file);
    if (entry) {
      take_record(*entry, question);
    }
    question.build_argument = build_argument(context, file, entry);
    return question;
  }
  const auto ops = op::select_ops({request.target}, context.working_directory, backend_of(context, ""));
  if (ops.size() != 1) {
    throw Error(ExitCode::usage, request.target + " names " + counted(ops.size(), "op"), "name one of them");
  }
  const auto& op = ops.front();
  const auto entry = newest_entry(context, op);
  question.file = entry.artifact_path();
  take_record(entry, question);
  question.build_argument = shell_quoted({request.target});
  return question;
}

void print(Context& context, const doctor::Report& report) {
  const bool environment_only = report.verdict == doctor::Verdict::environment_only;
  const bool verbose = context.terminal.options().verbose;
  const ReportStyle style{context.chinese() ? finding::LanguageOfText::zh : finding::LanguageOfText::en,
                          verbose || environment_only, context.environment.get("HOME").value_or("")};
  auto& terminal = context.terminal;
  const bool zh = style.language == finding::LanguageOfText::zh;
  terminal.answer(terminal.styled(zh ? report.headline_chinese : report.headline,
                                  finding::has_error(report.findings) ? Style::red : Style::green));
  print_findings(terminal, report.findings, style);
  if (!report.findings.empty()) {
    terminal.answer("  " + count_line(report.findings, style));
  }
  if (verbose || environment_only) {
    terminal.answer("");
    print_facts(terminal, report.facts, style);
  }
}

/// --pid and --message: the target is a file, which need not be here.
EvidenceRequest evidence_of(const Request& request) {
  auto evidence = request.evidence;
  evidence.archs = checked_archs(request.archs, ArchOf::device);
  evidence.file = request.target;
  evidence.sarif = request.sarif;
  if (request.has_target && request.target.empty()) {
    throw Error(ExitCode::usage, "the target is empty", "name a .so file, or leave it out");
  }
  return evidence;
}

ExitCode run(Context& context, const Request& request) {
  if (request.torch_extensions) {
    return run_torch_extensions(context, {checked_archs(request.archs, ArchOf::device), request.fix},
                                request.sarif);
  }
  if (request.evidence.pid != 0) {
    return run_process(context, evidence_of(request));
  }
  if (!request.evidence.message.empty()) {
    return run_message(context, evidence_of(request));
  }
  const auto machine = machine_of(context, request.saved);
  const auto question = question_of(context, request, machine);
  const auto rocminfo = rocminfo_of(context, request.saved);
  const auto facts = doctor::gather_facts(machine, context.python_wish(), rocminfo);
  auto report = doctor::diagnose(question, facts, machine);
  name_operators(context, report.findings);
  if (request.sarif) {
    answer_sarif(context, report.findings);
  } else if (context.json()) {
    context.terminal.answer(json_text(doctor::to_json(report), 2));
  } else {
    print(context, report);
  }
  return finding::has_error(report.findings) ? ExitCode::failed : ExitCode::ok;
}

} // namespace

void add_doctor(Commands& commands) {
  auto request = std::make_shared<Request>();
  const Subcommand command = commands.add(
      "doctor", "Say why an operator does not load, or not launch, on this machine",
      "  dcuop doctor                         this machine alone\n"
      "  dcuop doctor affine                  the op's newest entry in the cache\n"
      "  dcuop doctor ./affine.so --arch gfx936\n"
      "  dcuop doctor ./affine.so --json\n"
      "  dcuop doctor ./affine.so --sarif     the findings alone, for code scanning and editors\n"
      "  dcuop doctor ./affine.so --rocminfo saved.txt   with another machine's devices\n"
      "  dcuop doctor --root /mnt/image       a saved machine or an unpacked container image\n"
      "  dcuop doctor --torch-extensions      torch's own JIT cache: stale, half-built, locked\n"
      "  dcuop doctor --pid 4121              what a running process has really loaded\n"
      "  dcuop doctor --pid 4121 ./affine.so  what if it loaded that file now\n"
      "  python t.py 2>&1 | dcuop doctor --message -   the first cause in a log or traceback\n"
      "  dcuop doctor --message slurm-812.out\n"
      "  dcuop rule DCU210                    more about a finding");
  const Option target = command.option("target", request->target, "A .so file, or an op's name or directory")
                            .type_name("OP|FILE.so");
  add_arch_option(command, request->archs, "Judge launch for this target id instead of the visible devices");
  add_sarif_option(command, request->sarif);
  const Option torch_cache =
      command
          .flag("--torch-extensions", request->torch_extensions,
                "Examine torch's own JIT cache (TORCH_EXTENSIONS_DIR, ~/.cache/torch_extensions)")
          .excludes(target);
  command
      .flag("--fix", request->fix,
            "With --torch-extensions: remove locks and half-built extensions that are provably dead")
      .needs(torch_cache);
  add_saved_machine_options(command, request->saved);
  const Option root = command.named("--root");
  const Option rocminfo = command.named("--rocminfo");
  torch_cache.excludes(root).excludes(rocminfo);
  add_evidence_options(command, request->evidence);
  for (const char* option : {"--pid", "--message"}) {
    command.named(option).excludes(torch_cache).excludes(root).excludes(rocminfo);
  }
  commands.run(command, [request, target](Context& context) {
    request->has_target = target.is_given();
    return run(context, *request);
  });
}

} // namespace dcuop::cli
