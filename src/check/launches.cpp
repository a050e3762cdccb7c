// DCU910 to DCU914: how kernels are launched, and what surrounds that in a binding.
#include <algorithm>

#include "sources.hpp"

namespace dcuop::check {
namespace {

/// What it returns is thrown away: that forgets an error.
bool is_discarded(Node call) {
  const Node above = call.parent();
  return above.is("expression_statement") ||
         (above.is("cast_expression") && above.child("type").text() == "void");
}

bool is_error_check(const Call& call) {
  if (contains_any(call.name, {"GetLastError", "PeekAtLastError"})) {
    return !is_discarded(call.node);
  }
  return contains_any(call.name, {"LAUNCH_CHECK", "CheckLaunch", "checkLaunch", "check_launch", "KernelCheck",
                                  "CheckCuda", "CudaCheck", "CHECK_CUDA_ERROR", "CHECK_LAUNCH",
                                  "KERNEL_CHECK", "PostKernelLaunchCheck", "checkLastError",
                                  "check_last_error", "CHECK_LAST_ERROR", "CUDA_POST_KERNEL_CHECK"});
}

/// Macros without arguments are no calls; neither is what the parser could not place.
bool names_error_check(std::string_view text, bool damaged) {
  return contains_any(text, {"LAUNCH_CHECK", "PostKernelLaunchCheck", "CHECK_LAUNCH", "KERNEL_CHECK",
                             "CHECK_LAST_ERROR", "CHECK_CUDA_ERROR"}) ||
         (damaged && contains_any(text, {"GetLastError", "PeekAtLastError"}));
}

bool looks_for_error(const Function& function) {
  return names_error_check(function.body.text(), function.node.is_damaged()) ||
         std::any_of(function.calls.begin(), function.calls.end(), is_error_check);
}

bool is_default_stream(const source::Model& model, Node stream) {
  if (!stream) {
    return true;
  }
  Node value = stream;
  for (int depth = 0; depth < 6; ++depth) {
    if (value.is("parenthesized_expression")) {
      value = value.first();
    } else if (value.is("cast_expression")) {
      value = value.child("value");
    } else if (value.is("call_expression") && source::last_name(value.child("function")).ends_with("_cast")) {
      value = value.child("arguments").first();
    } else {
      break;
    }
  }
  const std::string_view text = value.text();
  return text == "nullptr" || text == "NULL" || value.is("null") || text == "hipStreamDefault" ||
         text == "hipStreamLegacy" || text == "cudaStreamLegacy" || text == "cudaStreamDefault" ||
         text == "hipStreamPerThread" || text == "cudaStreamPerThread" || model.fold(value) == 0;
}

class LaunchCheck {
 public:
  LaunchCheck(const Sources& sources, Findings& findings) : sources_(sources), findings_(findings) {
    for (const Binding& binding : sources.bindings) {
      for (const Function* one : sources.reached_from(*binding.function)) {
        bound_.insert(one);
      }
    }
  }

  void run() {
    for (const LaunchSite& site : sources_.launches) {
      // A program of its own, or a benchmark, may use the default stream; an operator is called by torch.
      const bool belongs = bound_.contains(site.in) || (sources_.bindings.empty() && sources_.has_torch()) ||
                           (sources_.bindings.empty() && !sources_.request.manifest.empty());
      if (site.in->has_mark("__global__") || site.in->has_mark("__device__")) {
        continue;
      }
      if (belongs && !sources_.is_program(*site.in->file)) {
        stream(site);
        error(site);
      }
    }
    for (const Binding& binding : sources_.bindings) {
      if (sources_.hands_memory_on(*binding.function)) {
        empty(binding);
        guard(binding);
        synchronisation(binding);
      }
    }
    defaulted_streams();
  }

 private:
  void stream(const LaunchSite& site) {
    const bool by_module = contains(site.call->name, "Module") || site.call->name == "cuLaunchKernel";
    if (!site.call->launch.empty() || !site.kernel.empty() || by_module) {
      if (is_default_stream(sources_.model, site.stream)) {
        findings_.add(
            "DCU910", *site.in->file, site.call->at(),
            {{"kernel", kernel_of(site)},
             {"stream", site.stream ? "stream " + std::string(site.stream.text()) : "no stream"},
             {"stream:zh", site.stream ? "使用的是流 " + std::string(site.stream.text()) : "没有给出流"}});
      }
    }
  }

  static std::string kernel_of(const LaunchSite& site) {
    return site.kernel.empty() ? "a kernel" : site.kernel;
  }

