// DCU915 to DCU920: what stands in kernels.
#include <algorithm>

#include "dcuop/source/paths.hpp"
#include "sources.hpp"

namespace dcuop::check {
namespace {

using source::Variance;
using source::VarianceTable;

bool is_device(const Function& function) {
  return function.has_mark("__global__") || function.has_mark("__device__");
}

bool is_64_bit(std::string_view type) {
  return contains_any(type, {"int64_t", "long", "size_t", "ptrdiff_t", "index_t"});
}

bool is_32_bit(std::string_view type) {
  const auto at = type.find_first_not_of(' ');
  return !is_64_bit(type) && (contains_any(type, {"int", "unsigned", "uint32"})) &&
         !contains_any(type, {"*", "int2", "int4", "int8", "int16", "uint2", "uint4", "point"}) &&
         at != std::string_view::npos;
}

/// blockIdx times something plus threadIdx: an index over all of the grid's threads.
bool is_grid_index(Node value) {
  const std::string_view text = value.text();
  const bool both =
      contains_any(text, {"blockIdx", "hipBlockIdx"}) && contains_any(text, {"threadIdx", "hipThreadIdx"});
  return both && contains(text, "*");
}

class KernelCheck {
 public:
  KernelCheck(const Sources& sources, Findings& findings) : sources_(sources), findings_(findings) {}

  void run() {
    for (const auto& function : sources_.model.functions()) {
      if (is_device(*function)) {
        warp(*function);
        matrix(*function);
      } else if (!function->is_macro && !sources_.is_program(*function->file)) {
        narrowing(*function);
      }
      if (function->has_mark("__global__")) {
        boundary(*function);
        narrow_index(*function);
      }
    }
    one_file();
  }

 private:
  /// An index that is used, and never compared with anything.
  void boundary(const Function& kernel) {
    const VarianceTable& variance = sources_.variance().of(kernel);
    Node index;
    std::string name;
    bool compared = false;
    bool used = false;
    kernel.body.each([&](Node node) {
      if (node.is("init_declarator") && is_grid_index(node.child("value")) &&
          !contains(node.child("declarator").text(), "*")) {
        const bool pointer = contains(node.parent().child("type").text(), "*");
        if (!index && !pointer && !contains(node.child("value").text(), "[")) {
          index = node;
          name = std::string(source::declared_name(node).text());
        }
      }
    });
    if (!index || name.empty()) {
      return;
    }
    kernel.body.each([&](Node node) {
      if (node.is("binary_expression") &&
          is_any_of(node.child("operator").text(), {"<", "<=", ">", ">=", "==", "!="})) {
        const Variance sides = variance.of(node);
        compared = compared || (sides.thread && sides.block) || sides.thread;
      } else if (node.is("call_expression")) {
        const std::string called = source::last_name(node.child("function"));
        const bool bounds =
            is_any_of(called, {"min", "max", "clamp"}) || contains_any(called, {"LOOP", "FOR", "KERNEL"});
        compared = compared || bounds ||
                   (variance.of(node.child("arguments")).thread && !sources_.model.named(called).empty());
      } else if (node.is("subscript_expression")) {
        const std::string base = source::base_name(node);
        const auto* parameter = kernel.parameter(base);
        bool by_index = false;
        node.child("indices").each(
            [&](Node one) { by_index = by_index || (one.is("identifier") && one.text() == name); });
        const bool memory = parameter != nullptr &&
                            (contains(parameter->type, "*") || node.child("argument").is("field_expression"));
        used = used || (memory && by_index);
      }
    });
    if (used && !compared && !kernel.node.is_damaged() && !sized_exactly(kernel)) {
      findings_.add("DCU916", *kernel.file, index.begin(),
                    {{"kernel", kernel.name},
                     {"index", name},
                     {"what", "never compares it with a bound"},
                     {"what:zh", "却从未与上界比较"}});
    }
  }

