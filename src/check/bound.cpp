// What is bound to Python: functions, methods and lambdas that def() and impl() name.
#include <algorithm>

#include "sources.hpp"

namespace dcuop::check {
namespace {

bool is_registration(std::string_view name) {
  return is_any_of(name, {"def", "impl", "op", "RegisterOperators", "def_static"});
}

/// Puts something around a function: torch::wrap_pybind_function(f), static_cast<T>(&f), py::overload_cast<T>(&f).
bool wraps(std::string_view name) {
  return is_any_of(name, {"TORCH_FN", "TORCH_FN_TYPE", "static_cast", "overload_cast", "dispatch",
                          "CppFunction", "makeFromUnboxedFunction", "wrap_pybind_function",
                          "wrap_pybind_function_no_gil", "cpp_function", "select_overload"});
}

/// Of a device: the dispatcher gets there when a tensor is on it.
bool is_of_device(std::string_view key) {
  return contains_any(key, {"CUDA", "HIP", "PrivateUse1"});
}

class Binder {
 public:
  explicit Binder(const source::Model& model) : model_(model) {
    for (const auto& function : model.functions()) {
      if (function->node.is("lambda_expression")) {
        lambdas_[{function->file, function->node.begin()}].push_back(function.get());
      }
    }
  }

  std::vector<Binding> run() {
    for (const auto& file : model_.files()) {
      for (const auto& tree : file->trees) {
        tree->root().each([&](Node node) {
          if (node.is("call_expression") && is_registration(source::last_name(node.child("function")))) {
            take(node, *file);
          }
        });
      }
    }
    return std::move(bindings_);
  }

 private:
  void take(Node call, const File& file) {
    const bool dispatched = is_dispatched(call);
    for (Node argument = call.child("arguments").first(); argument; argument = argument.next()) {
      bind(argument, dispatched, file, 0);
    }
  }

  static bool is_dispatched(Node call) {
    if (source::last_name(call.child("function")) != "impl") {
      return false;
    }
    for (Node argument = call.child("arguments").first(); argument; argument = argument.next()) {
      const std::string_view text = argument.text();
      if (contains(text, "DispatchKey::") || text.ends_with("kCUDA") || text.ends_with("kHIP") ||
          text.ends_with("kCPU")) {
        return is_of_device(text);
      }
    }
    // TORCH_LIBRARY_IMPL(library, KEY, m) { ... } around it.
    const std::string_view before = std::string_view(call.tree()->text()).substr(0, call.begin());
    const auto at = before.rfind("TORCH_LIBRARY");
    const std::string_view macro = at == std::string_view::npos ? "" : before.substr(at);
    const std::string_view head = macro.substr(0, macro.find(')'));
    return contains(head, "_IMPL") && is_of_device(head.substr(std::min(head.find(','), head.size())));
  }

  void bind(Node named, bool dispatched, const File& file, int depth) {
    if (depth > 4) {
      return;
    }
    if (named.is("call_expression")) {
      if (wraps(source::last_name(named.child("function")))) {
        const bool by_device = contains(named.child("function").text(), "dispatch") &&
                               is_of_device(named.child("arguments").first().text());
        for (Node inner = named.child("arguments").first(); inner; inner = inner.next()) {
          bind(inner, dispatched || by_device, file, depth + 1);
        }
      }
    } else if (named.is("cast_expression")) {
      bind(named.child("value"), dispatched, file, depth + 1);
    } else if (named.is("parenthesized_expression")) {
      bind(named.first(), dispatched, file, depth + 1);
    } else if (named.is("lambda_expression")) {
      for (const Function* function : lambdas_[{&file, named.begin()}]) {
        add(*function, dispatched);
      }
    } else if (named.is("pointer_expression") || named.is("identifier") || named.is("qualified_identifier") ||
               named.is("template_function")) {
      bind_named(named, dispatched, file);
    }
  }

  void bind_named(Node named, bool dispatched, const File& file) {
    const Node target = named.is("pointer_expression") ? named.child("argument") : named;
    auto found = model_.named(source::last_name(target), &file);
    if (target.is("qualified_identifier")) {
      // The class's or namespace's name alone: what stands before it may be an alias.
      std::string scope(target.text().substr(0, target.text().rfind("::")));
      scope = scope.substr(0, scope.find('<'));
      scope = "::" + scope.substr(scope.rfind(':') + 1);
      const auto in_scope = [&](const Function* one) { return ("::" + one->scope).ends_with(scope); };
      if (std::any_of(found.begin(), found.end(), in_scope)) {
        std::erase_if(found, [&](const Function* one) { return !in_scope(one); });
      }
    }
    for (const Function* function : found) {
      if (!function->is_macro && !function->has_mark("__global__")) {
        add(*function, dispatched);
      }
    }
  }

  void add(const Function& function, bool dispatched) {
    const auto [known, is_new] = known_.try_emplace(&function, bindings_.size());
    if (is_new) {
      bindings_.push_back({&function, dispatched});
    } else if (!dispatched) {
      bindings_[known->second].is_dispatched = false; // the way with fewer promises counts
    }
  }

  const source::Model& model_;
  std::map<std::pair<const File*, Offset>, std::vector<const Function*>> lambdas_;
  std::map<const Function*, std::size_t> known_;
  std::vector<Binding> bindings_;
};

} // namespace

std::vector<Binding> find_bindings(const source::Model& model) {
  return Binder(model).run();
}

} // namespace dcuop::check