  /// void launch(..., hipStream_t stream = 0), called without one.
  void defaulted_streams() {
    for (const Function* function : bound_) {
      for (const Call& call : function->calls) {
        for (const Function* callee : sources_.model.callees(call)) {
          for (std::size_t index = call.arguments.size(); index < callee->parameters.size(); ++index) {
            const source::Parameter& parameter = callee->parameters[index];
            if (contains(parameter.type, "Stream_t") && sources_.launches_something(*callee) &&
                parameter.default_value && is_default_stream(sources_.model, parameter.default_value)) {
              findings_.add("DCU910", *function->file, call.at(),
                            {{"kernel", callee->name}, {"stream", "no stream"}, {"stream:zh", "没有给出流"}});
            }
          }
        }
      }
    }
  }

  void error(const LaunchSite& site) {
    const bool returns_error = !is_any_of(site.call->name, {"hipLaunchKernelGGL", "hipExtLaunchKernelGGL"}) &&
                               site.call->launch.empty();
    if (returns_error && !is_discarded(site.call->node)) {
      return; // what it returns goes somewhere
    }
    if (!checked_behind(*site.in, site.call->at()) && !checked_by_callers(*site.in, 0)) {
      findings_.add("DCU911", *site.in->file, site.call->at(),
                    {{"kernel", kernel_of(site)}, {"function", site.in->name}});
    }
  }

  [[nodiscard]] bool checked_behind(const Function& function, Offset at) const {
    const std::string_view rest =
        std::string_view(function.body.tree()->text()).substr(at, function.body.end() - at);
    return names_error_check(rest, function.node.is_damaged()) ||
           std::any_of(function.calls.begin(), function.calls.end(), [&](const Call& later) {
             return later.at() > at && (is_error_check(later) || checks_inside(later));
           });
  }

  [[nodiscard]] bool checks_inside(const Call& call) const {
    const auto& callees = sources_.model.callees(call);
    return std::any_of(callees.begin(), callees.end(),
                       [](const Function* one) { return looks_for_error(*one); });
  }

  /// Every caller that is there looks for the error behind the call.
  [[nodiscard]] bool checked_by_callers(const Function& function, int depth) const {
    bool called = false;
    for (const Function* caller : sources_.callers_of(function)) {
      for (const Call& call : caller->calls) {
        const auto& callees = sources_.model.callees(call);
        if (caller == &function || std::find(callees.begin(), callees.end(), &function) == callees.end()) {
          continue;
        }
        called = true;
        if (!checked_behind(*caller, call.at()) && (depth > 3 || !checked_by_callers(*caller, depth + 1))) {
          return false;
        }
      }
    }
    return called;
  }

  /// Anything that is compared with nothing, or said to be greater: precise about emptiness it cannot be.
  [[nodiscard]] bool thinks_of_emptiness(const Function& function) const {
    bool thinks = false;
    function.body.each([&](Node node) {
      if (node.is("binary_expression")) {
        const auto left = sources_.model.fold(node.child("left"));
        const auto right = sources_.model.fold(node.child("right"));
        const auto value = left ? left : right;
        const std::string_view sign = node.child("operator").text();
        const bool compares = is_any_of(sign, {"==", "!=", "<", "<=", ">", ">="});
        const Node counted = node.child(left ? "right" : "left");
        thinks = thinks || (compares && value && (*value == 0 || *value == 1) && counts_elements(counted) &&
                            !is_loop_condition(node));
      } else if (node.is("unary_expression") && node.child("operator").text() == "!") {
        thinks = thinks ||
                 contains_any(node.child("argument").text(), {"numel", "size", "count", "rows", "total"}) ||
                 node.child("argument").text().size() <= 2;
      } else if (node.is("call_expression")) {
        thinks = thinks || asks_for_emptiness(node);
      } else if (node.is("condition_clause")) {
        thinks = thinks || is_true_unless_empty(node, function);
      }
    });
    return thinks;
  }

  /// if (x.numel()), if (rows && columns): a count as a truth.
  static bool is_true_unless_empty(Node condition, const Function& function) {
    if (condition.is("condition_clause") || condition.is("parenthesized_expression")) {
      return condition.first() && is_true_unless_empty(condition.first(), function);
    }
    if (condition.is("binary_expression") && is_any_of(condition.child("operator").text(), {"&&", "||"})) {
      return is_true_unless_empty(condition.child("left"), function) ||
             is_true_unless_empty(condition.child("right"), function);
    }
    if (condition.is("call_expression")) {
      return is_any_of(source::last_name(condition.child("function")), {"numel", "size", "sym_numel"});
    }
    bool counts = false;
    function.body.each([&](Node node) {
      counts = counts || (condition.is("identifier") && node.is("init_declarator") &&
                          source::declared_name(node).text() == condition.text() &&
                          contains_any(node.child("value").text(), {"numel", "size("}));
    });
    return counts;
  }

