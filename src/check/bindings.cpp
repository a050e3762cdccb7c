// DCU90x: what a binding demands of its tensors before it launches.
#include <algorithm>

#include "tensors.hpp"

namespace dcuop::check {
namespace {

using finding::Severity;

struct Dtype {
  std::string_view constant; ///< behind at::k
  std::vector<std::string_view> types;
};

const std::vector<Dtype>& dtypes() {
  static const std::vector<Dtype> all = {
      {"Half", {"Half", "__half", "half", "_Float16"}},
      {"Float16", {"Half", "__half", "half", "_Float16"}},
      {"BFloat16", {"BFloat16", "__hip_bfloat16", "hip_bfloat16", "bfloat16", "__nv_bfloat16"}},
      {"Float", {"float"}},
      {"Float32", {"float"}},
      {"Double", {"double"}},
      {"Float64", {"double"}},
      {"Int", {"int", "int32_t"}},
      {"Int32", {"int", "int32_t"}},
      {"Long", {"int64_t", "long", "long long"}},
      {"Int64", {"int64_t", "long", "long long"}},
      {"Short", {"int16_t", "short"}},
      {"Char", {"int8_t", "char"}},
      {"Byte", {"uint8_t", "unsigned char"}},
      {"Bool", {"bool"}}};
  return all;
}

const Dtype* dtype_of(std::string_view constant) {
  for (const Dtype& one : dtypes()) {
    if (constant == one.constant) {
      return &one;
    }
  }
  return nullptr;
}

std::string plain_type(std::string_view type) {
  std::string plain;
  for (std::size_t at = 0; at < type.size(); ++at) {
    plain += type[at] == '*' || type[at] == '&' ? ' ' : type[at];
  }
  for (const std::string_view word : {"const ", "at::", "c10::", "torch::", "std::", "volatile "}) {
    for (auto found = plain.find(word); found != std::string::npos; found = plain.find(word)) {
      plain.erase(found, word.size());
    }
  }
  plain.erase(plain.find_last_not_of(' ') + 1);
  return plain;
}

class BindingCheck {
 public:
  BindingCheck(const Sources& sources, Findings& findings)
      : sources_(sources), findings_(findings), uses_(sources) {}

  void run(const Binding& binding) {
    const Function& function = *binding.function;
    if (!sources_.hands_memory_on(function)) {
      return;
    }
    std::vector<std::pair<const source::Parameter*, TensorUse>> tensors;
    for (std::size_t index = 0; index < function.parameters.size(); ++index) {
      const std::string& type = function.parameters[index].type;
      if (is_tensor(type) || is_tensor_list(type)) {
        const TensorUse use = uses_.of(function, index, true);
        if (use.data) {
          tensors.emplace_back(&function.parameters[index], use);
        }
      }
    }
    // What is compared with another tensor is as good as what that one was checked for.
    TensorUse all;
    for (const auto& [parameter, use] : tensors) {
      all |= use;
    }
    for (std::size_t index = 0; index < tensors.size(); ++index) {
      auto& [parameter, use] = tensors[index];
      use.device = use.device || (use.same_device && all.device);
      use.dtype = use.dtype || (use.same_dtype && all.dtype);
      other_ = tensors[index == 0 ? tensors.size() - 1 : 0].first->name;
      demand(binding, *parameter, use, index);
      if (use.written && tensors.size() > 1 &&
          !std::any_of(tensors.begin(), tensors.end(), [](const auto& one) { return one.second.alias; })) {
        put("DCU906", binding, *parameter, use);
      }
    }
    for (const auto& [parameter, use] : tensors) {
      conversions(function, *parameter);
      pointers(function, *parameter);
    }
  }

 private:
  void demand(const Binding& binding, const source::Parameter& parameter, const TensorUse& use,
              std::size_t index) {
    if (!use.device && !binding.is_dispatched) {
      put("DCU901", binding, parameter, use);
    }
    if (!use.dtype) {
      put("DCU902", binding, parameter, use);
    }
    if (!use.contiguity) {
      put("DCU903", binding, parameter, use);
    }
    if (!use.sizes) {
      put("DCU904", binding, parameter, use);
    }
    // The dispatcher looks at all tensors together: one of them is on the device.
    const bool known = use.device || binding.is_dispatched;
    if (index > 0 && known && !use.same_device) {
      put("DCU905", binding, parameter, use);
    }
  }

  void put(std::string_view rule, const Binding& binding, const source::Parameter& parameter,
           const TensorUse& use) {
    const Function& function = *binding.function;
    auto& added = findings_.add(rule, *function.file, function.node.begin(),
                                {{"function", function.name}, {"tensor", parameter.name}});
    Findings::name_in_fix(added, {{"x", parameter.name}, {"b", parameter.name}, {"a", other_}});
    const bool unclear = function.node.is_damaged() || !use.unknown_check.empty();
    if (unclear) {
      // What is not in the sources may check it: said, and not held against the operator.
      added.severity = Severity::note;
      added.evidence.push_back(
          {"confidence", use.unknown_check.empty()
                             ? "the parser did not understand all of " + function.name
                             : use.unknown_check + " is not among the sources, and may check it"});
    }
  }

