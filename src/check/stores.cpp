// Where pointers go, and who stores through them: by themselves, or as members of structs that are handed on.
#include <algorithm>

#include "tensors.hpp"

namespace dcuop::check {
namespace {

constexpr int deepest = 12; ///< calls in calls

/// A parameter that is the pointer, or has it as its member.
struct Target {
  const Function* function = nullptr;
  std::size_t parameter = 0;
  std::string member;
  auto operator<=>(const Target&) const = default;
};

/// The members of a struct, in their order.
std::vector<std::string> members_of(const source::Model& model, std::string_view type) {
  std::string name(type.substr(0, type.find('<')));
  for (const std::string_view word : {"const ", "struct "}) {
    if (name.starts_with(word)) {
      name.erase(0, word.size());
    }
  }
  name.erase(std::remove_if(name.begin(), name.end(), [](char c) { return c == ' ' || c == '&'; }),
             name.end());
  std::vector<std::string> members;
  const File* file = nullptr; // the same struct may stand in the copies of a header
  for (const source::Declared& declared : model.declared()) {
    const bool mine = !name.empty() && ("::" + declared.scope).ends_with("::" + name);
    if (mine && (file == nullptr || file == declared.file) &&
        std::find(members.begin(), members.end(), declared.name) == members.end()) {
      file = declared.file;
      members.push_back(declared.name);
    }
  }
  return members;
}

class StoreSearch {
 public:
  explicit StoreSearch(const Sources& sources) : sources_(sources) {}

  /// From where a pointer is, upwards: a call's argument, a struct's member.
  bool from(const Function& function, Node pointer) {
    Node part = pointer;
    for (Node above = pointer.parent(); above && !above.type().ends_with("statement");
         part = above, above = above.parent()) {
      if (above.is("argument_list") && above.parent().is("call_expression") &&
          given(function, above.parent(), part, member_)) {
        return true;
      }
      if (above.is("initializer_list")) {
        const Node made = above.parent();
        const std::string_view type =
            made.is("init_declarator") ? made.parent().child("type").text() : made.child("type").text();
        member_ = made_member(above, part, type);
        if (made.is("init_declarator")) {
          return handed_on(function, std::string(source::declared_name(made).text()), member_);
        }
      } else if (above.is("assignment_expression") && part.field() == "right") {
        const Node left = above.child("left");
        const std::string member =
            left.is("field_expression") ? std::string(left.child("field").text()) : std::string();
        return handed_on(function, source::base_name(left), member);
      } else if (above.is("init_declarator")) {
        return handed_on(function, std::string(source::declared_name(above).text()), "");
      }
    }
    return false;
  }

 private:
  /// {x, y}, {.x = x}
  [[nodiscard]] std::string made_member(Node list, Node part, std::string_view type) const {
    if (part.is("initializer_pair")) {
      return source::last_name(part.child("designator").first());
    }
    const auto members = members_of(sources_.model, type);
    std::size_t index = 0;
    for (Node one = list.first(); one && one != part; one = one.next()) {
      ++index;
    }
    return index < members.size() ? members[index] : std::string();
  }

  /// As an argument of a call or a launch.
  bool given(const Function& function, Node node, Node argument, const std::string& member) {
    const Call call = source::call_of(node, *function.variants.front());
    const auto in = [&](const std::vector<Node>& all) {
      return static_cast<std::size_t>(std::find(all.begin(), all.end(), argument) - all.begin());
    };
    for (const Function* callee : sources_.model.callees(call)) {
      if (stores({callee, source::parameter_index(call, *callee, in(call.arguments)), member})) {
        return true;
      }
    }
    // launch(kernel<T>, n, stream, x, y): the last arguments are the kernel's.
    for (const Node handed : call.arguments) {
      for (const Function* kernel : sources_.model.named(source::last_name(handed), function.file)) {
        const std::size_t count = kernel->parameters.size();
        const std::size_t index = in(call.arguments) + count;
        if (kernel->has_mark("__global__") && call.arguments.size() > count &&
            index >= call.arguments.size() && stores({kernel, index - call.arguments.size(), member})) {
          return true;
        }
      }
    }
    for (const LaunchSite* site : sources_.launches_in(function)) {
      const std::size_t index = in(site->arguments);
      if (!(site->call->node == node) || index == site->arguments.size()) {
        continue;
      }
      for (const Function* kernel : kernels_of(*site)) {
        if (stores({kernel, index, member})) {
          return true;
        }
      }
    }
    return false;
  }

