// dcuop check: faults that an operator's sources show.
#include <algorithm>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "check_view.hpp"
#include "command.hpp"
#include "sarif.hpp"
#include "selection.hpp"

#include "dcuop/check/check.hpp"
#include "dcuop/op/manifest.hpp"
#include "dcuop/support/files.hpp"

namespace dcuop::cli {
namespace {

struct Request {
  std::vector<std::string> targets;
  bool release = false;
  bool sarif = false;
};

unsigned threads() {
  return std::clamp(std::thread::hardware_concurrency(), 1U, 16U);
}

check::Request of_directory(const std::filesystem::path& directory) {
  check::Request request;
  request.directory = directory;
  request.files = check::source_files(directory);
  request.threads = threads();
  return request;
}

check::Request of_op(const op::Op& op) {
  check::Request request = of_directory(op.directory);
  // Sources may lie beside the manifest's directory.
  for (const op::Source& source : op.sources) {
    const auto path = (op.directory / source.path).lexically_normal();
    if (std::find(request.files.begin(), request.files.end(), path) == request.files.end()) {
      request.files.push_back(path);
    }
  }
  request.include_dirs = op.include_dirs;
  request.archs = op.archs;
  request.manifest = op.manifest;
  return request;
}

/// Python is what --release looks at; without that, it holds nothing to be judged.
void refuse_python_alone(const check::Request& request, const std::string& target, bool release) {
  if (!release && std::all_of(request.files.begin(), request.files.end(),
                              [](const fs::path& file) { return file.extension() == ".py"; })) {
    throw Error(ExitCode::usage, target + " holds Python alone, and no C++ or HIP sources",
                "name an operator's directory; --release looks at its Python too");
  }
}

/// A directory without a dcuop.toml, or a single source, is judged as it lies there.
std::vector<check::Request> requests_of(Context& context, const Request& request) {
  std::vector<check::Request> all;
  std::vector<std::string> ops;
  for (const std::string& target : request.targets) {
    const auto path = absolute_from(target, context.working_directory);
    const auto identity = target.empty() ? std::nullopt : identity_of(path);
    if (identity && identity->is_regular() && path.filename() != "dcuop.toml") {
      check::Request one;
      one.directory = path.parent_path();
      one.files = {path};
      refuse_python_alone(one, target, request.release);
      all.push_back(std::move(one));
    } else if (identity && identity->is_directory() && !identity_of(path / "dcuop.toml")) {
      all.push_back(of_directory(path));
      if (all.back().files.empty()) {
        throw Error(ExitCode::usage, target + " holds no sources (C++, HIP or Python)",
                    "name an operator's directory");
      }
      refuse_python_alone(all.back(), target, request.release);
    } else {
      ops.push_back(target);
    }
  }
  if (!ops.empty() || request.targets.empty()) {
    for (const op::Op& op : op::select_ops(ops, context.working_directory, backend_of(context, ""))) {
      all.push_back(of_op(op));
    }
  }
  for (check::Request& one : all) {
    one.release = request.release;
  }
  return all;
}

ExitCode run(Context& context, const Request& request) {
  std::vector<check::Report> reports;
  for (const check::Request& one : requests_of(context, request)) {
    reports.push_back(check::check(one));
  }
  return answer_reports(context, reports, request.sarif);
}

} // namespace

void add_check(Commands& commands) {
  auto request = std::make_shared<Request>();
  const Subcommand command =
      commands.add("check", "Find faults in an operator's sources before they hang a device",
                   "  dcuop check                      the op one stands in, or all of the workspace\n"
                   "  dcuop check affine rms_norm\n"
                   "  dcuop check path/to/sources      a directory without a dcuop.toml, or one file\n"
                   "  dcuop check affine --release     the checklist of a release too\n"
                   "  dcuop check --sarif > check.sarif\n"
                   "  dcuop check --lang zh --verbose  in Chinese, with the notes (--json: for programs)\n"
                   "  dcuop rule DCU910                more about a finding\n"
                   "A comment allows a finding on its line, or on the next when it stands alone:\n"
                   "  // dcuop: allow(DCU914) the count is known on the device alone");
  command.option("target", request->targets, "Ops (names or directories), directories of sources, files")
      .type_name("OP|DIR|FILE");
  command.flag("--release", request->release,
               "The checklist of a release too: tests, benchmarks, README, tree");
  add_sarif_option(command, request->sarif);
  commands.run(command, [request](Context& context) { return run(context, *request); });
}

} // namespace dcuop::cli