  /// x.empty(), std::max(blocks, 1).
  [[nodiscard]] bool asks_for_emptiness(Node call) const {
    const std::string name = source::last_name(call.child("function"));
    const auto arguments = call.child("arguments").children();
    if (name == "max") {
      return std::any_of(arguments.begin(), arguments.end(),
                         [&](Node one) { return sources_.model.fold(one) == 1; });
    }
    return (is_any_of(name, {"empty", "is_empty", "sym_is_empty"}) && arguments.empty()) ||
           is_any_of(name, {"TORCH_CHECK_EQ", "TORCH_CHECK_NE", "TORCH_CHECK_GT"}) ||
           contains(name, "NONEMPTY");
  }

  /// Anything that may be a count; not what is never one.
  static bool counts_elements(Node node) {
    return !contains_any(node.text(), {"stride", "dim()", "ndimension", "device", "scalar_type", "dtype",
                                       "Error", "% ", "layout"});
  }

  static bool is_loop_condition(Node node) {
    for (Node above = node; above; above = above.parent()) {
      if (above.field() == "condition" && above.parent().is("for_statement")) {
        return true;
      }
      if (above.type().ends_with("statement")) {
        return false;
      }
    }
    return false;
  }

  void empty(const Binding& binding) {
    const auto& reached = sources_.reached_from(*binding.function);
    bool asks_sizes = false;
    for (const Function* one : reached) {
      if (!one->has_mark("__global__") && !one->has_mark("__device__") && thinks_of_emptiness(*one)) {
        return;
      }
      asks_sizes = asks_sizes || std::any_of(one->calls.begin(), one->calls.end(), [](const Call& call) {
                     return is_any_of(call.name, {"numel", "size", "sizes"});
                   });
    }
    if (asks_sizes) {
      auto& added = findings_.add("DCU912", *binding.function->file, binding.function->node.begin(),
                                  {{"function", binding.function->name}});
      if (const source::Parameter* tensor = first_tensor(binding)) {
        Findings::name_in_fix(added, {{"x", tensor->name}});
      }
    }
  }

  static const source::Parameter* first_tensor(const Binding& binding) {
    const auto& parameters = binding.function->parameters;
    const auto tensor = std::find_if(parameters.begin(), parameters.end(),
                                     [](const auto& one) { return is_tensor(one.type); });
    return tensor == parameters.end() ? nullptr : &*tensor;
  }

  void guard(const Binding& binding) {
    const source::Parameter* const tensor = first_tensor(binding);
    if (tensor == nullptr) {
      return;
    }
    for (const Function* one : sources_.reached_from(*binding.function)) {
      if (one->has_mark("__global__")) {
        continue;
      }
      bool guards = false;
      one->body.each([&](Node node) {
        guards = guards ||
                 (node.is("declaration") && contains(node.child("type").text(), "Guard") &&
                  contains_any(node.child("type").text(), {"Device", "CUDA", "HIP"})) ||
                 (node.is("call_expression") && is_any_of(source::last_name(node.child("function")),
                                                          {"hipSetDevice", "cudaSetDevice", "set_device",
                                                           "DeviceGuard", "CUDAGuard", "DEVICE_GUARD"}));
      });
      if (guards ||
          contains_any(one->body.text(), {"DeviceGuard", "CUDAGuard", "HIPGuard", "DEVICE_GUARD"})) {
        return;
      }
    }
    auto& added = findings_.add("DCU913", *binding.function->file, binding.function->node.begin(),
                                {{"function", binding.function->name}});
    Findings::name_in_fix(added, {{"x", tensor->name}});
  }

  void synchronisation(const Binding& binding) {
    for (const Function* one : sources_.reached_from(*binding.function)) {
      if (!one->in_base_configuration()) {
        continue; // for debugging, or another platform
      }
      for (const Call& call : one->calls) {
        const bool waits =
            is_any_of(call.name, {"hipDeviceSynchronize", "hipStreamSynchronize", "hipEventSynchronize",
                                  "cudaDeviceSynchronize", "cudaStreamSynchronize", "cudaEventSynchronize",
                                  "hipMemcpy", "cudaMemcpy"}) ||
            (contains_any(call.qualified, {"cuda::synchronize", "hip::synchronize", "stream.synchronize"})) ||
            (call.receiver && is_any_of(call.name, {"item", "cpu", "nonzero"}) && call.arguments.empty() &&
             !one->is_macro);
        if (waits) {
          findings_.add("DCU914", *one->file, call.at(),
                        {{"function", binding.function->name}, {"call", call.name}});
        }
      }
    }
  }

  const Sources& sources_;
  Findings& findings_;
  std::set<const Function*> bound_;
};

} // namespace

void check_launches(const Sources& sources, Findings& findings) {
  LaunchCheck(sources, findings).run();
}

} // namespace dcuop::check
