#include "ascend.hpp"

namespace dcuop::check {

namespace ascend {

finding::Finding& Subject::add(std::string_view rule, const Function& function, Node node,
                               finding::Values values) const {
  values.emplace("function", function.name);
  return findings.add(rule, *function.file, node.begin(), std::move(values));
}

finding::Finding& Subject::add(std::string_view rule, const Event& event, finding::Values values) const {
  return add(rule, *event.in, event.node, std::move(values));
}

} // namespace ascend

Report check_superkernel(const SuperKernelRequest& request) {
  const source::Model model = read_model(request, source::ascend_dialect());
  const ascend::Names names(model);
  const ascend::Cores cores(names);
  ascend::Program program(names, cores);
  const std::vector<ascend::Kernel> kernels = ascend::find_kernels(program);
  Findings findings(request);
  const ascend::Subject subject{request, model, names, cores, program, kernels, findings};
  ascend::check_sync_all(subject);
  ascend::check_flags(subject);
  ascend::check_pairs(subject);
  ascend::check_indices(subject);
  ascend::check_cache(subject);
  ascend::check_early_start(subject);
  ascend::check_pipes(subject);
  ascend::check_host(subject);
  ascend::check_bindings(subject);
  ascend::check_options(request, findings);
  check_reading(request, model, findings);
  for (const Function* function : program.too_deep()) {
    auto& added =
        findings.add("DCU992", *function->file, function->node.begin(),
                     {{"what", "calls are nested too deep, or too many, to follow all of " + function->name},
                      {"what:zh", "调用嵌套过深或过多，未能完整跟踪 " + function->name}});
    added.severity = finding::Severity::warning;
  }
  return report_of(request, model, Family::ascend, findings);
}

} // namespace dcuop::check
