// Constants and declared types.
#include <algorithm>

#include "conditions.hpp"
#include "dcuop/source/model.hpp"

namespace dcuop::source {
namespace {

constexpr int deepest = 24;

std::optional<std::int64_t> combined(std::string_view sign, std::int64_t a, std::int64_t b) {
  Asked nothing;
  if ((sign == "/" || sign == "%") && b == 0) {
    return std::nullopt;
  }
  const auto literal = [](std::int64_t value) { return "(" + std::to_string(value) + ")"; };
  static constexpr std::string_view known[] = {"+", "-",  "*",  "/", "%", "<<", ">>", "&",  "|",
                                               "^", "==", "!=", "<", ">", "<=", ">=", "&&", "||"};
  if (std::find(std::begin(known), std::end(known), sign) == std::end(known)) {
    return std::nullopt;
  }
  if (sign == "==" || sign == "!=" || sign == "<" || sign == ">" || sign == "<=" || sign == ">=" ||
      sign == "&&" || sign == "||") {
    return condition_holds(literal(a) + std::string(sign) + literal(b), {}, nothing) ? 1 : 0;
  }
  const auto x = static_cast<std::uint64_t>(a);
  const auto y = static_cast<std::uint64_t>(b);
  switch (sign[0]) {
  case '+':
    return static_cast<std::int64_t>(x + y);
  case '-':
    return static_cast<std::int64_t>(x - y);
  case '*':
    return static_cast<std::int64_t>(x * y);
  case '/':
    return b == -1 ? static_cast<std::int64_t>(0 - x) : a / b;
  case '%':
    return b == -1 ? 0 : a % b;
  case '<':
    return y < 64 ? std::optional(static_cast<std::int64_t>(x << y)) : std::nullopt;
  case '>':
    return y < 64 ? std::optional(a >> y) : std::nullopt;
  case '&':
    return a & b;
  case '|':
    return a | b;
  default:
    return a ^ b;
  }
}

/// The constants of a model as one place sees them.
struct Constants {
  const std::multimap<std::string, Constant, std::less<>>& all;
  const File* from;

