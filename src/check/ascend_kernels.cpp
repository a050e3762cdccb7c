#include "ascend_kernels.hpp"

#include <algorithm>

namespace dcuop::check::ascend {
namespace {

void add_callees(const Steps& steps, std::set<const Function*>& into, std::vector<const Function*>& next) {
  for (const Step& step : steps) {
    for (const Function* callee : step.callees) {
      if (callee != nullptr && into.insert(callee).second) {
        next.push_back(callee);
      }
    }
    add_callees(step.yes, into, next);
    add_callees(step.no, into, next);
  }
}

void collect_reached(Program& program, const Function& function, std::set<const Function*>& into) {
  std::vector<const Function*> next = {&function};
  while (!next.empty()) {
    const Function* one = next.back();
    next.pop_back();
    add_callees(program.steps_of(*one), into, next);
  }
}

/// What its qualifiers say.
void read_marks(Kernel& kernel) {
  for (const source::Mark& mark : kernel.function->marks) {
    std::string counts;
    for (const char c : mark.argument) {
      counts += static_cast<unsigned char>(c) > ' ' ? std::string(1, c) : std::string();
    }
    std::optional<KernelType> type;
    if (mark.name == "__vector__") {
      type = KernelType::aiv_only;
    } else if (mark.name == "__cube__") {
      type = KernelType::aic_only;
    } else if (mark.name == "__mix__") {
      type = counts == "1,1"   ? std::optional(KernelType::mix_aic_1_1)
             : counts == "1,2" ? std::optional(KernelType::mix_aic_1_2)
             : counts == "1,0" ? std::optional(KernelType::mix_aic_1_0)
             : counts == "0,1" ? std::optional(KernelType::mix_aiv_1_0)
                               : std::nullopt;
    } else if (mark.name == "__schedmode__") {
      kernel.schedules = counts == "1";
    }
    if (type) {
      kernel.type = type;
      kernel.by_qualifier = true;
    }
  }
}

/// KERNEL_TASK_TYPE_DEFAULT(type) and KERNEL_TASK_TYPE(key, type) in a file: in a function, or for all of the file.
class TypeReader {
 public:
  explicit TypeReader(std::vector<Kernel>& kernels) {
    for (Kernel& kernel : kernels) {
      std::set<const File*> files = {kernel.function->file};
      for (const Function* function : kernel.reached) {
        files.insert(function->file);
      }
      for (const File* file : files) {
        kernels_of_[file].push_back(&kernel);
      }
    }
  }

  void read(const File& file) {
    for (const auto& tree : file.trees) {
      tree->root().each([&](Node node) {
        const bool call = node.is("call_expression");
        // At file scope, where no statement may stand, it reads as a declaration.
        const bool declares = node.is("function_declarator");
        if (!call && !declares) {
          return;
        }
        const Node name = node.child(call ? "function" : "declarator");
        if (name.text() == "KERNEL_TASK_TYPE_DEFAULT" || name.text() == "KERNEL_TASK_TYPE") {
          take(file, node, node.child(call ? "arguments" : "parameters"), name.text() == "KERNEL_TASK_TYPE");
        }
      });
    }
  }

 private:
  void take(const File& file, Node node, Node list, bool has_key) {
    const std::vector<Node> arguments = list.children();
    const std::size_t wanted = has_key ? 1 : 0;
    if (arguments.size() <= wanted) {
      return;
    }
    const std::string text = one_line(arguments[wanted].text());
    const auto type = kernel_type(text);
    if (!type) {
      return;
    }
    const bool inside = static_cast<bool>(enclosing(node, "function_definition"));
    for (Kernel* one_of : kernels_of_[&file]) {
      Kernel& kernel = *one_of;
      const auto holds = [&](const Function* one) {
        return one->file == &file && one->node.begin() <= node.begin() && node.end() <= one->node.end();
      };
      const bool mine =
          inside ? holds(kernel.function) || std::any_of(kernel.reached.begin(), kernel.reached.end(), holds)
                 : kernel.function->file == &file;
      if (!mine) {
        continue;
      }
      kernel.type_at = node;
      if (has_key) {
        kernel.by_key[one_line(arguments[0].text())] = *type;
      } else {
        kernel.type = type;
      }
    }
  }

