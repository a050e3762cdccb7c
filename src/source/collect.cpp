#include "collect.hpp"

#include <algorithm>

namespace dcuop::source {
namespace {

std::string squeezed(std::string_view text) {
  std::string result;
  for (const char c : text) {
    const bool space = static_cast<unsigned char>(c) <= ' ';
    if (!space) {
      result += c;
    } else if (!result.empty() && result.back() != ' ') {
      result += ' ';
    }
  }
  while (!result.empty() && result.back() == ' ') {
    result.pop_back();
  }
  for (const std::string_view sign : {" *", " &"}) {
    for (auto at = result.find(sign); at != std::string::npos; at = result.find(sign, at)) {
      result.erase(at, 1);
    }
  }
  return result;
}

/// The text of `whole` without that of the name in it, initialisers and what follows them left out.
std::string type_text(Node whole, Node declarator, Node name) {
  std::string text;
  for (Node node = whole.first(); node; node = node.next()) {
    if (node == declarator) {
      break;
    }
    if (node.is("storage_class_specifier") || node.is("attribute_declaration")) {
      continue;
    }
    text += std::string(node.text()) + " ";
  }
  if (declarator) {
    const Offset from = declarator.begin();
    const Offset to = name ? name.begin() : declarator.end();
    text += std::string(declarator.text()).substr(0, to - from);
    if (name && declarator.is("array_declarator")) {
      text += "[]";
    }
  }
  return squeezed(text);
}

bool is_constant(Node declaration) {
  for (Node node = declaration.first(); node; node = node.next()) {
    if (node.is("type_qualifier") && (node.text() == "const" || node.text() == "constexpr")) {
      return true;
    }
  }
  return false;
}

void add_parameters(Node list, Function& function) {
  for (Node node = list.first(); node; node = node.next()) {
    const std::string_view type = node.type();
    if (type != "parameter_declaration" && type != "optional_parameter_declaration" &&
        type != "variadic_parameter_declaration") {
      continue;
    }
    const Node declarator = node.child("declarator");
    const Node name = declared_name(declarator);
    Parameter parameter{name ? std::string(name.text()) : std::string(), type_text(node, declarator, name),
                        node.child("default_value")};
    if (parameter.type == "void" && !name) {
      continue;
    }
    function.parameters.push_back(std::move(parameter));
  }
}

/// The variable that a lambda is given to, through (), {} and ?:; "lambda" when there is none.
std::string variable_of(Node lambda) {
  for (Node node = lambda, above = node.parent(); above; node = above, above = above.parent()) {
    if (above.is("init_declarator")) {
      return std::string(declared_name(above).text());
    }
    if (above.is("assignment_expression")) {
      return node.field() == "right" ? base_name(above.child("left")) : "lambda";
    }
    const bool passes = above.is("parenthesized_expression") || above.is("conditional_expression") ||
                        above.is("initializer_list") ||
                        (above.is("argument_list") && above.parent().is("init_declarator"));
    if (!passes) {
      break;
    }
  }
  return "lambda";
}

} // namespace

class Collector {
 public:
  Collector(const File& file, const Variant& variant) : file_(file), variant_(variant) {}

  void walk(Node node, const std::string& scope) {
    const std::string_view type = node.type();
    if (type == "function_definition") {
      add_function(node, scope);
      return;
    }
    if (type == "enum_specifier") {
      add_enumerators(node);
      return;
    }
    if (type == "declaration" || type == "field_declaration") {
      add_declared(node, scope);
    }
    std::string inner = scope;
    if (type == "class_specifier" || type == "struct_specifier" || type == "namespace_definition") {
      const Node name = node.child("name");
      if (name) {
        inner += (inner.empty() ? "" : "::") +
                 (name.is("template_type") ? last_name(name) : std::string(name.text()));
      }
    }
    for (Node child = node.first(); child; child = child.next()) {
      walk(child, inner);
    }
  }

  Collected take() { return std::move(collected_); }

 private:
  std::vector<Mark> marks_between(Offset begin, Offset end) const {
    std::vector<Mark> marks;
    for (const Mark& mark : variant_.marks) {
      if (mark.at >= begin && mark.at < end) {
        marks.push_back(mark);
      }
    }
    return marks;
  }

  /// Qualifiers stand before the declaration too, where the text is blank.
  Offset blank_before(Node node) const {
    Offset at = node.begin();
    const std::string& text = variant_.text;
    while (at > 0 && static_cast<unsigned char>(text[at - 1]) <= ' ') {
      --at;
    }
    return at;
  }

  static Node function_declarator(Node declarator) {
    for (int depth = 0; declarator && depth < 40; ++depth) {
      if (declarator.is("function_declarator")) {
        const Node inner = declarator.child("declarator");
        // `void (f)(int)` and macros as in NAME(f)(int): the outermost has the parameters.
        return inner ? declarator : Node();
      }
      Node next = declarator.child("declarator");
      if (!next) {
        next = declarator.first();
      }
      declarator = next;
    }
    return {};
  }

  void add_function(Node node, const std::string& scope) {
    const Node body = node.child("body");
    const Node declarator = function_declarator(node.child("declarator"));
    if (!body || !declarator) {
      return;
    }
    auto function = std::make_unique<Function>();
    const Node name = declarator.child("declarator");
    function->name = last_name(declared_name(name) ? declared_name(name) : name);
    function->scope = scope;
    if (name.is("qualified_identifier")) {
      const std::string text(name.text());
      const std::string outer = text.substr(0, text.rfind("::"));
      function->scope += (scope.empty() ? "" : "::") + outer.substr(0, outer.find('<'));
    }
    function->returns = squeezed(node.child("type").text());
    const Node whole = node.parent().is("template_declaration") ? node.parent() : node;
    function->marks = marks_between(blank_before(whole), body.begin());
    add_parameters(declarator.child("parameters"), *function);
    function->node = node;
    function->body = body;
    function->file = &file_;
    function->variants = {&variant_};
    function->calls = calls_in(body, variant_);
    for (const Call& initial : calls_in(node.child("declarator"), variant_)) {
      function->calls.push_back(initial);
    }
    add_constants_in(body);
    collected_.functions.push_back(std::move(function));
    add_bound_lambdas(body);
  }

