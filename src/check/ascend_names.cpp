#include "ascend_names.hpp"

#include <algorithm>

namespace dcuop::check::ascend {
namespace {

constexpr int deepest = 8;

std::string last_part(std::string_view scope) {
  const auto at = scope.rfind("::");
  return std::string(at == std::string_view::npos ? scope : scope.substr(at + 2));
}

/// "Foo" of "const ns::Foo<T>&".
std::string type_name(std::string_view type) {
  std::string plain(type.substr(0, type.find('<')));
  while (!plain.empty() && std::string_view(" *&").find(plain.back()) != std::string_view::npos) {
    plain.pop_back();
  }
  const auto at = plain.find_last_of(" :");
  return at == std::string::npos ? plain : plain.substr(at + 1);
}

bool takes(const Function& function, std::size_t given) {
  std::size_t least = 0;
  bool variadic = function.is_macro;
  for (const source::Parameter& parameter : function.parameters) {
    const bool pack = contains(parameter.type, "...");
    least += parameter.default_value || pack ? 0 : 1;
    variadic = variadic || pack;
  }
  return variadic || (given >= least && given <= function.parameters.size());
}

int nearness(const Function& function, const File* from) {
  if (function.file == from) {
    return 2;
  }
  return function.file->directory == from->directory ? 1 : 0;
}

void keep_nearest(std::vector<const Function*>& all, const File* from) {
  int most = 0;
  for (const Function* one : all) {
    most = std::max(most, nearness(*one, from));
  }
  std::erase_if(all, [&](const Function* one) { return nearness(*one, from) < most; });
}

/// Where a name stands in a function; of one in a macro's text, nowhere that is known.
Offset place_of(Node name, const Function& function) {
  return name.tree() == function.body.tree() ? name.begin() : nowhere;
}

bool is_in_scope(const Local& local, Offset at) {
  return at == nowhere || (local.at <= at && at <= local.end);
}

Offset block_end(Node node) {
  for (Node above = node.parent(); above; above = above.parent()) {
    if (above.is("compound_statement") || above.is("for_statement") || above.is("for_range_loop")) {
      return above.end();
    }
  }
  return static_cast<Offset>(-1);
}

} // namespace

std::string one_line(std::string_view text) {
  std::string line;
  for (const char c : text) {
    const bool space = static_cast<unsigned char>(c) <= ' ';
    if (!space) {
      line += c;
    } else if (!line.empty() && line.back() != ' ') {
      line += ' ';
    }
  }
  if (line.size() > 100) {
    line.resize(97);
    line += "...";
  }
  return line;
}

bool is_api(const Call& call, std::string_view name) {
  return call.name == name && !call.receiver &&
         (call.qualified == name || call.qualified == "AscendC::" + std::string(name) ||
          call.qualified == "::AscendC::" + std::string(name));
}

Names::Names(const source::Model& read) : model(read) {
  for (const auto& file : model.files()) {
    read_classes(*file);
  }
  for (const source::Declared& declared : model.declared()) {
    Member member{declared.type, kind_of_type(declared.type)};
    const bool gm = std::any_of(declared.marks.begin(), declared.marks.end(),
                                [](const source::Mark& mark) { return mark.name == "__gm__"; });
    if (gm && contains(declared.type, "*")) {
      member.kind = Kind::gm_pointer;
    }
    any_member_[declared.name].insert(member.kind);
    members_[last_part(declared.scope)].emplace(declared.name, std::move(member));
  }
}

void Names::read_classes(const File& file) {
  for (const auto& tree : file.trees) {
    tree->root().each([this](Node node) {
      if (node.is("alias_declaration")) {
        aliases_.emplace(std::string(node.child("name").text()), std::string(node.child("type").text()));
        return;
      }
      if (node.is("type_definition")) {
        aliases_.emplace(std::string(source::declared_name(node.child("declarator")).text()),
                         std::string(node.child("type").text()));
        return;
      }
      const bool is_class = (node.is("class_specifier") || node.is("struct_specifier")) && node.child("body");
      if (!is_class || !node.child("name")) {
        return;
      }
      const Node name = node.child("name");
      auto& bases = classes_[name.is("template_type") ? source::last_name(name) : std::string(name.text())];
      for (Node child = node.first(); child; child = child.next()) {
        for (Node base = child.is("base_class_clause") ? child.first() : Node(); base; base = base.next()) {
          if (const std::string base_name = type_name(base.text()); !base_name.empty()) {
            bases.push_back(base_name);
          }
        }
      }
    });
  }
}

std::string Names::class_of(const Function& function) const {
  const std::string last = last_part(function.scope);
  return is_class(last) ? last : std::string();
}

std::vector<std::string> Names::with_bases(const std::string& name) const {
  std::vector<std::string> all = {name};
  for (std::size_t index = 0; index < all.size() && all.size() < 20; ++index) {
    const auto found = classes_.find(all[index]);
    if (found == classes_.end()) {
      continue;
    }
    for (const std::string& base : found->second) {
      if (std::find(all.begin(), all.end(), base) == all.end()) {
        all.push_back(base);
      }
    }
  }
  return all;
}

bool Names::has_gm_mark(const Function& function, Offset begin, Offset end) {
  const auto& marks = function.variants.front()->marks;
  auto mark = std::lower_bound(marks.begin(), marks.end(), begin,
                               [](const source::Mark& one, Offset at) { return one.at < at; });
  for (; mark != marks.end() && mark->at < end; ++mark) {
    if (mark->name == "__gm__") {
      return true;
    }
  }
  return false;
}

Kind Names::kind_of_type(std::string_view type, int depth) const {
  const std::string_view head = type.substr(0, type.find('<'));
  if (contains(head, "GlobalTensor")) {
    return Kind::global_tensor;
  }
  if (contains(head, "LocalTensor")) {
    return Kind::local_tensor;
  }
  const std::string name = type_name(type);
  if (name == "TPipe") {
    return Kind::pipe;
  }
  if (name.starts_with("TQue") || name.starts_with("TBuf")) {
    return Kind::queue;
  }
  if (is_any_of(name, {"Matmul", "MatmulImpl", "MatmulClient", "BatchMatmul"})) {
    return Kind::matmul;
  }
  if (name == "GM_ADDR") {
    return Kind::gm_pointer;
  }
  const auto alias = aliases_.find(name);
  if (alias != aliases_.end() && depth < deepest) {
    return kind_of_type(alias->second, depth + 1);
  }
  return type.empty() || name == "auto" ? Kind::unknown : Kind::other;
}

const std::map<std::string, std::vector<Local>, std::less<>>&
Names::locals_of(const Function& function) const {
  const auto known = locals_.find(&function);
  if (known != locals_.end()) {
    return known->second;
  }
  auto& table = locals_[&function]; // before it is filled: an initialiser may name the variable itself
  function.body.each([&](Node node) {
    if (!node.is("declaration") && !node.is("for_range_loop")) {
      return;
    }
    const std::string type(node.child("type").text());
    Offset from = node.begin();
    const auto& text = function.variants.front()->text;
    while (from > 0 && static_cast<unsigned char>(text[from - 1]) <= ' ') {
      --from; // where __gm__ stood
    }
    for (Node declarator = node.first(); declarator; declarator = declarator.next()) {
      const Node name = declarator.field() == "declarator" ? source::declared_name(declarator) : Node();
      if (!name) {
        continue;
      }
      const Node inner = declarator.is("init_declarator") ? declarator.child("declarator") : declarator;
      Local local{name.begin(), block_end(node), kind_of_type(type), type};
      const bool points = inner.is("pointer_declarator");
      if (points && has_gm_mark(function, from, name.begin())) {
        local.kind = Kind::gm_pointer;
      }
      const Node value = declarator.child("value");
      if (local.kind == Kind::unknown && value && !node.is("for_range_loop")) {
        local.kind = kind_of(value, function);
      }
      table[std::string(name.text())].push_back(std::move(local));
    }
  });
  return table;
}

const std::map<std::string, Node, std::less<>>& Names::aliases_of(const Function& function) const {
  const auto [known, is_new] = local_aliases_.try_emplace(&function);
  if (!is_new) {
    return known->second;
  }
  std::map<std::string, Node, std::less<>> found;
  function.body.each([&](Node node) {
    const bool initial = node.is("init_declarator");
    if (!initial && !(node.is("assignment_expression") && node.child("left").is("identifier"))) {
      return;
    }
    const Node value = node.child(initial ? "value" : "right");
    const Kind kind = kind_of(value, function);
    if (kind == Kind::global_tensor || kind == Kind::gm_pointer) {
      found[std::string(initial ? source::declared_name(node).text() : node.child("left").text())] = value;
    }
  });
  return local_aliases_[&function] = std::move(found);
}

Kind Names::kind_of_member(std::string_view name, const Function& function) const {
  for (const std::string& one : with_bases(class_of(function))) {
    const auto members = members_.find(one);
    if (members == members_.end() || one.empty()) {
      continue;
    }
    if (const auto member = members->second.find(name); member != members->second.end()) {
      return member->second.kind;
    }
  }
  const auto any = any_member_.find(name);
  return any != any_member_.end() && any->second.size() == 1 ? *any->second.begin() : Kind::unknown;
}

Kind Names::kind_of_name(std::string_view name, Offset at, const Function& function) const {
  const auto& locals = locals_of(function);
  if (const auto found = locals.find(name); found != locals.end()) {
    for (auto local = found->second.rbegin(); local != found->second.rend(); ++local) {
      if (is_in_scope(*local, at)) {
        return local->kind;
      }
    }
  }
  if (const source::Parameter* parameter = function.parameter(name)) {
    const Kind kind = kind_of_type(parameter->type);
    if (!contains(parameter->type, "*") || kind != Kind::other) {
      return kind;
    }
    // A pointer: to global memory when __gm__ stands before its name, behind the comma.
    const std::string& text = function.variants.front()->text;
    Offset name_at = function.body.begin();
    for (auto found = text.find(name, function.node.begin());
         found != std::string::npos && found < function.body.begin(); found = text.find(name, found + 1)) {
      name_at = static_cast<Offset>(found);
    }
    const auto from = text.find_last_of(",(", name_at > 0 ? name_at - 1 : 0);
    return has_gm_mark(function, static_cast<Offset>(from), name_at) ? Kind::gm_pointer : Kind::other;
  }
  return function.outer != nullptr ? kind_of_name(name, function.body.begin(), *function.outer)
                                   : kind_of_member(name, function);
}

Kind Names::kind_of_call(Node node, const Function& function) const {
  const Call call = source::call_of(node, *function.variants.front());
  if (is_any_of(call.name, {"AllocTensor", "DeQue", "Get", "GetWithOffset", "GetBuffer"}) && call.receiver) {
    return Kind::local_tensor;
  }
  if (call.name == "ReinterpretCast" && call.receiver) {
    return kind_of(call.receiver, function);
  }
  if (call.name == "GetPhyAddr" && call.receiver) {
    return kind_of(call.receiver, function) == Kind::global_tensor ? Kind::gm_pointer : Kind::other;
  }
  if (is_any_of(call.name, {"reinterpret_cast", "static_cast", "const_cast"})) {
    return has_gm_mark(function, node.begin(), node.child("arguments").begin()) ? Kind::gm_pointer
                                                                                : Kind::other;
  }
  const Kind constructed = kind_of_type(call.name);
  if (constructed != Kind::other && constructed != Kind::unknown) {
    return constructed;
  }
  const auto all = callees(call, function);
  return all.size() == 1 ? kind_of_type(all.front()->returns) : Kind::unknown;
}

Kind Names::kind_of(Node expression, const Function& function) const {
  const std::string_view type = expression.type();
  if (type == "identifier") {
    return kind_of_name(expression.text(), place_of(expression, function), function);
  }
  if (type == "field_expression") {
    const bool mine = expression.child("argument").is("this");
    const std::string owner =
        mine ? class_of(function) : class_of_object(expression.child("argument"), function);
    const std::string_view name = expression.child("field").text();
    for (const std::string& one : with_bases(owner)) {
      const auto members = members_.find(one);
      if (members != members_.end() && !one.empty() && members->second.contains(name)) {
        return members->second.find(name)->second.kind;
      }
    }
    return kind_of_member(name, function);
  }
  if (type == "subscript_expression" || type == "parenthesized_expression" || type == "pointer_expression") {
    const Node inner = type == "parenthesized_expression" ? expression.first() : expression.child("argument");
    const Kind kind = kind_of(inner, function);
    const bool element = type == "subscript_expression" && kind == Kind::gm_pointer;
    return element ? Kind::other : kind;
  }
  if (type == "cast_expression") {
    return has_gm_mark(function, expression.begin(), expression.child("value").begin())
               ? Kind::gm_pointer
               : kind_of(expression.child("value"), function);
  }
  if (type == "conditional_expression") {
    return kind_of(expression.child("consequence"), function);
  }
  if (type == "binary_expression" || type == "assignment_expression") {
    const Kind left = kind_of(expression.child("left"), function);
    return left == Kind::gm_pointer ? left : Kind::other;
  }
  if (type == "call_expression") {
    return kind_of_call(expression, function);
  }
  return type.ends_with("_literal") ? Kind::other : Kind::unknown;
}

std::string Names::class_in(std::string_view type, int depth) const {
  std::string name = type_name(type);
  if (is_class(name)) {
    return name;
  }
  const auto alias = aliases_.find(name);
  return alias != aliases_.end() && depth < deepest ? class_in(alias->second, depth + 1) : std::string();
}

std::string Names::type_of_name(std::string_view name, Offset at, const Function& function) const {
  const auto& locals = locals_of(function);
  if (const auto found = locals.find(name); found != locals.end()) {
    for (auto local = found->second.rbegin(); local != found->second.rend(); ++local) {
      if (is_in_scope(*local, at)) {
        return local->type;
      }
    }
  }
  if (const source::Parameter* parameter = function.parameter(name)) {
    return parameter->type;
  }
  if (function.outer != nullptr) {
    return type_of_name(name, function.body.begin(), *function.outer);
  }
  for (const std::string& one : with_bases(class_of(function))) {
    const auto members = members_.find(one);
    if (members != members_.end() && members->second.contains(name)) {
      return members->second.find(name)->second.type;
    }
  }
  return {};
}

std::string Names::class_of_object(Node expression, const Function& function) const {
  if (expression.is("this")) {
    return class_of(function);
  }
  if (expression.is("field_expression") || expression.is("subscript_expression") ||
      expression.is("pointer_expression")) {
    const Node name =
        expression.is("field_expression") ? expression.child("field") : expression.child("argument");
    return expression.is("field_expression")
               ? class_in(type_of_name(name.text(), place_of(name, function), function))
               : class_of_object(name, function);
  }
  return expression.is("identifier")
             ? class_in(type_of_name(expression.text(), place_of(expression, function), function))
             : std::string();
}

const std::vector<const Function*>& Names::callees(const Call& call, const Function& in) const {
  const auto [known, is_new] = callees_.try_emplace({call.node.tree(), call.node.begin(), call.node.end()});
  if (is_new) {
    auto all = find_callees(call, in); // may ask for others meanwhile
    callees_[{call.node.tree(), call.node.begin(), call.node.end()}] = std::move(all);
  }
  return known->second;
}

std::vector<const Function*> Names::find_callees(const Call& call, const Function& in) const {
  std::vector<const Function*> all = model.held(call);
  if (!all.empty()) {
    return all;
  }
  if (call.name.empty() || call.qualified.starts_with("AscendC::") ||
      call.qualified.starts_with("::AscendC::")) {
    return all;
  }
  for (const Function* one : model.named(call.name)) {
    if (one != &in && takes(*one, call.arguments.size())) {
      all.push_back(one);
    }
  }
  const auto keep_members_of = [&](const std::string& owner) {
    for (const std::string& one : with_bases(owner)) {
      std::vector<const Function*> found;
      std::copy_if(all.begin(), all.end(), std::back_inserter(found),
                   [&](const Function* function) { return class_of(*function) == one; });
      if (!found.empty()) {
        return found;
      }
    }
    return std::vector<const Function*>();
  };
  if (call.receiver) {
    if (const std::string owner = class_of_object(call.receiver, in); !owner.empty()) {
      all = keep_members_of(owner);
    } else {
      const Kind kind = kind_of(call.receiver, in);
      std::erase_if(all, [&](const Function* one) {
        return kind != Kind::unknown && kind != Kind::other ? true : class_of(*one).empty();
      });
    }
  } else if (const auto at = call.qualified.rfind("::"); at != std::string::npos) {
    const std::string owner = class_in(call.qualified.substr(0, at));
    if (!owner.empty()) {
      all = keep_members_of(owner);
    } else {
      std::erase_if(all, [&](const Function* one) { return !class_of(*one).empty(); });
    }
  } else if (auto mine = keep_members_of(class_of(in)); !mine.empty() && !class_of(in).empty()) {
    all = std::move(mine);
  } else {
    std::erase_if(all, [&](const Function* one) { return !class_of(*one).empty(); });
  }
  keep_nearest(all, in.file);
  return all;
}

} // namespace dcuop::check::ascend
