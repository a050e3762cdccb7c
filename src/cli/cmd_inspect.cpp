// dcuop inspect: what device code is in a file, and what changed between two.
#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include <nlohmann/json.hpp>

#include "arch_option.hpp"
#include "command.hpp"
#include "cooperative.hpp"
#include "entry_view.hpp"
#include "inspect_json.hpp"
#include "inspect_view.hpp"
#include "inspection.hpp"

#include "dcuop/support/files.hpp"
#include "dcuop/support/text.hpp"

namespace dcuop::cli {
namespace {

struct Request {
  std::string file;
  std::string newer; ///< empty: there is none to compare with
  std::vector<std::string> archs;
  std::string kernel;
  std::uint32_t threads = 0;
  std::uint64_t dynamic_lds = 0;
  std::uint64_t blocks = 0;
  std::uint32_t cus = 0;
};

void answer(Context& context, nlohmann::json document) {
  document["schema"] = 1;
  context.terminal.answer(text_of(document));
}

ExitCode run_comparison(Context& context, const std::filesystem::path& older,
                        const std::filesystem::path& newer, const InspectWish& wish) {
  const Inspection before(older, wish);
  const Inspection after(newer, wish);
  const Comparison comparison = compare(before, after);
  if (context.json()) {
    answer(context, {{"before", inspection_json(before)},
                     {"after", inspection_json(after)},
                     {"comparison", comparison_json(comparison)}});
  } else {
    print_comparison(context.terminal, comparison);
  }
  return ExitCode::ok;
}

std::vector<LaunchVerdict> judge_all(Context& context, const Inspection& inspection, const Grid& grid) {
  std::vector<probe::Device> local;
  if (grid.cus == 0) {
    local = probe::find_devices(context.machine(), true).devices;
  }
  std::vector<LaunchVerdict> verdicts;
  for (const KernelReport& report : inspection.kernels()) {
    verdicts.push_back(judge(report, grid, local));
  }
  return verdicts;
}

ExitCode run(Context& context, const Request& request) {
  const auto path = absolute_from(request.file, context.working_directory);
  const InspectWish wish{checked_archs(request.archs, ArchOf::code), request.kernel, request.threads,
                         request.dynamic_lds};
  if (!request.newer.empty()) {
    if (request.blocks > 0) {
      throw Error(ExitCode::usage, "--blocks asks about one file", "give one of the two files");
    }
    return run_comparison(context, path, absolute_from(request.newer, context.working_directory), wish);
  }
  const Inspection inspection(path, wish);
  const Grid grid{request.blocks, request.threads, request.cus};
  const auto verdicts = grid.blocks > 0 ? judge_all(context, inspection, grid) : std::vector<LaunchVerdict>{};
  if (context.json()) {
    nlohmann::json document = {{"file", inspection_json(inspection)}};
    if (grid.blocks > 0) {
      document["launch"] = launch_json(grid, verdicts);
    }
    answer(context, std::move(document));
  } else {
    print_inspection(context.terminal, inspection, context.environment);
    if (grid.blocks > 0) {
      print_launch(context.terminal, grid, verdicts);
    }
  }
  const bool too_large = std::any_of(verdicts.begin(), verdicts.end(),
                                     [](const LaunchVerdict& verdict) { return verdict.fits == Fits::no; });
  return too_large ? ExitCode::failed : ExitCode::ok;
}

constexpr const char* examples =
    "  dcuop inspect affine.so                      units, archs, kernels, registers, occupancy\n"
    "  dcuop inspect affine.so --arch gfx906 --verbose\n"
    "  dcuop inspect old.so new.so                  what changed, kernel by kernel\n"
    "  dcuop inspect affine.so --blocks 240 --threads 256 --cus 60 --kernel fused\n"
    "                                               does a cooperative launch fit? (exit 1: no)\n"
    "  dcuop inspect kernel.hsaco --json            the fields are in docs/json.md\n"
    "\n"
    "Occupancy is what registers, LDS and wave slots allow; of archs whose limits no public source\n"
    "gives (gfx926, gfx928, gfx936, gfx938), it is unknown.";

} // namespace

void add_inspect(Commands& commands) {
  auto request = std::make_shared<Request>();
  const Subcommand command = commands.add(
      "inspect", "Say what device code is in a file: archs, kernels, registers, occupancy", examples);
  command.option("FILE", request->file, "A .so, program, .o, code object (.hsaco, .co) or offload bundle")
      .required()
      .type_name("");
  command.option("FILE2", request->newer, "A newer one, to be compared with it").type_name("");
  add_arch_option(command, request->archs, "Only code for this target id (gfx90a: with any features)");
  command.option("--kernel", request->kernel, "Only this kernel: its name, mangled or not").type_name("NAME");
  const Option threads =
      command.option("--threads", request->threads, "Workgroup size (default: the kernel's largest)")
          .type_name("N")
          .in_range(1U, 1024U);
  command.option("--dynamic-lds", request->dynamic_lds, "LDS that the launch adds, in bytes")
      .type_name("BYTES");
  const Option blocks =
      command.option("--blocks", request->blocks, "Say whether a cooperative launch of N workgroups fits")
          .type_name("N")
          .positive()
          .needs(threads);
  command
      .option("--cus,--device-cus", request->cus,
              "CUs of the device, as rocminfo counts them (default: of the devices here)")
      .type_name("N")
      .in_range(1U, 65536U)
      .needs(blocks);
  commands.run(command, [request](Context& context) { return run(context, *request); });
}

} // namespace dcuop::cli
