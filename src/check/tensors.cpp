#include "tensors.hpp"

#include <algorithm>

namespace dcuop::check {
namespace {

bool sounds_like_a_check(std::string_view name) {
  std::string lower(name);
  std::transform(lower.begin(), lower.end(), lower.begin(),
                 [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
  return contains_any(
      lower, {"check", "assert", "require", "expect", "valid", "verify", "enforce", "ensure", "throw_if"});
}

/// Tensors become one object.
bool packs(std::string_view name) {
  return is_any_of(name, {"make_tuple", "tie", "forward_as_tuple", "make_pair"});
}

/// Takes a tensor's properties in order to make or choose something, and demands nothing.
bool only_uses(std::string_view name) {
  return contains_any(
             name, {"Guard", "guard", "getCurrent", "current_stream", "getStream", "getDefault", "Stream"}) ||
         is_any_of(name, {"device", "options", "dtype", "to", "empty", "zeros", "ones", "full", "empty_like",
                          "zeros_like", "set_device", "hipSetDevice", "cudaSetDevice", "device_of",
                          "getDeviceProperties", "layout", "requires_grad", "TensorOptions",
                          "getCurrentDeviceProperties"});
}

enum class Purpose { check, use, unclear };

Purpose purpose_of(Node node) {
  for (Node below = node, above = node.parent(); above; below = above, above = above.parent()) {
    const std::string_view type = above.type();
    if (type == "call_expression") {
      if (below.field() == "function") {
        continue; // x of x.device()
      }
      const std::string name = source::last_name(above.child("function"));
      if (only_uses(name)) {
        return Purpose::use;
      }
      if (sounds_like_a_check(name)) {
        return Purpose::check;
      }
    } else if (type == "condition_clause" || type == "if_statement" || type == "return_statement" ||
               type == "conditional_expression" || type == "switch_statement") {
      return Purpose::check;
    } else if (type == "binary_expression") {
      if (is_any_of(above.child("operator").text(), {"==", "!=", "<", ">", "<=", ">=", "&&", "||"})) {
        return Purpose::check;
      }
    } else if (type == "declaration") {
      const std::string_view declared = above.child("type").text();
      return contains_any(declared, {"Guard", "Stream", "Device", "Options"}) ? Purpose::use
                                                                              : Purpose::unclear;
    } else if (type == "expression_statement" || type == "compound_statement" ||
               type == "lambda_expression") {
      return Purpose::unclear;
    }
  }
  return Purpose::unclear;
}

/// The method that is called on, or asked of, an identifier: through ->, *, (), .value().
struct Method {
  std::string name;
  Node call;
};

Method method_of(Node identifier) {
  Node node = identifier;
  for (int depth = 0; depth < 12; ++depth) {
    const Node above = node.parent();
    if (above.is("field_expression") && node.field() == "argument") {
      const Node call = above.parent().is("call_expression") ? above.parent() : Node();
      const std::string name = source::last_name(above);
      const bool unwraps = is_any_of(name, {"value", "get", "operator->", "at", "front", "back", "contiguous",
                                            "detach", "view", "reshape", "flatten", "squeeze", "unsqueeze",
                                            "tensor", "options", "storage", "unsafeGetTensorImpl"});
      if (unwraps && call && call.parent().is("field_expression") && name != "contiguous") {
        node = call;
        continue;
      }
      return {name, call};
    }
    const bool element = above.is("subscript_expression") && node.field() == "argument";
    if (above.is("pointer_expression") || above.is("parenthesized_expression") || element) {
      node = above;
      continue;
    }
    return {};
  }
  return {};
}

/// TORCH_CHECK_EQ(a.device(), b.device())
bool compares(Node node) {
  if (node.is("binary_expression")) {
    return !is_any_of(node.child("operator").text(), {"&&", "||"});
  }
  const std::string name = node.is("call_expression") ? source::last_name(node.child("function")) : "";
  return name.ends_with("_EQ") || name.ends_with("_NE") || contains_any(name, {"equal", "same", "Same"});
}

/// Compared with a call of the same kind on something else.
bool is_compared(Node node, std::string_view name, std::initializer_list<std::string_view> methods) {
  Node own = node; // list[0] of list[0].device(): list[1] is something else
  while (own.parent().is("subscript_expression") && own.field() == "argument") {
    own = own.parent();
  }
  for (Node above = node.parent(); above && !above.type().ends_with("statement"); above = above.parent()) {
    if (!compares(above)) {
      continue;
    }
    bool found = false;
    above.each([&](Node one) {
      if (one.is("field_expression") && is_any_of(source::last_name(one), methods) &&
          (source::base_name(one.child("argument")) != name ||
           (own != node && one.child("argument") != own))) {
        found = true;
      }
    });
    if (found) {
      return true;
    }
  }
  return false;
}

} // namespace

bool is_in_check(Node node) {
  return purpose_of(node) == Purpose::check;
}

TensorUse& TensorUse::operator|=(const TensorUse& other) {
  data = data || other.data;
  device = device || other.device;
  dtype = dtype || other.dtype;
  contiguity = contiguity || other.contiguity;
  sizes = sizes || other.sizes;
  same_device = same_device || other.same_device;
  same_dtype = same_dtype || other.same_dtype;
  alias = alias || other.alias;
  written = written || other.written;
  unknown_check = unknown_check.empty() ? other.unknown_check : unknown_check;
  return *this;
}

std::set<std::string, std::less<>> aliases_of(const Function& function, const std::string& name) {
  std::set<std::string, std::less<>> names = {name};
  const auto mentions = [&](Node node) {
    bool found = false;
    node.each([&](Node one) {
      if (!one.is("identifier") || !names.contains(one.text())) {
        return;
      }
      const Method method = method_of(one);
      found = found || method.name.empty() ||
              is_any_of(method.name, {"contiguous", "to", "view", "reshape", "flatten", "squeeze",
                                      "unsqueeze", "value", "float", "half", "t", "transpose", "permute",
                                      "expand", "expand_as", "detach", "clone"});
    });
    return found;
  };
  for (bool changed = true; changed;) {
    const std::size_t before = names.size();
    function.body.each([&](Node node) {
      Node target;
      Node value;
      if (node.is("for_range_loop")) {
        target = node.child("declarator");
        value = node.child("right");
      } else if (node.is("init_declarator")) {
        const std::string_view type = node.parent().child("type").text();
        const bool holds = is_tensor(type) || type == "auto" ||
                           contains_any(type, {"TensorList", "vector", "ArrayRef", "array", "TensorArg",
                                               "initializer_list"});
        target = holds ? node.child("declarator") : Node();
        value = node.child("value");
        if (value.is("call_expression") && !value.child("function").is("field_expression") &&
            !packs(source::last_name(value.child("function")))) {
          return; // what a function returns is another tensor, or none
        }
      }
      if (target && value && mentions(value)) {
        const Node declared = source::declared_name(target);
        if (declared.is("structured_binding_declarator")) {
          names.insert(std::string(declared.first().text()));
        } else if (declared) {
          names.insert(std::string(declared.text()));
        }
      }
    });
    changed = names.size() != before;
  }
  return names;
}

/// Reads one function for one parameter.
class UseReader {
 public:
  UseReader(TensorUses& uses, const Function& function, bool before)
      : uses_(uses), sources_(uses.sources_), function_(function), before_(before),
        limit_(before ? end_of(sources_.first_launch(function)) : nowhere) {}

  TensorUse read(const std::string& name) {
    const auto names = aliases_of(function_, name);
    function_.body.each([&](Node node) {
      const bool named =
          node.is("identifier") || (node.is("type_identifier") && node.parent().is("parameter_declaration"));
      if (named && names.contains(node.text()) && node.field() != "function") {
        mention(node);
      }
    });
    return use_;
  }

 private:
  void mention(Node node) {
    const bool counts = node.begin() < limit_;
    const Method method = method_of(node);
    if (!method.name.empty()) {
      asked(node, method, counts);
      return;
    }
    pass(node, counts);
  }

  void asked(Node node, const Method& method, bool counts) {
    const std::string& name = method.name;
    if (is_any_of(name, {"data_ptr", "const_data_ptr", "mutable_data_ptr", "data"})) {
      use_.data = true;
      const bool typed =
          method.call &&
          !source::call_of(method.call, *function_.variants.front()).template_arguments.empty();
      use_.dtype = use_.dtype || typed; // torch compares
      use_.alias =
          use_.alias || (counts && is_compared(node, node.text(),
                                               {"data_ptr", "const_data_ptr", "data", "mutable_data_ptr"}));
      use_.written = use_.written || is_stored_to(sources_, function_, method.call);
    } else if (is_any_of(name, {"begin", "end", "cbegin", "cend"}) && method.call) {
      pass(method.call, counts); // std::for_each(all.begin(), all.end(), check)
    } else if (contains(name, "accessor")) {
      use_.data = use_.dtype = use_.contiguity = use_.sizes = true;
    } else if (counts) {
      property(node, name);
    }
  }

  void property(Node node, const std::string& name) {
    const Purpose purpose = purpose_of(node);
    if (is_any_of(name, {"is_cuda", "is_hip", "is_cpu", "device", "get_device", "device_type",
                         "is_privateuseone", "is_meta", "key_set"})) {
      const bool relative =
          is_compared(node, node.text(), {"device", "get_device"}) || is_compared_with_variable(node);
      use_.same_device = use_.same_device || relative;
      use_.device = use_.device || (purpose == Purpose::check && !relative) ||
                    (purpose != Purpose::check && is_kept_and_checked(node));
    } else if (is_any_of(name, {"scalar_type", "dtype", "is_floating_point", "type", "element_size",
                                "itemsize", "is_complex"})) {
      const bool relative = is_compared(node, node.text(), {"scalar_type", "dtype"});
      use_.same_dtype = use_.same_dtype || relative;
      use_.dtype = use_.dtype || (purpose != Purpose::use && !relative);
    } else if (is_any_of(name, {"is_contiguous", "stride", "strides", "is_non_overlapping_and_dense",
                                "contiguous", "suggest_memory_format", "sym_strides"})) {
      use_.contiguity = true;
    } else if (is_any_of(name, {"sizes", "size", "numel", "dim", "ndimension", "sym_sizes", "sym_size",
                                "sym_numel", "nbytes", "expand_as"})) {
      use_.sizes = true;
    } else if (is_any_of(name, {"is_alias_of", "is_same", "storage_offset", "unsafeGetStorageImpl"})) {
      use_.alias = true;
    }
  }

  /// What is asked in a launch's arguments is asked before it.
  static Offset end_of(Node launch) { return launch ? launch.end() : nowhere; }

  static bool is_list_of_call(Node list) {
    const Node above = list.parent();
    return (list.is("argument_list") && above.is("call_expression")) ||
           ((list.is("argument_list") || list.is("initializer_list")) && above.is("init_declarator")) ||
           (list.is("parameter_list") && above.is("function_declarator") && above.parent().is("declaration"));
  }

  /// tensor.device() == device, of a device that comes from elsewhere.
  [[nodiscard]] bool is_compared_with_variable(Node node) const {
    Node side = node;
    for (Node above = node.parent(); above && !above.type().ends_with("statement"); above = above.parent()) {
      if (above.is("binary_expression") && is_any_of(above.child("operator").text(), {"==", "!="})) {
        const Node left = above.child("left");
        const Node other = left == side ? above.child("right") : left;
        return other.is("identifier") && !other.text().starts_with("k") && !is_device_constant(other.text());
      }
      side = above;
    }
    return false;
  }

  /// const bool ok = x.is_cuda(); TORCH_CHECK(ok)
  [[nodiscard]] bool is_kept_and_checked(Node node) const {
    Node kept;
    for (Node above = node.parent(); above && !kept && !above.type().ends_with("statement");
         above = above.parent()) {
      kept = above.is("init_declarator")         ? source::declared_name(above)
             : above.is("assignment_expression") ? above.child("left")
                                                 : Node();
    }
    bool checked = false;
    function_.body.each([&](Node one) {
      checked = checked ||
                (one.is("identifier") && one != kept && one.text() == kept.text() && one.begin() < limit_ &&
                 purpose_of(one) == Purpose::check && !is_compared_with_variable(one) &&
                 !is_compared(one, one.text(), {"device", "get_device"}));
    });
    return checked;
  }

  /// const at::Device device(at::kCUDA)
  [[nodiscard]] bool is_device_constant(std::string_view name) const {
    bool constant = false;
    function_.body.each([&](Node node) {
      constant =
          constant || (node.is("init_declarator") && source::declared_name(node).text() == name &&
                       contains_any(node.child("value").text(), {"CUDA", "HIP", "\"cuda", "PrivateUse1"}));
    });
    return constant;
  }

  /// As an argument: what the called function does with it.
  void pass(Node node, bool counts) {
    Node argument = node;
    Node list = node.parent();
    while (list && !list.type().ends_with("statement") && !is_list_of_call(list)) {
      argument = list;
      list = list.parent();
    }
    const Call call = list ? source::call_of(list.parent(), *function_.variants.front()) : Call();
    if (call.name.empty()) {
      return;
    }
    const auto position = std::find(call.arguments.begin(), call.arguments.end(), argument);
    const auto index = static_cast<std::size_t>(position - call.arguments.begin());
    const auto& callees = sources_.model.callees(call);
    for (const Function* callee : callees) {
      if (callee != &function_) {
        take(uses_.of(*callee, source::parameter_index(call, *callee, index), before_), counts);
      }
    }
    if (callees.empty() && packs(call.name)) {
      pass(call.node, counts);
      return;
    }
    if (callees.empty()) {
      called_with(call, argument, counts);
    }
    if (!callees.empty() || !counts) {
      return;
    }
    if (is_torch_check(call.name)) {
      return;
    }
    if (call.name == "check_all_same_device") {
      use_.device = use_.same_device = true;
    } else if (contains_any(call.name,
                            {"assert_no_overlap", "assert_no_partial_overlap", "get_overlap_status"})) {
      use_.alias = true;
    } else if (sounds_like_a_check(call.name) &&
               !is_any_of(call.name, {"TORCH_CHECK", "AT_ASSERTM", "TORCH_INTERNAL_ASSERT"})) {
      use_.unknown_check = call.name;
    }
  }

  /// std::for_each(&x, &x + 1, check), std::apply(check, all): what is handed over with a tensor takes it.
  void called_with(const Call& call, Node tensor, bool counts) {
    std::vector<const Function*> called = sources_.model.handed(call);
    for (const Node argument : call.arguments) {
      const Function* lambda = sources_.model.lambda(argument);
      if (lambda != nullptr && argument != tensor) {
        called.push_back(lambda);
      } else if (argument.is("identifier") && argument != tensor) {
        for (const Function* one : sources_.model.named(argument.text(), function_.file)) {
          if (!one->has_mark("__global__")) {
            called.push_back(one);
          }
        }
      }
    }
    for (const Function* one : called) {
      for (std::size_t index = 0; index < one->parameters.size() && one != &function_; ++index) {
        const std::string& type = one->parameters[index].type;
        if (is_tensor(type) || contains(type, "auto")) {
          take(uses_.of(*one, index, before_), counts);
        }
      }
    }
  }

  /// https://github.com/pytorch/pytorch/blob/v2.1.0/aten/src/ATen/TensorUtils.h
  bool is_torch_check(std::string_view name) {
    if (!name.starts_with("check")) {
      return false;
    }
    if (is_any_of(name, {"checkAllSameGPU", "checkSameGPU"})) {
      use_.same_device = true;
      use_.device = use_.device || name == "checkAllSameGPU";
    } else if (is_any_of(name, {"checkScalarType", "checkScalarTypes"})) {
      use_.dtype = true;
    } else if (is_any_of(name, {"checkAllSameType", "checkSameType"})) {
      use_.same_dtype = true;
    } else if (is_any_of(name, {"checkContiguous", "checkAllContiguous"})) {
      use_.contiguity = true;
    } else if (is_any_of(name, {"checkSize", "checkSize_symint", "checkDim", "checkDimRange", "checkSameSize",
                                "checkAllSameNumel", "checkSameNumel", "checkNumel", "checkSameDim"})) {
      use_.sizes = true;
    } else {
      return false;
    }
    return true;
  }

  void take(const TensorUse& other, bool counts) {
    if (counts) {
      use_ |= other;
    } else {
      use_.data = use_.data || other.data;

      use_.written = use_.written || other.written;
    }
  }

  TensorUses& uses_;
  const Sources& sources_;
  const Function& function_;
  bool before_;
  Offset limit_;
  TensorUse use_;
};

TensorUse TensorUses::of(const Function& function, std::size_t parameter, bool before) {
  if (parameter >= function.parameters.size() || function.parameters[parameter].name.empty()) {
    return {};
  }
  const Key key{&function, parameter, before};
  if (const auto found = known_.find(key); found != known_.end()) {
    return found->second; // of a recursion: what is known so far, nothing
  }
  known_[key] = {};
  return known_[key] = UseReader(*this, function, before).read(function.parameters[parameter].name);
}

} // namespace dcuop::check