  /// By name, or as a variable was given: auto kernel = flat ? copy<true> : copy<false>.
  [[nodiscard]] std::vector<const Function*> kernels_of(const LaunchSite& site) const {
    auto kernels = sources_.model.named(site.kernel, site.in->file);
    if (!kernels.empty()) {
      return kernels;
    }
    site.in->body.each([&](Node node) {
      if (!node.is("init_declarator") || source::declared_name(node).text() != site.kernel) {
        return;
      }
      node.child("value").each([&](Node one) {
        for (const Function* named : one.is("identifier") ? sources_.model.named(one.text(), site.in->file)
                                                          : std::vector<const Function*>()) {
          if (named->has_mark("__global__")) {
            kernels.push_back(named);
          }
        }
      });
    });
    return kernels;
  }

  bool stores(const Target& target) {
    const auto& parameters = target.function->parameters;
    if (target.parameter >= parameters.size() || depth_ >= deepest || !seen_.insert(target).second) {
      return false;
    }
    const source::Parameter& parameter = parameters[target.parameter];
    const bool is_const = contains(parameter.type, "const ");
    const bool points = contains(parameter.type, "*");
    if (parameter.name.empty() || (target.member.empty() && (!points || is_const))) {
      return false;
    }
    ++depth_;
    const bool found = handed_on(*target.function, parameter.name, target.member);
    --depth_;
    return found;
  }

  /// x, or member m of it: x.m, x->m.
  static bool is_member(Node node, std::string_view name, std::string_view member) {
    return node.is("field_expression") && node.child("field").text() == member &&
           source::base_name(node.child("argument")) == name;
  }
  static bool mentions(Node value, std::string_view name, std::string_view member) {
    bool found = false;
    value.each([&](Node one) { found = found || is_member(one, name, member); });
    return found;
  }

  /// What becomes of a variable in a function: local pointers that it is given to, stores, calls.
  bool handed_on(const Function& function, const std::string& name, const std::string& member) {
    std::set<std::string, std::less<>> pointers;
    if (member.empty()) {
      pointers.insert(name);
    }
    function.body.each([&](Node node) {
      const Node value = node.is("init_declarator") ? node.child("value") : Node();
      const bool copies = value && !member.empty() && mentions(value, name, member);
      const bool points =
          contains(node.child("declarator").text(), "*") || node.parent().child("type").text() == "auto";
      if (copies && points && !contains(node.parent().text(), "const void")) {
        pointers.insert(std::string(source::declared_name(node).text()));
      }
    });
    bool stored = false;
    function.body.each([&](Node node) {
      const Node target = node.is("assignment_expression") ? node.child("left")
                          : node.is("update_expression")   ? node.child("argument")
                                                           : Node();
      if (target.is("subscript_expression") || target.is("pointer_expression")) {
        const Node memory = target.child("argument");
        stored = stored || pointers.contains(source::base_name(target)) ||
                 (!member.empty() && is_member(memory, name, member));
      }
    });
    return stored || is_given(function, name, member, pointers);
  }

  bool is_given(const Function& function, const std::string& name, const std::string& member,
                const std::set<std::string, std::less<>>& pointers) {
    for (const Call& call : function.calls) {
      std::size_t index = 0;
      for (const Node argument : call.arguments) {
        const std::string base = source::base_name(argument);
        const bool is_pointer =
            pointers.contains(base) || (!member.empty() && base == name && mentions(argument, name, member));
        const bool is_whole = !member.empty() && base == name && !is_pointer && !is_other_member(argument);
        if ((is_pointer || is_whole) &&
            ((is_pointer && contains(call.name, "atomic") && index == 0) ||
             given(function, call.node, argument, is_whole ? member : std::string()))) {
          return true;
        }
        ++index;
      }
    }
    return false;
  }

  static bool is_other_member(Node argument) {
    bool other = false;
    argument.each([&](Node one) { other = other || one.is("field_expression"); });
    return other;
  }

  const Sources& sources_;
  std::set<Target> seen_;
  std::string member_;
  int depth_ = 0;
};

} // namespace

bool is_stored_to(const Sources& sources, const Function& function, Node pointer) {
  return pointer && StoreSearch(sources).from(function, pointer);
}

} // namespace dcuop::check
