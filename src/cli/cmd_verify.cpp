// dcuop verify: is an operator right, fast enough and worth having? Here the contract is read and the op built; what
// runs it is python -m dcuop._verify (docs/verify.md), which this process becomes.

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <optional>
#include <system_error>
#include <utility>

#include <nlohmann/json.hpp>

#include "build_view.hpp"
#include "builder.hpp"
#include "command.hpp"
#include "dcuop/op/contract.hpp"
#include "dcuop/op/manifest.hpp"
#include "dcuop/probe/devices.hpp"
#include "dcuop/probe/torch.hpp"
#include "dcuop/support/files.hpp"
#include "dcuop/support/json_text.hpp"
#include "dcuop/support/text.hpp"
#include "dcuop/support/toml_file.hpp"
#include "selection.hpp"

namespace dcuop::cli {

namespace {

using nlohmann::json;

struct Request {
  Selection selection; ///< its backend may also be "auto"
  std::vector<std::string> layers, reports;
  std::optional<std::string> only; ///< --case
  std::optional<std::string> compare;
  bool list = false;
  std::int64_t repeat = 1, seed = 0;
  double timeout = 60; ///< seconds
};

struct ChosenBackend {
  op::Backend backend = op::Backend::hip;
  std::string origin;
};

bool has_nvidia_device(const probe::Machine& machine) {
  return identity_of(machine.root / "dev/nvidiactl").has_value();
}

/// Where the op can run here, and why there.
ChosenBackend runnable_backend(Context& context, const fs::path& manifest) {
  const std::vector<op::Backend> backends = op::backends_of(manifest);
  const auto has = [&](op::Backend backend) {
    return std::find(backends.begin(), backends.end(), backend) != backends.end();
  };
  const probe::Machine machine = context.machine();
  const probe::Python python = probe::find_python(machine, context.python_wish());
  const std::optional<probe::Torch> torch = probe::find_torch(machine, python);
  if (!torch) {
    throw Error(ExitCode::environment,
                python.executable.string() + " has no torch, and an op is verified in it",
                "install torch there, or name another Python with --python");
  }
  if (torch->is_hip() && has(op::Backend::hip) && !probe::find_devices(machine, false).devices.empty()) {
    return {op::Backend::hip, "a HIP device is here"};
  }
  if (!torch->cuda.empty() && has_nvidia_device(machine) && has(op::Backend::cuda)) {
    return {op::Backend::cuda, "an NVIDIA device is here"};
  }
  const std::string lack = torch->is_cpu_only() ? "torch " + torch->version + " has the CPU alone"
                                                : "no device for torch " + torch->version + " is here";
  if (has(op::Backend::host)) {
    return {op::Backend::host, lack};
  }
  throw Error(ExitCode::environment, shown_path(manifest).string() + ": the op cannot run here: " + lack,
              "add [backend.host] to its dcuop.toml to run its kernels on the CPU (docs/verify.md)");
}

/// --backend, else DCUOP_BACKEND and the configuration, else where the op can run.
ChosenBackend chosen_backend(Context& context, const Request& request, const fs::path& manifest) {
  const std::string& given = request.selection.backend;
  if (!given.empty() && given != "auto") {
    return {backend_of(context, given), "--backend"};
  }
  const auto& configured = context.config.value("backend");
  if (given.empty() && configured.origin != "default") {
    return {backend_of(context, ""), configured.origin};
  }
  return runnable_backend(context, manifest);
}

const std::vector<std::string>& all_layers() {
  static const std::vector<std::string> layers = {"correctness", "numerics", "micro", "e2e"};
  return layers;
}

json options_json(const Request& request, const Context& context) {
  json reports = json::array();
  for (const std::string& report : request.reports) {
    reports.push_back(absolute_from(report, context.working_directory).string());
  }
  return {{"layers", request.layers.empty() ? all_layers() : request.layers},
          {"case", request.only ? json(*request.only) : json(nullptr)},
          {"list", request.list},
          {"repeat", request.repeat},
          {"seed", request.seed},
          {"timeout", request.timeout},
          {"reports", reports},
          {"compare", request.compare ? json(*request.compare) : json(nullptr)},
          {"json", context.json()},
          {"quiet", context.terminal.options().quiet}};
}

/// The op's file, for one backend. Throws Error when there is none to be had.
json built_op(Context& context, const Request& request, const op::Op& op, const ChosenBackend& chosen,
              json& cost) {
  Selection selection = request.selection;
  selection.ops = {op.directory.string()};
  selection.backend = op::to_string(chosen.backend);
  const Prepared prepared = prepare(context, selection);
  BuildWish wish;
  wish.show = context.json() ? BuildWish::Show::nothing : BuildWish::Show::failures;
  const Built built = build_selected(context, prepared, wish);
  const build::OpResult& result = built.results.front();
  if (result.failure) {
    throw Error(built.exit_code(), op.name + " was not built: " + result.failure->message,
                result.failure->hint);
  }
  cost = {{"seconds", static_cast<double>(compile_time_of(result.entry).count()) / 1000.0},
          {"hit", result.status == build::Status::hit}};
  return to_json(result, prepared.requests.front(), context.store(), built.shared_caches);
}

json request_for(Context& context, const Request& request, const fs::path& manifest, json contract) {
  const ChosenBackend chosen = chosen_backend(context, request, manifest);
  const op::Op op = op::read_op(manifest, chosen.backend);
  json cost = nullptr;
  json document = {{"schema", 1},
                   {"backend", op::to_string(chosen.backend)},
                   {"backend_origin", chosen.origin},
                   {"contract", std::move(contract)},
                   {"options", options_json(request, context)},
                   {"cache_dir", context.store().root().string()},
                   {"language", context.chinese() ? "zh" : "en"}};
  document["op"] = request.list ? json{{"name", op.name}, {"directory", op.directory.string()}}
                                : built_op(context, request, op, chosen, cost);
  document["build"] = cost;
  return document;
}

/// A file without a name that is there until the process that this one becomes has read it.
std::string nameless_file(const std::string& text) {
  const int file = ::memfd_create("dcuop-verify", 0);
  for (std::size_t done = 0; file >= 0 && done < text.size();) {
    const ssize_t count = ::write(file, text.data() + done, text.size() - done);
    if (count < 0 && errno != EINTR) {
      break;
    }
    done += static_cast<std::size_t>(std::max<ssize_t>(count, 0));
  }
  if (file < 0) {
    throw Error(ExitCode::environment, "memfd_create: " + std::system_category().message(errno), "");
  }
  return "/proc/self/fd/" + std::to_string(file);
}

/// The Python package of the checkout in whose build directory this program lies: build/<preset>/dcuop.
std::optional<fs::path> package_of_checkout(const fs::path& program) {
  const fs::path python = program.parent_path().parent_path().parent_path() / "python";
  return identity_of(python / "dcuop/_verify/__main__.py") ? std::optional(python) : std::nullopt;
}

/// What load_op in that process is to find: this program, this cache, and, in what an end-to-end script loads, this
/// backend.
Environment environment_for(const Context& context, const json& first, const fs::path& program) {
  Environment environment = context.environment;
  environment.set("DCUOP", program.string());
  environment.set("DCUOP_CACHE_DIR", first["cache_dir"].get<std::string>());
  environment.set("DCUOP_BACKEND", first["backend"].get<std::string>());
  if (const std::optional<fs::path> package = package_of_checkout(program)) {
    const std::optional<std::string> before = environment.get_nonempty("PYTHONPATH");
    environment.set("PYTHONPATH", package->string() + (before ? ":" + *before : ""));
  }
  return environment;
}

std::vector<char*> pointers_to(std::vector<std::string>& words) {
  std::vector<char*> pointers;
  std::transform(words.begin(), words.end(), std::back_inserter(pointers),
                 [](std::string& word) { return word.data(); });
  pointers.push_back(nullptr);
  return pointers;
}

[[noreturn]] void become_python(Context& context, const std::vector<json>& requests) {
  const probe::Python python = probe::find_python(context.machine(), context.python_wish());
  const fs::path program = fs::read_symlink("/proc/self/exe");
  // Not with -m: a json.py in the working directory would be run.
  std::vector<std::string> arguments = {
      python.executable.string(), "-c",
      "import sys\n"
      "sys.path = [path for path in sys.path if path]\n"
      "try:\n"
      "    from dcuop._verify.__main__ import main\n"
      "except ModuleNotFoundError as error:\n"
      "    if not (error.name or '').startswith('dcuop'): raise\n"
      "    sys.exit(f'error: {sys.executable} has no dcuop package, which runs the op\\n'\n"
      "             '  fix: install it there (pip install .), or name its directory in PYTHONPATH')\n"
      "sys.exit(main(sys.argv[1:]))"};
  for (const json& request : requests) {
    arguments.push_back(nameless_file(json_text(request)));
  }
  std::vector<std::string> variables = environment_for(context, requests.front(), program).as_lines();
  context.terminal.live("");
  ::execve(arguments.front().c_str(), pointers_to(arguments).data(), pointers_to(variables).data());
  throw Error(ExitCode::environment,
              arguments.front() + " cannot be started: " + std::system_category().message(errno), "");
}

ExitCode run(const Request& request, Context& context) {
  std::vector<std::pair<fs::path, json>> contracts;
  for (const fs::path& manifest : op::select_manifests(request.selection.ops, context.working_directory)) {
    json contract = op::read_contract(manifest);
    if (contract["functions"].empty()) {
      if (request.selection.ops.empty()) {
        context.terminal.remark(shown_path(manifest).string() + ": no [[verify.function]] in it");
        continue;
      }
      throw Error(ExitCode::usage, shown_path(manifest).string() + " has no [[verify.function]]",
                  "docs/verify.md says how a contract is written; dcuop.toml.example shows one");
    }
    contracts.emplace_back(manifest, std::move(contract));
  }
  if (contracts.size() > 1 && (!request.reports.empty() || context.json())) {
    throw Error(ExitCode::usage,
                std::to_string(contracts.size()) + " ops have contracts here, and " +
                    (context.json() ? "--json" : "--report") + " holds one",
                "name one of them");
  }
  if (contracts.empty()) {
    throw Error(ExitCode::usage, "no op here has a contract", "docs/verify.md says how one is written");
  }
  std::vector<json> requests;
  for (auto& [manifest, contract] : contracts) {
    requests.push_back(request_for(context, request, manifest, std::move(contract)));
  }
  become_python(context, requests);
}

} // namespace

void add_verify(Commands& commands) {
  auto request = std::make_shared<Request>();
  const Subcommand subcommand = commands.add(
      "verify", "Run an op against its contract: is it right, exact, fast, worth its build?",
      "  dcuop verify affine                               all layers, and the gate\n"
      "  dcuop verify affine --layer correctness           one layer\n"
      "  dcuop verify affine --case 'affine/float16/size/*'   some cases; --list shows all\n"
      "  dcuop verify affine --report affine.html          a page with tables and plots (.md, .json too)\n"
      "  dcuop verify affine --compare                     what changed since the build before\n"
      "It runs the op's own code: verify what you trust. Exit code 1: the gate did not pass.");
  add_selection(subcommand, request->selection);
  subcommand.remove("--from"); // what is described has no contract
  subcommand.named("--backend")
      .description("Where it runs: auto, hip, host (an emulated grid) or cuda (default: where it can)");
  subcommand.option("--layer", request->layers, "correctness, numerics, micro, e2e (default: all)")
      .one_list()
      .one_of(all_layers());
  subcommand.option("--case", request->only, "Only cases whose id matches GLOB").type_name("GLOB");
  subcommand.flag("--list", request->list, "The cases' ids; nothing is built or run");
  subcommand.option("--repeat", request->repeat, "Run the correctness cases so often").in_range(1, 1000000);
  subcommand.option("--seed", request->seed, "Of the random inputs (default: 0)");
  subcommand.option("--timeout", request->timeout, "Seconds that one case may take (default: 60)").positive();
  subcommand.option("--report", request->reports, "Also written there: FILE.html, FILE.md or FILE.json")
      .one_word()
      .type_name("FILE");
  subcommand
      .option("--compare", request->compare,
              "What differs from another entry of the op (default: the newest other one)")
      .optional_value()
      .type_name("ENTRY");
  commands.run(subcommand, [request](Context& context) { return run(*request, context); });
}

} // namespace dcuop::cli
