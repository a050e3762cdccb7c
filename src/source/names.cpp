// What expressions and declarators name.
#include "dcuop/source/model.hpp"

namespace dcuop::source {
namespace {

/// The node that holds the last name of what is called.
Node name_node(Node node) {
  for (int depth = 0; node && depth < 40; ++depth) {
    const std::string_view type = node.type();
    if (type == "qualified_identifier" || type == "template_function" || type == "template_method" ||
        type == "template_type" || type == "dependent_name") {
      const Node name = node.child("name");
      node = name ? name : node.first();
    } else if (type == "field_expression") {
      node = node.child("field");
    } else if (type == "parenthesized_expression" || type == "dependent_field") {
      node = node.first();
    } else if (type == "pointer_expression") {
      node = node.child("argument");
    } else {
      return node;
    }
  }
  return node;
}

std::string without_templates(std::string_view text) {
  std::string plain;
  std::size_t depth = 0;
  for (std::size_t at = 0; at < text.size(); ++at) {
    const char c = text[at];
    const bool arrow = c == '>' && at > 0 && text[at - 1] == '-';
    if (c == '<') {
      ++depth;
    } else if (c == '>' && !arrow) {
      depth -= depth > 0 ? 1 : 0;
    } else if (depth == 0 && static_cast<unsigned char>(c) > ' ') {
      plain += c;
    }
  }
  return plain;
}

void add_template_arguments(Node function, std::vector<Node>& into) {
  for (int depth = 0; function && depth < 40; ++depth) {
    const std::string_view type = function.type();
    if (type == "template_function" || type == "template_method") {
      into = function.child("arguments").children();
      return;
    }
    if (type == "qualified_identifier") {
      function = function.child("name");
    } else if (type == "field_expression") {
      function = function.child("field");
    } else if (type == "dependent_name" || type == "parenthesized_expression" || type == "dependent_field") {
      function = function.first();
    } else {
      return;
    }
  }
}

} // namespace

std::string last_name(Node expression) {
  const Node name = name_node(expression);
  const std::string_view type = name.type();
  if (type == "identifier" || type == "field_identifier" || type == "type_identifier" ||
      type == "namespace_identifier" || type == "primitive_type" || type == "destructor_name" ||
      type == "operator_name" || type == "this") {
    return std::string(name.text());
  }
  return {};
}

namespace {

/// Guard guard(x); Guard guard{x};
Call construction_of(Node node, const Variant& variant) {
  Call call;
  const Node declaration = node.parent();
  const Node list = node.is("init_declarator") ? node.child("value") : node.child("parameters");
  const Node type = declaration.child("type");
  if (!declaration.is("declaration") || !type ||
      !(list.is("argument_list") || list.is("initializer_list") || list.is("parameter_list"))) {
    return call;
  }
  for (Node argument = list.first(); argument; argument = argument.next()) {
    // `Guard guard(x)` may as well declare a function: then x is a type, and nothing but that.
    const bool named =
        !list.is("parameter_list") || (argument.first().is("type_identifier") && !argument.first().next());
    if (!named) {
      return {};
    }
    call.arguments.push_back(argument);
  }
  call.node = node;
  call.file = variant.file;
  call.name = last_name(type);
  call.qualified = without_templates(type.text());
  return call;
}

} // namespace

Call call_of(Node node, const Variant& variant) {
  if (node.is("init_declarator") || node.is("function_declarator")) {
    return construction_of(node, variant);
  }
  Call call;
  if (!node.is("call_expression")) {
    return call;
  }
  const Node function = node.child("function");
  call.node = node;
  call.file = variant.file;
  call.name = last_name(function);
  call.qualified = without_templates(function.text());
  if (function.is("field_expression")) {
    call.receiver = function.child("argument");
  }
  add_template_arguments(function, call.template_arguments);
  const Node list = node.child("arguments");
  const Launch* launch = nullptr;
  for (const Launch& one : variant.launches) {
    if (one.open == list.begin()) {
      launch = &one;
    }
  }
  for (Node argument = list.first(); argument; argument = argument.next()) {
    (launch != nullptr && argument.begin() < launch->end ? call.launch : call.arguments).push_back(argument);
  }
  return call;
}

Node declared_name(Node declarator) {
  for (int depth = 0; declarator && depth < 40; ++depth) {
    const std::string_view type = declarator.type();
    if (type == "identifier" || type == "field_identifier" || type == "type_identifier" ||
        type == "qualified_identifier" || type == "structured_binding_declarator" ||
        type == "destructor_name" || type == "operator_name" || type == "operator_cast") {
      return declarator;
    }
    if (type == "template_function") {
      declarator = declarator.child("name");
      continue;
    }
    Node next = declarator.child("declarator");
    if (!next) { // reference_declarator and parenthesized_declarator name no field
      for (next = declarator.first(); next; next = next.next()) {
        const std::string_view inner = next.type();
        if (inner.ends_with("declarator") || inner.ends_with("identifier")) {
          break;
        }
      }
    }
    declarator = next;
  }
  return {};
}

std::string base_name(Node expression) {
  for (int depth = 0; expression && depth < 40; ++depth) {
    const std::string_view type = expression.type();
    if (type == "identifier" || type == "this") {
      return std::string(expression.text());
    }
    if (type == "qualified_identifier") {
      return last_name(expression);
    }
    Node next;
    for (const char* field : {"argument", "function", "value", "left"}) {
      next = next ? next : expression.child(field);
    }
    if (type == "call_expression") {
      const Node function = expression.child("function");
      const bool is_cast = function.is("template_function") && last_name(function).ends_with("_cast");
      if (!function.is("field_expression")) {
        const Node first = expression.child("arguments").first();
        next = is_cast || first ? first : Node();
      }
    }
    expression = next ? next : expression.first();
  }
  return {};
}

std::vector<Node> identifiers(Node expression) {
  std::vector<Node> all;
  expression.each([&all](Node node) {
    if (node.is("identifier") && node.field() != "name") {
      all.push_back(node);
    }
  });
  return all;
}

} // namespace dcuop::source