  void conversions(const Function& function, const source::Parameter& parameter) {
    const auto names = aliases_of(function, parameter.name);
    const Node first = sources_.first_launch(function);
    const Offset launch = first ? first.begin() : nowhere;
    for (const Call& call : function.calls) {
      const bool converts = is_any_of(call.name, {"contiguous", "to", "float", "half", "bfloat16", "toType",
                                                  "cuda", "hip", "type", "double"});
      if (!converts || !call.receiver || call.at() > launch ||
          !names.contains(source::base_name(call.receiver))) {
        continue;
      }
      const bool only_asks = call.name == "type" && call.arguments.empty();
      const bool of_property =
          call.receiver.is("call_expression") &&
          !is_any_of(source::last_name(call.receiver.child("function")), {"contiguous", "to", "value"});
      if (!only_asks && !of_property && !is_in_check(call.node)) {
        findings_.add("DCU907", *function.file, call.at(),
                      {{"function", function.name}, {"tensor", parameter.name}, {"call", call.name}});
      }
    }
  }

  /// Types of `data_ptr<T>()`, and of casts of `data_ptr()`, against the dtypes that the function demands.
  void pointers(const Function& function, const source::Parameter& parameter) {
    const auto allowed = demanded(function, parameter.name);
    for (const Call& call : function.calls) {
      if (!is_any_of(call.name, {"data_ptr", "const_data_ptr", "mutable_data_ptr"}) ||
          source::base_name(call.receiver) != parameter.name) {
        continue;
      }
      std::string type;
      if (!call.template_arguments.empty()) {
        type = plain_type(call.template_arguments.front().text());
        if (is_any_of(type,
                      {"__half", "half", "__hip_bfloat16", "hip_bfloat16", "__nv_bfloat16", "_Float16"})) {
          findings_.add("DCU908", *function.file, call.at(),
                        {{"function", function.name},
                         {"tensor", parameter.name},
                         {"type", type},
                         {"wanted", "a type that torch has data_ptr for"},
                         {"wanted:zh", "torch 为其提供 data_ptr 的类型"}});
          continue;
        }
      } else if (const Node cast = call.node.parent().parent();
                 cast.is("call_expression") && source::last_name(cast.child("function")).ends_with("_cast")) {
        const Call made = source::call_of(cast, *function.variants.front());
        type = made.template_arguments.empty() ? "" : plain_type(made.template_arguments.front().text());
      }
      const bool known = std::any_of(dtypes().begin(), dtypes().end(), [&](const Dtype& one) {
        return std::find(one.types.begin(), one.types.end(), type) != one.types.end();
      });
      const bool fits = std::any_of(allowed.begin(), allowed.end(), [&](const std::string& constant) {
        const Dtype* one = dtype_of(constant);
        return one == nullptr || std::find(one->types.begin(), one->types.end(), type) != one->types.end();
      });
      if (known && !allowed.empty() && !fits) {
        findings_.add("DCU908", *function.file, call.at(),
                      {{"function", function.name},
                       {"tensor", parameter.name},
                       {"type", type},
                       {"wanted", *allowed.begin()}});
      }
    }
  }

  /// k<Dtype> constants in a demand on the tensor; empty when there are others ways than one to be right.
  static std::set<std::string> demanded(const Function& function, const std::string& name) {
    std::set<std::string> all;
    for (const Call& call : function.calls) {
      const bool demands =
          is_any_of(call.name, {"TORCH_CHECK", "AT_ASSERTM", "TORCH_CHECK_TYPE", "TORCH_INTERNAL_ASSERT",
                                "check_dtype", "TORCH_CHECK_VALUE"});
      if (!demands || call.arguments.empty()) {
        continue;
      }
      const bool helper = call.name == "check_dtype";
      const Node subject = call.arguments.front();
      const bool concerns = helper
                                ? source::base_name(subject) == name
                                : contains_any(subject.text(), {name + ".scalar_type()", name + ".dtype()"});
      if (!concerns) {
        continue;
      }
      (helper ? call.node : subject).each([&](Node one) {
        if (one.is("identifier") && one.text().size() > 1 && one.text()[0] == 'k' &&
            dtype_of(one.text().substr(1)) != nullptr) {
          all.insert(std::string(one.text().substr(1)));
        }
      });
      if (contains(subject.text(), "!=")) {
        return {};
      }
    }
    return all;
  }

  const Sources& sources_;
  std::string other_; ///< a tensor of the binding beside the one that is looked at; that one when it is alone
  Findings& findings_;
  TensorUses uses_;
};

} // namespace

void check_bindings(const Sources& sources, Findings& findings) {
  BindingCheck check(sources, findings);
  for (const Binding& binding : sources.bindings) {
    check.run(binding);
  }
}

} // namespace dcuop::check