  /// 2: of the file, 1: of its directory. Operators beside one another use the same names.
  [[nodiscard]] int nearness(const Constant& one) const {
    if (from == nullptr || one.file == from) {
      return 2;
    }
    return one.file->directory == from->directory ? 1 : 0;
  }
};

std::optional<std::int64_t> folded(Node node, const Constants& constants, int depth);

/// All that have the name must agree: those of the file, else of its directory, else of any.
std::optional<std::int64_t> constant(std::string_view name, const Constants& constants, int depth) {
  std::optional<std::int64_t> value;
  const auto [begin, end] = constants.all.equal_range(name);
  int most = 0;
  for (auto one = begin; one != end; ++one) {
    most = std::max(most, constants.nearness(one->second));
  }
  for (auto one = begin; one != end; ++one) {
    if (constants.nearness(one->second) < most) {
      continue;
    }
    const auto next = folded(one->second.value, constants, depth + 1);
    if (!next || (value && *value != *next)) {
      return std::nullopt;
    }
    value = next;
  }
  return value;
}

/// An enumerator without a value: one more than the one before it.
std::optional<std::int64_t> enumerator(Node node, const Constants& constants, int depth) {
  std::int64_t after = 0;
  for (Node one = node.parent().first(); one && one != node; one = one.next()) {
    if (!one.is("enumerator")) {
      continue;
    }
    ++after;
    if (const Node value = one.child("value")) {
      const auto known = folded(value, constants, depth + 1);
      if (!known) {
        return std::nullopt;
      }
      after = *known + 1;
    }
  }
  return after;
}

std::optional<std::int64_t> folded_call(Node node, const Constants& constants, int depth) {
  const Node function = node.child("function");
  const Node arguments = node.child("arguments");
  const std::string name = last_name(function);
  const bool converts = name == "static_cast" || name == "int" || name == "unsigned" || name == "size_t" ||
                        name.ends_with("_t") || name == "long";
  if (!converts || !arguments.first() || arguments.first().next()) {
    return std::nullopt;
  }
  return folded(arguments.first(), constants, depth + 1);
}

/// static_cast<uint8_t>(mode) and uint8_t(mode) among template arguments: to the grammar, the type of a function.
Node converted(Node type) {
  const Node declarator = type.child("declarator");
  const Node list = declarator.is("abstract_function_declarator") ? declarator.child("parameters") : Node();
  const Node only = list.first() && !list.first().next() ? list.first() : Node();
  return only.first() && !only.first().next() ? only.first() : Node();
}

std::optional<std::int64_t> folded_unary(Node node, const Constants& constants, int depth) {
  const auto value = folded(node.child("argument"), constants, depth + 1);
  const std::string_view sign = node.child("operator").text();
  if (!value) {
    return std::nullopt;
  }
  if (sign == "-") {
    return static_cast<std::int64_t>(0 - static_cast<std::uint64_t>(*value));
  }
  if (sign == "~") {
    return ~*value;
  }
  return sign == "!" ? std::optional<std::int64_t>(*value == 0 ? 1 : 0) : sign == "+" ? value : std::nullopt;
}

std::optional<std::int64_t> folded(Node node, const Constants& constants, int depth) {
  if (!node || depth > deepest) {
    return std::nullopt;
  }
  const std::string_view type = node.type();
  if (type == "number_literal") {
    return integer_literal(node.text());
  }
  if (type == "true" || type == "false") {
    return type == "true" ? 1 : 0;
  }
  if (type == "identifier" || type == "type_identifier") { // a name alone reads as a type in f<MODE>
    return constant(node.text(), constants, depth);
  }
  if (type == "qualified_identifier") {
    return constant(last_name(node), constants, depth);
  }
  if (type == "enumerator") {
    return enumerator(node, constants, depth);
  }
  if (const Node value = type == "type_descriptor" ? converted(node) : Node()) {
    return folded(value, constants, depth + 1);
  }
  if (type == "compound_literal_expression") { // uint8_t{mode}
    return folded(node.child("value"), constants, depth + 1);
  }
  if (type == "parenthesized_expression" || type == "initializer_list" || type == "argument_list" ||
      type == "condition_clause" || type == "expression_statement" || type == "type_descriptor") {
    return node.first() && !node.first().next() ? folded(node.first(), constants, depth + 1) : std::nullopt;
  }
  if (type == "cast_expression") {
    return folded(node.child("value"), constants, depth + 1);
  }
  if (type == "unary_expression") {
    return folded_unary(node, constants, depth);
  }
  if (type == "call_expression") {
    return folded_call(node, constants, depth);
  }
  if (type == "conditional_expression") {
    const auto condition = folded(node.child("condition"), constants, depth + 1);
    return condition
               ? folded(node.child(*condition != 0 ? "consequence" : "alternative"), constants, depth + 1)
               : std::nullopt;
  }
  if (type == "binary_expression") {
    const auto left = folded(node.child("left"), constants, depth + 1);
    const auto right = folded(node.child("right"), constants, depth + 1);
    return left && right ? combined(node.child("operator").text(), *left, *right) : std::nullopt;
  }
  return std::nullopt;
}

/// Of a declaration in a body: what `name` was declared as there.
std::string local_type(std::string_view name, Node body) {
  std::string type;
  body.each([&](Node node) {
    if (!node.is("declaration") && !node.is("for_range_loop")) {
      return;
    }
    for (Node declarator = node.first(); declarator; declarator = declarator.next()) {
      if (declarator.field() == "declarator" && declared_name(declarator).text() == name) {
        const Node inner = declarator.is("init_declarator") ? declarator.child("declarator") : declarator;
        const std::string sign(inner.text().substr(0, inner.text().find(name)));
        type = std::string(node.child("type").text()) + sign + (inner.is("array_declarator") ? "[]" : "");
        type.erase(type.find_last_not_of(' ') + 1);
        for (Node qualifier = node.first(); qualifier; qualifier = qualifier.next()) {
          if (qualifier.is("type_qualifier") && qualifier.text() == "volatile") {
            type = "volatile " + type;
          }
        }
      }
    }
  });
  return type;
}

} // namespace

std::optional<std::int64_t> Model::fold(Node expression, const Function* function) const {
  return folded(expression, {constants_, function == nullptr ? nullptr : function->file}, 0);
}

std::string Model::type_of(std::string_view name, const Function& function) const {
  if (auto type = local_type(name, function.body); !type.empty()) {
    return type;
  }
  if (const Parameter* parameter = function.parameter(name)) {
    return parameter->type;
  }
  const auto [begin, end] = declared_by_name_.equal_range(name);
  const Declared* best = nullptr;
  for (auto one = begin; one != end; ++one) {
    const Declared& declared = *one->second;
    const bool mine = !declared.scope.empty() && declared.scope == function.scope;
    if (best == nullptr || mine) {
      best = &declared;
    } else if (best->scope != function.scope && best->type != declared.type) {
      return {}; // two that differ, and neither is the function's
    }
  }
  return best == nullptr ? std::string() : best->type;
}

std::string Model::type_of(Node expression, const Function& function) const {
  const std::string_view type = expression.type();
  if (type == "identifier" || type == "qualified_identifier") {
    return type_of(last_name(expression), function);
  }
  if (type == "field_expression") {
    return type_of(expression.child("field").text(), function);
  }
  if (type == "parenthesized_expression") {
    return type_of(expression.first(), function);
  }
  if (type == "subscript_expression" || type == "pointer_expression") {
    return type_of(expression.child("argument"), function);
  }
  return {};
}

} // namespace dcuop::source