  /// The host demands that the size is a multiple of something.
  [[nodiscard]] bool sized_exactly(const Function& kernel) const {
    // From the launches up: those whose checks come before them.
    std::vector<const Function*> next;
    for (const LaunchSite* site : sources_.launches_of(kernel.name)) {
      next.push_back(site->in);
    }
    std::set<const Function*> seen;
    while (!next.empty()) {
      const Function* one = next.back();
      next.pop_back();
      if (!seen.insert(one).second) {
        continue;
      }
      for (const Function* reached : sources_.reached_from(*one)) {
        bool demands = false;
        reached->body.each([&](Node node) {
          demands = demands || (node.is("binary_expression") && node.child("operator").text() == "%" &&
                                !reached->has_mark("__global__") && !reached->has_mark("__device__"));
        });
        if (demands) {
          return true;
        }
      }
      const auto& callers = sources_.callers_of(*one);
      next.insert(next.end(), callers.begin(), callers.end());
    }
    return false;
  }

  void narrow_index(const Function& kernel) {
    const VarianceTable& variance = sources_.variance().of(kernel);
    kernel.body.each([&](Node node) {
      if (!node.is("binary_expression") || !is_any_of(node.child("operator").text(), {"<", ">="})) {
        return;
      }
      const Node left = node.child("left");
      const Node right = node.child("right");
      if (!left.is("identifier") || !right.is("identifier")) {
        return;
      }
      const Variance index = variance.of(left);
      const auto* bound = kernel.parameter(right.text());
      const bool large = index.thread && index.block && bound != nullptr && is_64_bit(bound->type) &&
                         !contains(bound->type, "*");
      if (!large || is_limited(kernel)) {
        return;
      }
      const std::string name(left.text());
      const std::string type = sources_.model.type_of(left, kernel);
      if (is_32_bit(type)) {
        put_narrow(kernel, node,
                   "the index " + name + " is " + type + ", and " + bound->name + " is " + bound->type,
                   "下标 " + name + " 的类型是 " + type + "，而 " + bound->name + " 是 " + bound->type);
      } else if (const Node product = narrow_product(kernel, name)) {
        put_narrow(kernel, product,
                   name + " is " + type + ", and its product " + std::string(product.text()) + " has 32 bits",
                   name + " 的类型是 " + type + "，而乘积 " + std::string(product.text()) + " 只有 32 位");
      }
    });
  }

  void put_narrow(const Function& kernel, Node at, const std::string& what, const std::string& chinese) {
    findings_.add("DCU915", *kernel.file, at.begin(),
                  {{"function", kernel.name}, {"what", what}, {"what:zh", chinese}});
  }

  /// int64_t i = blockIdx.x * blockDim.x + threadIdx.x, of an index that takes one step: both factors are unsigned int.
  [[nodiscard]] Node narrow_product(const Function& kernel, const std::string& name) const {
    Node product;
    bool steps = false;
    kernel.body.each([&](Node node) {
      if (node.is("init_declarator") && source::declared_name(node).text() == name) {
        const Node value = node.child("value");
        value.each([&](Node one) {
          if (one.is("binary_expression") && one.child("operator").text() == "*" &&
              is_plain(one.child("left"), "blockIdx") && is_plain(one.child("right"), "blockDim")) {
            product = one;
          }
        });
        steps = steps || node.parent().field() == "initializer";
      }
      steps = steps || (node.is("assignment_expression") && node.child("left").text() == name);
    });
    return steps ? Node() : product;
  }

  /// blockIdx.x, and nothing around it that widens it.
  static bool is_plain(Node node, std::string_view name) {
    return node.is("field_expression") && node.child("argument").text() == name;
  }

