// What a compiler driver prints with -###, and all that is asked of it.

#include "dcuop/probe/driver_report.hpp"

#include "fuzz.hpp"

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace dcuop::probe;
  const DriverReport report = parse_driver_report(dcuop::fuzz::text_of(data, size));
  for (const DriverStep& step : report.steps) {
    dcuop::fuzz::require(!step.argv.empty() && !role_of(step).empty(), "a step starts a program");
    static_cast<void>(option_of(step, "-resource-dir"));
    static_cast<void>(bitcode_of(step));
    static_cast<void>(plugins_of(step));
  }
  static_cast<void>(host_compile_step(report));
  static_cast<void>(resolved_cpu(report));
  static_cast<void>(gcc_installations(report));
  static_cast<void>(refused_arch(report));
  return 0;
}
