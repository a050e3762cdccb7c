#include "cooperative.hpp"

#include "dcuop/support/text.hpp"

namespace dcuop::cli {

namespace {

/// The fewest CUs of a local device that runs the code.
void take_local_cus(const std::vector<probe::Device>& local, LaunchVerdict& verdict) {
  const auto code = elf::TargetId::parse(verdict.report->object->target);
  for (const probe::Device& device : local) {
    const auto agent = elf::TargetId::parse(device.target_id);
    if (code && agent && elf::fits(elf::fit_of(*code, *agent)) && device.compute_units > 0 &&
        (verdict.cus == 0 || device.compute_units < verdict.cus)) {
      verdict.cus = device.compute_units;
      verdict.cus_from = device.target_id + " here, " + device.source;
    }
  }
}

/// What no number of CUs would change; empty when nothing forbids the launch.
std::string why_never(const KernelReport& report, const Grid& grid) {
  const elf::KernelInfo& kernel = *report.kernel;
  if (kernel.max_workgroup != 0 && grid.threads > kernel.max_workgroup) {
    return report.unknown;
  }
  const bool has_required = kernel.required_workgroup[0] != 0;
  if (has_required && elf::default_threads(kernel) != grid.threads) {
    return "it requires workgroups of " + std::to_string(elf::default_threads(kernel)) + " threads";
  }
  if (report.occupancy && report.occupancy->blocks_per_cu == 0) {
    return "not even one such workgroup fits a CU: " + to_string(report.occupancy->limiter);
  }
  return {};
}

} // namespace

std::string to_string(Fits fits) {
  return fits == Fits::yes ? "yes" : fits == Fits::no ? "no" : "unknown";
}

LaunchVerdict judge(const KernelReport& report, const Grid& grid, const std::vector<probe::Device>& local) {
  LaunchVerdict verdict;
  verdict.report = &report;
  verdict.cus = grid.cus;
  verdict.cus_from = "--cus";
  if (grid.cus == 0) {
    verdict.cus_from.clear();
    take_local_cus(local, verdict);
  }
  if (verdict.reason = why_never(report, grid); !verdict.reason.empty()) {
    verdict.fits = Fits::no;
    return verdict;
  }
  if (!report.occupancy) {
    verdict.reason = report.unknown;
    return verdict;
  }
  const std::string unit = report.occupancy->limits.is_wgp ? "WGP" : "CU";
  const std::string each = counted(report.occupancy->blocks_per_cu, "block") + " a " + unit;
  if (verdict.cus == 0) {
    verdict.reason = each + "; how many CUs the device has is not known (--cus)";
    return verdict;
  }
  const std::uint64_t units = verdict.cus / (report.occupancy->limits.is_wgp ? 2 : 1);
  verdict.capacity = report.occupancy->blocks_per_cu * units;
  verdict.fits = grid.blocks <= *verdict.capacity ? Fits::yes : Fits::no;
  verdict.reason = each + " x " + counted(units, unit) + " (" + verdict.cus_from +
                   ") = " + std::to_string(*verdict.capacity);
  return verdict;
}

} // namespace dcuop::cli