  /// module.def("name", [](at::Tensor x) {...}): functions that have no name.
  void add_bound_lambdas(Node body) {
    body.each([this](Node node) {
      const Node call = node.is("lambda_expression") ? node.parent().parent() : Node();
      const std::string name = call.is("call_expression") ? last_name(call.child("function")) : std::string();
      if (name != "def" && name != "impl") {
        return;
      }
      auto function = std::make_unique<Function>();
      const Node bound_as = call.child("arguments").first();
      // With a space: no call has that name.
      function->name =
          "lambda " + (bound_as.is("string_literal") ? std::string(bound_as.first().text()) : "");
      add_parameters(node.child("declarator").child("parameters"), *function);
      function->node = node;
      function->body = node.child("body");
      function->file = &file_;
      function->variants = {&variant_};
      function->calls = calls_in(function->body, variant_);
      collected_.functions.push_back(std::move(function));
    });
  }

  /// Local constants: those of one name that differ make the name unknown.
  void add_constants_in(Node body) {
    body.each([this](Node node) {
      if (node.is("declaration") && is_constant(node)) {
        add_constants(node);
      }
    });
  }

  void add_constants(Node declaration) {
    for (Node node = declaration.first(); node; node = node.next()) {
      if (node.is("init_declarator") && node.child("value")) {
        const Node name = declared_name(node);
        if (name && !node.child("declarator").is("array_declarator")) {
          collected_.constants.emplace_back(last_name(name), node.child("value"));
        }
      }
    }
  }

  void add_enumerators(Node node) {
    for (Node one = node.child("body").first(); one; one = one.next()) {
      if (one.is("enumerator")) {
        // One without a value counts on from the one before: folded there.
        const Node value = one.child("value");
        collected_.constants.emplace_back(std::string(one.child("name").text()), value ? value : one);
      }
    }
  }

  void add_declared(Node node, const std::string& scope) {
    const std::vector<Mark> marks = marks_between(blank_before(node), node.end());
    for (Node declarator = node.first(); declarator; declarator = declarator.next()) {
      if (declarator.field() != "declarator") {
        continue;
      }
      const Node inner = declarator.is("init_declarator") ? declarator.child("declarator") : declarator;
      const Node name = declared_name(inner);
      if (!name || inner.is("function_declarator")) {
        continue;
      }
      collected_.declared.push_back(
          {last_name(name), scope, type_text(node, inner, name), marks, node, &file_});
      const Node member_value = node.child("default_value"); // of a static constexpr member
      if (is_constant(node) && member_value) {
        collected_.constants.emplace_back(last_name(name), member_value);
      }
    }
    if (is_constant(node)) {
      add_constants(node);
    }
  }

  const File& file_;
  const Variant& variant_;
  Collected collected_;
};

std::vector<Call> calls_in(Node body, const Variant& variant) {
  std::vector<Call> calls;
  body.each([&](Node node) {
    if (node.is("call_expression")) {
      calls.push_back(call_of(node, variant));
    } else if (node.is("init_declarator") || node.is("function_declarator")) {
      Call made = call_of(node, variant);
      if (!made.name.empty() && !made.arguments.empty()) {
        calls.push_back(std::move(made));
      }
    }
  });
  return calls;
}

Collected collect(const File& file, const Variant& variant, Node root) {
  Collector collector(file, variant);
  collector.walk(root, "");
  return collector.take();
}

std::unique_ptr<Function> macro_function(const File& file, const Variant& variant,
                                         const MacroDefinition& macro, Node root) {
  auto function = std::make_unique<Function>();
  function->name = macro.name;
  function->is_macro = true;
  function->is_object_like = !macro.is_function;
  for (const std::string& name : macro.parameters) {
    function->parameters.push_back({name, {}, {}});
  }
  function->node = root;
  function->body = root;
  function->file = &file;
  function->variants = {&variant};
  function->calls = calls_in(root, variant);
  return function;
}

std::unique_ptr<Function> lambda_function(const Function& outer, Node node) {
  auto function = std::make_unique<Function>();
  function->name = variable_of(node);
  function->scope = outer.scope;
  function->is_lambda = true;
  function->outer = &outer;
  add_parameters(node.child("declarator").child("parameters"), *function);
  function->marks = outer.marks;
  std::erase_if(function->marks, [](const Mark& mark) { return mark.name == "__global__"; });
  if (outer.has_mark("__global__")) {
    function->marks.push_back({node.begin(), "__device__", {}});
  }
  const Node body = node.child("body");
  const auto& marks = outer.variants.front()->marks;
  auto mark = std::lower_bound(marks.begin(), marks.end(), node.begin(),
                               [](const Mark& one, Offset at) { return one.at < at; });
  for (; mark != marks.end() && mark->at < body.begin(); ++mark) { // [] __device__ (int i) {}
    function->marks.push_back(*mark);
  }
  function->node = node;
  function->body = body;
  function->file = outer.file;
  function->variants = outer.variants;
  function->calls = calls_in(body, *outer.variants.front());
  return function;
}

} // namespace dcuop::source
