// DCU916: indexes that may be the number of elements: i <= n.
#include <algorithm>

#include "sources.hpp"

namespace dcuop::check {
namespace {

using finding::Severity;

/// A comparison after which an index may be its bound.
struct Comparison {
  Node node;
  std::string index, bound;
  Offset begin = 0, end = 0; ///< what it guards
};

/// Where an expression comes from: through local variables, and from the callers of the function.
struct Origin {
  const Function* in = nullptr;
  Node value;
};

Node initial_value(const Function& function, std::string_view name) {
  Node value;
  function.body.each([&](Node node) {
    if (!value && node.is("init_declarator") && source::declared_name(node).text() == name) {
      value = node.child("value");
    }
  });
  return value;
}

Origin origin_of(const Sources& sources, Origin from) {
  for (int depth = 0; depth < 8 && from.value.is("identifier"); ++depth) {
    const std::string_view name = from.value.text();
    if (const Node value = initial_value(*from.in, name)) {
      from.value = value;
      continue;
    }
    const auto& parameters = from.in->parameters;
    const auto at = std::find_if(parameters.begin(), parameters.end(),
                                 [&](const source::Parameter& one) { return one.name == name; });
    const auto index = static_cast<std::size_t>(at - parameters.begin());
    Origin next;
    for (const Function* caller : sources.callers_of(*from.in)) {
      for (const Call& call : caller->calls) {
        const auto& callees = sources.model.callees(call);
        const bool meant = std::find(callees.begin(), callees.end(), from.in) != callees.end();
        if (meant && index < call.arguments.size() && at != parameters.end()) {
          next = {caller, call.arguments[index]};
        }
      }
    }
    if (next.in == nullptr) {
      break;
    }
    from = next;
  }
  return from;
}

bool leaves(Node statement) {
  bool found = false;
  statement.each(
      [&](Node node) { found = found || node.is("return_statement") || node.is("continue_statement"); });
  return found;
}

class OffByOne {
 public:
  OffByOne(const Sources& sources, const Function& kernel, Findings& findings)
      : sources_(sources), kernel_(kernel), findings_(findings), variance_(sources.variance().of(kernel)) {}

  void run() {
    std::vector<Comparison> comparisons;
    kernel_.body.each([&](Node node) {
      if (auto found = comparison(node)) {
        comparisons.push_back(std::move(*found));
      }
    });
    for (const Comparison& one : comparisons) {
      if (!is_compared_again(one)) {
        judge(one);
      }
    }
  }

 private:
  [[nodiscard]] bool is_bound(Node node) const {
    const source::Parameter* parameter = node.is("identifier") ? kernel_.parameter(node.text()) : nullptr;
    return parameter != nullptr && !contains_any(parameter->type, {"*", "float", "double"}) &&
           !variance_.of(node).any();
  }

  /// i <= n around what is guarded; i > n before a return.
  [[nodiscard]] std::optional<Comparison> comparison(Node node) const {
    const std::string_view sign = node.is("binary_expression") ? node.child("operator").text() : "";
    if (!is_any_of(sign, {"<=", ">=", "<", ">"})) {
      return std::nullopt;
    }
    Node index = node.child("left");
    Node bound = node.child("right");
    bool lets_in = sign == "<=";
    if (is_any_of(sign, {">=", "<"})) { // n >= i, n < i
      std::swap(index, bound);
      lets_in = sign == ">=";
    }
    if (!index.is("identifier") || !variance_.of(index).thread || !is_bound(bound)) {
      return std::nullopt;
    }
    Comparison found{node, std::string(index.text()), std::string(bound.text()), 0, 0};
    for (Node above = node.parent(); above; above = above.parent()) {
      const std::string_view type = above.type();
      const std::string_view joins = above.is("binary_expression") ? above.child("operator").text() : "";
      if (type == "condition_clause" || type == "parenthesized_expression" ||
          joins == (lets_in ? "&&" : "||")) {
        continue;
      }
      const bool loops = type == "for_statement" || type == "while_statement";
      if (lets_in && (type == "if_statement" || loops)) {
        const Node body = above.child(loops ? "body" : "consequence");
        found.begin = body.begin();
        found.end = body.end();
        return found;
      }
      if (!lets_in && type == "if_statement" && leaves(above.child("consequence"))) {
        found.begin = above.end();
        found.end = above.parent().end();
        return found;
      }
      return std::nullopt;
    }
    return std::nullopt;
  }