  std::map<const File*, std::vector<Kernel*>> kernels_of_; ///< that have code in it
};

bool asks_for_sides(const Steps& steps) {
  return std::any_of(steps.begin(), steps.end(), [](const Step& step) {
    return step.condition.yes != both_sides || step.condition.no != both_sides || asks_for_sides(step.yes) ||
           asks_for_sides(step.no);
  });
}

/// Of a kernel whose type is not said: what its code asks for.
Sides sides_asked_for(Program& program, const Kernel& kernel) {
  bool both = asks_for_sides(program.steps_of(*kernel.function));
  for (const Function* one : kernel.reached) {
    both = both || asks_for_sides(program.steps_of(*one));
  }
  return both ? both_sides : Sides{0};
}

} // namespace

std::optional<KernelType> kernel_type(std::string_view name) {
  if (const auto at = name.rfind(':'); at != std::string_view::npos) {
    name.remove_prefix(at + 1);
  }
  static const std::map<std::string_view, KernelType> types = {
      {"KERNEL_TYPE_AIV_ONLY", KernelType::aiv_only},
      {"KERNEL_TYPE_AIC_ONLY", KernelType::aic_only},
      {"KERNEL_TYPE_MIX_AIV_1_0", KernelType::mix_aiv_1_0},
      {"KERNEL_TYPE_MIX_AIC_1_0", KernelType::mix_aic_1_0},
      {"KERNEL_TYPE_MIX_AIC_1_1", KernelType::mix_aic_1_1},
      {"KERNEL_TYPE_MIX_AIC_1_2", KernelType::mix_aic_1_2}};
  const auto found = types.find(name);
  return found == types.end() ? std::nullopt : std::optional(found->second);
}

Sides sides_of(KernelType type) {
  switch (type) {
  case KernelType::aiv_only:
  case KernelType::mix_aiv_1_0:
    return aiv;
  case KernelType::aic_only:
  case KernelType::mix_aic_1_0:
    return aic;
  default:
    return both_sides;
  }
}

std::vector<KernelType> Kernel::types() const {
  std::vector<KernelType> all;
  if (type) {
    all.push_back(*type);
  }
  for (const auto& [key, one] : by_key) {
    all.push_back(one);
  }
  return all;
}

bool Kernel::may_be(KernelType wanted) const {
  const auto all = types();
  return std::find(all.begin(), all.end(), wanted) != all.end();
}

bool Kernel::is_only(KernelType wanted) const {
  const auto all = types();
  return !all.empty() &&
         std::all_of(all.begin(), all.end(), [wanted](KernelType one) { return one == wanted; });
}

std::vector<Kernel> find_kernels(Program& program) {
  std::vector<Kernel> kernels;
  std::set<const Function*> called;
  const auto& model = program.names.model;
  for (const auto& function : model.functions()) {
    if (function->has_mark("__global__") || function->has_mark("__sk__")) {
      Kernel kernel;
      kernel.function = function.get();
      kernel.is_entry = true;
      collect_reached(program, *function, kernel.reached);
      called.insert(kernel.reached.begin(), kernel.reached.end());
      kernels.push_back(std::move(kernel));
    }
  }
  for (const auto& function : model.functions()) {
    if (!function->has_mark("__aicore__") || called.contains(function.get()) ||
        function->has_mark("__global__") || function->has_mark("__sk__")) {
      continue;
    }
    Kernel kernel;
    kernel.function = function.get();
    collect_reached(program, *function, kernel.reached);
    kernels.push_back(std::move(kernel));
  }
  std::set<const Function*> inner;
  for (const Kernel& kernel : kernels) {
    inner.insert(kernel.reached.begin(), kernel.reached.end());
  }
  std::erase_if(kernels, [&](const Kernel& one) {
    return !one.is_entry && (inner.contains(one.function) || program.steps_of(*one.function).empty());
  });
  for (Kernel& kernel : kernels) {
    read_marks(kernel);
  }
  TypeReader types(kernels);
  for (const auto& file : model.files()) {
    types.read(*file);
  }
  for (Kernel& kernel : kernels) {
    Sides sides = 0;
    for (const KernelType one : kernel.types()) {
      sides = static_cast<Sides>(sides | sides_of(one));
    }
    kernel.sides = sides != 0 ? sides : sides_asked_for(program, kernel);
    kernel.sides = kernel.sides == 0 ? aiv : kernel.sides;
  }
  return kernels;
}

std::filesystem::path operator_root(const std::filesystem::path& file) {
  for (auto above = file.parent_path(); above.has_relative_path(); above = above.parent_path()) {
    const std::string name = above.filename().string();
    if (is_any_of(name, {"op_kernel", "op_host", "op_tiling", "op_kernel_aicpu", "op_api"})) {
      return above.parent_path();
    }
  }
  return file.parent_path();
}

} // namespace dcuop::check::ascend