  /// Compares something with what 32 bits hold, or with a number that is large on purpose.
  [[nodiscard]] bool limits(const Function& function) const {
    bool found = contains_any(function.body.text(),
                              {"numeric_limits", "INT_MAX", "INT32_MAX", "canUse32BitIndexMath", "UINT32_MAX",
                               "UINT_MAX", "2147483647", "0x7fffffff", "<< 31", "<<31"});
    function.body.each([&](Node node) {
      if (!found && node.is("binary_expression") &&
          is_any_of(node.child("operator").text(), {"<", "<=", ">", ">="})) {
        const auto left = sources_.model.fold(node.child("left"));
        const auto value = left ? left : sources_.model.fold(node.child("right"));
        found = value && *value >= std::int64_t{1} << 20;
      }
    });
    return found;
  }

  /// The function, or another that runs with it for the same binding.
  [[nodiscard]] bool is_limited(const Function& function) {
    if (limited_.empty()) {
      for (const Binding& binding : sources_.bindings) {
        const auto& reached = sources_.reached_from(*binding.function);
        if (std::any_of(reached.begin(), reached.end(), [&](const Function* one) { return limits(*one); })) {
          limited_.insert(reached.begin(), reached.end());
        }
      }
      limited_.insert(nullptr);
    }
    return limited_.contains(&function) || limits(function);
  }

  /// int n = x.numel(), without a demand that it fits.
  void narrowing(const Function& function) {
    const bool counts = std::any_of(function.calls.begin(), function.calls.end(),
                                    [](const Call& call) { return call.name == "numel"; });
    if (!counts || is_limited(function)) {
      return;
    }
    for (const Call& call : function.calls) {
      if (call.name != "numel" || !call.receiver) {
        continue;
      }
      std::string type;
      bool is_quotient = false; // a count of blocks
      Node value = call.node;
      for (Node above = call.node.parent(); above; value = above, above = above.parent()) {
        if (above.is("init_declarator")) {
          type = above.child("value") == value || above.child("value").is("binary_expression")
                     ? std::string(above.parent().child("type").text())
                     : "";
          break;
        }
        if (above.is("argument_list") && above.parent().is("call_expression")) {
          const Call outer = source::call_of(above.parent(), *function.variants.front());
          if (outer.name == "static_cast" && !outer.template_arguments.empty()) {
            type = std::string(outer.template_arguments.front().text());
          } else if (outer.name == "int" || outer.name == "int32_t" || outer.name == "uint32_t") {
            type = outer.name;
          }
          break;
        }
        if (above.is("cast_expression")) {
          type = std::string(above.child("type").text());
          break;
        }
        const std::string_view sign = above.child("operator").text();
        const bool arithmetic = above.is("parenthesized_expression") ||
                                (above.is("binary_expression") && is_any_of(sign, {"+", "-", "*", "/"}));
        if (!arithmetic || (sign == "/" && above.child("left") != value)) {
          break;
        }
        is_quotient = is_quotient || sign == "/";
      }
      if (!type.empty() && is_32_bit(type)) {
        const std::string what = is_quotient ? "numel() / ..." : "numel()";
        auto& added = findings_.add("DCU915", *function.file, call.at(),
                                    {{"function", function.name},
                                     {"what", what + " becomes " + type},
                                     {"what:zh", what + " 变成了 " + type}});
        if (is_quotient) { // what is too large for it fills no device's memory yet
          added.severity = finding::Severity::note;
        }
      }
    }
  }