  /// i < n or i == n somewhere else: the last is meant to be different.
  [[nodiscard]] bool is_compared_again(const Comparison& one) const {
    bool again = false;
    kernel_.body.each([&](Node node) {
      if (node.is("binary_expression") && !(node == one.node)) {
        const bool compares = is_any_of(node.child("operator").text(), {"<", ">", "<=", ">=", "==", "!="});
        std::set<std::string_view> names;
        for (const Node name : source::identifiers(node)) {
          names.insert(name.text());
        }
        again = again || (compares && names.contains(one.index) && names.contains(one.bound));
      }
    });
    return again;
  }

  void judge(const Comparison& one) {
    const source::Parameter* memory = nullptr;
    Node at;
    bool beside = false; // x[i + 1], x[i - 1]: it counts places between elements
    kernel_.body.each([&](Node node) {
      if (!node.is("subscript_expression") || node.begin() < one.begin || node.begin() >= one.end ||
          !node.child("argument").is("identifier")) {
        return;
      }
      const Node index = node.child("indices").is("subscript_argument_list") ? node.child("indices").first()
                                                                             : node.child("indices");
      const source::Parameter* parameter = kernel_.parameter(node.child("argument").text());
      if (parameter == nullptr || !contains(parameter->type, "*")) {
        return;
      }
      if (index.is("identifier") && index.text() == one.index && memory == nullptr) {
        memory = parameter;
        at = node;
      } else if (index.is("binary_expression") && contains(index.text(), one.index)) {
        beside = true;
      }
    });
    if (memory == nullptr) {
      return;
    }
    const Evidence evidence = evidence_of(*memory, one.bound);
    if (evidence == Evidence::other ||
        (evidence == Evidence::none && (beside || is_of_bounds(memory->name)))) {
      return;
    }
    const std::string condition(one.node.text());
    auto& added = findings_.add(
        "DCU916", *kernel_.file, one.node.begin(),
        {{"kernel", kernel_.name},
         {"index", one.index},
         {"what", "lets it be " + one.bound + ", one behind the last of " + memory->name + ": " + condition},
         {"what:zh", "却允许它等于 " + one.bound + "，即 " + memory->name + " 末尾之后一个：" + condition}});
    if (evidence == Evidence::none) {
      added.severity = Severity::warning;
    }
  }

  /// Arrays of one more than there are elements: of rows, of segments.
  static bool is_of_bounds(std::string name) {
    std::transform(name.begin(), name.end(), name.begin(),
                   [](char c) { return c >= 'A' && c <= 'Z' ? static_cast<char>(c + 32) : c; });
    return contains_any(name, {"ptr", "off", "prefix", "cum", "start", "bound", "segment", "begin", "scan"});
  }

  enum class Evidence { none, same, other }; ///< whether the bound is the number of elements of the memory

  [[nodiscard]] Evidence evidence_of(const source::Parameter& memory, const std::string& bound) const {
    const auto index_of = [&](const std::string& name) {
      const auto at = std::find_if(kernel_.parameters.begin(), kernel_.parameters.end(),
                                   [&](const source::Parameter& one) { return one.name == name; });
      return static_cast<std::size_t>(at - kernel_.parameters.begin());
    };
    const std::size_t pointer = index_of(memory.name);
    const std::size_t size = index_of(bound);
    for (const LaunchSite* site : sources_.launches_of(kernel_.name)) {
      if (pointer >= site->arguments.size() || size >= site->arguments.size()) {
        continue;
      }
      const Origin where = origin_of(sources_, {site->in, site->arguments[pointer]});
      const Origin count = origin_of(sources_, {site->in, site->arguments[size]});
      if (contains_any(count.value.text(), {"- 1", "-1", "+ 1", "+1"})) {
        return Evidence::other;
      }
      if (contains(where.value.text(), "data_ptr") && is_count_of(where, count)) {
        return Evidence::same;
      }
    }
    return Evidence::none;
  }

  /// x.numel() of x.data_ptr(), or of a tensor that was made like x.
  [[nodiscard]] static bool is_count_of(const Origin& where, const Origin& count) {
    if (where.in != count.in || !contains_any(count.value.text(), {".numel()", ".size("})) {
      return false;
    }
    const std::string tensor = source::base_name(where.value);
    const std::string counted = source::base_name(count.value);
    const Node made = initial_value(*where.in, tensor);
    const Node made_counted = initial_value(*where.in, counted);
    return tensor == counted || (contains(made.text(), "_like(" + counted)) ||
           contains(made_counted.text(), "_like(" + tensor) || contains(made.text(), counted + ".sizes()");
  }

  const Sources& sources_;
  const Function& kernel_;
  Findings& findings_;
  const source::VarianceTable& variance_;
};

} // namespace

void check_off_by_one(const Sources& sources, Findings& findings) {
  for (const auto& function : sources.model.functions()) {
    if (function->has_mark("__global__")) {
      OffByOne(sources, *function, findings).run();
    }
  }
}

} // namespace dcuop::check