  void warp(const Function& function) {
    const auto of_warps = [](const Call& call) {
      return call.name.starts_with("__shfl") ||
             is_any_of(call.name, {"__ballot", "__ballot_sync", "__any", "__all", "__any_sync", "__all_sync",
                                   "__activemask", "__syncwarp"});
    };
    const bool has_warps = std::any_of(function.calls.begin(), function.calls.end(), of_warps);
    if (!has_warps && !sources_.any_call(function, of_warps)) {
      return;
    }
    for (const Call& call : function.calls) {
      if (call.name.starts_with("__shfl") && call.arguments.size() >= 2) {
        const bool has_width = call.arguments.size() > (contains(call.name, "_sync") ? 3U : 2U);
        const Node delta = call.arguments[contains(call.name, "_sync") ? 2 : 1];
        if (!has_width) {
          shuffles(function, call, delta);
        }
      }
    }
    const VarianceTable& variance = sources_.variance().of(function);
    function.body.each([&](Node node) {
      const std::string_view sign =
          node.is("binary_expression") ? node.child("operator").text() : std::string_view();
      const auto number = sign.empty() ? std::nullopt : sources_.model.fold(node.child("right"));
      const bool splits = number && ((is_any_of(sign, {"%", "/"}) && *number == 32) ||
                                     (sign == "&" && *number == 31) || (sign == ">>" && *number == 5));
      // A tile may be 32 wide: where the shuffles are another function's, names say what is meant.
      if (splits && variance.of(node.child("left")).thread && (has_warps || names_lanes(node))) {
        findings_.add("DCU917", *function.file, node.begin(),
                      {{"function", function.name}, {"what", std::string(node.text())}});
      }
    });
  }

  static bool names_lanes(Node node) {
    const Node declared = enclosing(node, "init_declarator");
    std::string name(source::declared_name(declared).text());
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return contains_any(name, {"lane", "warp", "wave", "wid"});
  }

  /// for (offset = 16; offset > 0; offset /= 2) __shfl_down(x, offset): half of a wavefront is left out.
  void shuffles(const Function& function, const Call& call, Node delta) {
    for (Node above = call.node.parent(); above; above = above.parent()) {
      if (!above.is("for_statement")) {
        continue;
      }
      const Node initial = above.child("initializer");
      Node value;
      initial.each([&](Node node) {
        if (node.is("init_declarator") && source::declared_name(node).text() == delta.text()) {
          value = node.child("value");
        }
      });
      if (value && sources_.model.fold(value) == 16 && !contains(above.child("condition").text(), "<")) {
        findings_.add(
            "DCU917", *function.file, value.begin(),
            {{"function", function.name}, {"what", call.name + " from " + std::string(value.text())}});
      }
      return;
    }
  }

  void matrix(const Function& function) {
    const auto& archs = sources_.request.archs;
    const bool for_dcu =
        archs.empty() || std::any_of(archs.begin(), archs.end(), [](const std::string& arch) {
          return contains_any(arch, {"gfx906", "gfx926", "gfx928", "gfx936", "gfx938", "*"});
        });
    // Of an arch that has them: the branch of #ifdef __gfx90a__ is read only where that is assumed.
    const bool everywhere =
        std::any_of(function.variants.begin(), function.variants.end(), [](const source::Variant* variant) {
          return std::none_of(variant->assumed.begin(), variant->assumed.end(), [](const auto& macro) {
            return contains_any(
                macro.first, {"__gfx908__", "__gfx90a__", "__gfx94", "__gfx950__", "MFMA", "mfma", "CDNA"});
          });
        });
    if (!for_dcu || !everywhere) {
      return;
    }
    for (const Call& call : function.calls) {
      if (call.name.starts_with("__builtin_amdgcn_mfma") || call.name.starts_with("__builtin_amdgcn_wmma") ||
          call.name.starts_with("__builtin_amdgcn_smfmac")) {
        findings_.add("DCU919", *function.file, call.at(),
                      {{"function", function.name}, {"builtin", call.name}});
      }
    }
  }

  void one_file() {
    for (const Function* kernel : sources_.kernels) {
      const File& file = *kernel->file;
      const bool binds =
          contains_any(file.masked.variants.front().text, {"PYBIND11_MODULE", "TORCH_LIBRARY"});
      if (binds && !file.is_included) {
        findings_.add("DCU920", file, kernel->node.begin(), {{"kernel", kernel->name}});
      }
    }
  }

  const Sources& sources_;
  Findings& findings_;
  std::set<const Function*> limited_; ///< nullptr too, once they were looked for
};

} // namespace

void check_kernels(const Sources& sources, Findings& findings) {
  KernelCheck(sources, findings).run();
  check_off_by_one(sources, findings);
}

} // namespace dcuop::check
