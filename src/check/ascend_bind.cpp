// DCU884 to DCU888: SK_BIND, by which a kernel that is launched with <<<>>> is known to a SuperKernel.
#include <algorithm>

#include "ascend.hpp"

namespace dcuop::check::ascend {
namespace {

constexpr std::size_t most_functions = 4;
enum Capability : std::int64_t { waits = 1, sets = 2 };

struct Bound {
  const File* file = nullptr;
  Offset at = 0;
  std::string kernel;
  std::optional<std::int64_t> capabilities;
  std::vector<std::string> functions;
};

std::string trimmed(std::string_view text) {
  std::string plain = one_line(text);
  plain.erase(plain.find_last_not_of(' ') + 1);
  return plain.substr(std::min(plain.find_first_not_of(' '), plain.size()));
}

/// "f" of "ns::f<0>".
std::string plain_name(std::string_view text) {
  std::string name = trimmed(text.substr(0, text.find('<')));
  const auto at = name.rfind(':');
  return at == std::string::npos ? name : name.substr(at + 1);
}

/// What stands between the parenthesis at `open` and its partner, by commas outside of others.
std::vector<std::string> arguments_at(std::string_view text, std::size_t open) {
  std::vector<std::string> all;
  std::size_t depth = 0;
  std::size_t begin = open + 1;
  for (std::size_t at = open; at < std::min(text.size(), open + 4000); ++at) {
    const char c = text[at];
    if (c == '(' || c == '<') {
      ++depth;
    } else if (c == '>' || c == ')') {
      depth -= depth > 0 ? 1 : 0;
    }
    if ((c == ',' && depth == 1) || (c == ')' && depth == 0)) {
      all.push_back(trimmed(text.substr(begin, at - begin)));
      begin = at + 1;
    }
    if (c == ')' && depth == 0) {
      return all;
    }
  }
  return {};
}

class BindCheck {
 public:
  explicit BindCheck(const Subject& subject) : subject_(subject) {
    for (const source::Declared& one : subject.model.declared()) {
      const auto at = one.scope.rfind("::");
      members_[at == std::string::npos ? one.scope : one.scope.substr(at + 2)].push_back(&one);
    }
  }

  void run() {
    for (const auto& file : subject_.model.files()) {
      if (file->masked.variants.empty()) {
        continue;
      }
      // At file scope it reads as no declaration, so that it is looked for in the text.
      const std::string& text = file->masked.variants.front().text;
      for (auto at = text.find("SK_BIND"); at != std::string::npos; at = text.find("SK_BIND", at + 1)) {
        const auto open = text.find_first_not_of(" \t\n", at + 7);
        if (open == std::string::npos || text[open] != '(') {
          continue;
        }
        const auto arguments = arguments_at(text, open);
        if (arguments.size() >= 3) {
          Bound bound{
              file.get(), static_cast<Offset>(at), plain_name(arguments[0]), number(arguments[1]), {}};
          for (std::size_t index = 2; index < arguments.size(); ++index) {
            bound.functions.push_back(plain_name(arguments[index]));
          }
          judge(bound);
        }
      }
    }
  }

 private:
  static std::optional<std::int64_t> number(const std::string& text) {
    try {
      return std::stoll(text, nullptr, 0);
    } catch (const std::exception&) {
      return std::nullopt;
    }
  }

  const Function* find(const std::string& name, const Bound& bound, std::string_view mark) const {
    const Function* best = nullptr;
    for (const Function* one : subject_.model.named(name, bound.file)) {
      best = best == nullptr || one->has_mark(mark) ? one : best;
    }
    return best;
  }

  void put_signature(const Bound& bound, std::string en, std::string zh) {
    finding::Values values = {{"kernel", bound.kernel}};
    put(values, "what", std::move(en), std::move(zh));
    subject_.findings.add("DCU884", *bound.file, bound.at, values);
  }

  void judge(const Bound& bound) {
    if (bound.functions.size() > most_functions) {
      put_signature(bound,
                    std::to_string(bound.functions.size()) + " functions are bound, and 4 are the most",
                    "绑定了 " + std::to_string(bound.functions.size()) + " 个函数，最多 4 个");
    }
    const Function* kernel = find(bound.kernel, bound, "__global__");
    std::set<const Function*> seen;
    for (const std::string& name : bound.functions) {
      const Function* function = find(name, bound, "__sk__");
      if (function == nullptr || !seen.insert(function).second) {
        continue;
      }
      if (!function->has_mark("__sk__")) {
        put_signature(bound, name + " is not declared with __sk__", name + " 没有以 __sk__ 声明");
      }
      if (kernel != nullptr) {
        judge_sides(bound, *kernel, *function);
        judge_arguments(bound, *kernel, *function);
      }
      judge_body(*function);
      judge_capabilities(bound, *function);
    }
  }

  static std::string sides_text(const Function& function) {
    std::string text;
    for (const source::Mark& mark : function.marks) {
      if (is_any_of(mark.name, {"__vector__", "__cube__", "__mix__"})) {
        std::string argument = mark.argument;
        std::erase_if(argument, [](char c) { return static_cast<unsigned char>(c) <= ' '; });
        text = mark.name + (argument.empty() ? "" : "(" + argument + ")");
      }
    }
    return text;
  }

  void judge_sides(const Bound& bound, const Function& kernel, const Function& function) {
    const std::string wanted = sides_text(kernel);
    const std::string is = sides_text(function);
    if (wanted != is) {
      const std::string a = wanted.empty() ? "no side" : wanted;
      const std::string b = is.empty() ? "no side" : is;
      put_signature(bound, kernel.name + " says " + a + " and " + function.name + " says " + b,
                    kernel.name + " 声明为 " + a + "，而 " + function.name + " 声明为 " + b);
    }
  }

  static std::string plain_type(std::string_view type) {
    std::string plain;
    for (const char c : std::string(type)) {
      plain += static_cast<unsigned char>(c) > ' ' ? std::string(1, c) : std::string();
    }
    if (plain.starts_with("const")) {
      plain.erase(0, 5);
    }
    return plain.starts_with("std::") ? plain.substr(5) : plain;
  }

  static bool is_small(std::string_view type) {
    return is_any_of(plain_type(type), {"int8_t", "uint8_t", "int16_t", "uint16_t", "bool", "char", "half",
                                        "bfloat16_t", "short", "unsignedshort", "unsignedchar"});
  }

  void judge_arguments(const Bound& bound, const Function& kernel, const Function& function) {
    const auto put_fault = [&](const source::Declared* at, std::string en, std::string zh) {
      finding::Values values = {{"kernel", kernel.name}};
      put(values, "what", std::move(en), std::move(zh));
      subject_.findings.add("DCU885", at == nullptr ? *bound.file : *at->file,
                            at == nullptr ? bound.at : at->node.begin(), values);
    };
    if (function.parameters.empty()) {
      return;
    }
    std::string name = function.parameters[0].type;
    std::erase_if(name, [](char c) { return c == '*' || c == '&'; });
    name = plain_name(plain_type(name));
    std::vector<const source::Declared*> members;
    for (const source::Declared* one : members_[name]) {
      if (one->file->directory == function.file->directory &&
          std::none_of(members.begin(), members.end(),
                       [one](const auto* other) { return other->name == one->name; })) {
        members.push_back(one);
      }
    }
    if (members.empty()) {
      return; // its structure is elsewhere
    }
    if (members.size() != kernel.parameters.size()) {
      put_fault(nullptr,
                name + " has " + std::to_string(members.size()) + " members, the kernel has " +
                    std::to_string(kernel.parameters.size()) + " parameters",
                name + " 有 " + std::to_string(members.size()) + " 个成员，而核函数有 " +
                    std::to_string(kernel.parameters.size()) + " 个参数");
      return;
    }
    for (std::size_t index = 0; index < members.size(); ++index) {
      const source::Declared& member = *members[index];
      const source::Parameter& parameter = kernel.parameters[index];
      if (plain_type(member.type) != plain_type(parameter.type)) {
        put_fault(&member,
                  member.name + " is " + member.type + ", parameter " + std::to_string(index + 1) +
                      " of the kernel is " + parameter.type,
                  member.name + " 的类型是 " + member.type + "，而核函数第 " + std::to_string(index + 1) +
                      " 个参数是 " + parameter.type);
      }
      const bool aligned =
          std::any_of(member.marks.begin(), member.marks.end(), [](const source::Mark& mark) {
            return mark.name == "alignas" && is_any_of(mark.argument, {"4", "8"});
          });
      if (is_small(member.type) && !aligned) {
        put_fault(&member, member.name + " is smaller than 4 bytes and has no alignas(4)",
                  member.name + " 小于 4 字节，而没有 alignas(4)");
      }
    }
  }

  void judge_body(const Function& function) {
    std::map<std::string, const Event*> pipes;
    std::set<std::string> ended;
    for (const Call& call : function.calls) {
      if (is_api(call, "GetBlockNum")) {
        subject_.add("DCU886", function, call.node);
      }
      if (call.name == "DestroyWithoutPipeAll" && call.receiver) {
        ended.insert(object_name(call.receiver));
      }
    }
    for (const Step& step : subject_.program.steps_of(function)) {
      if (step.kind == Step::Kind::event && step.event.kind == Event::Kind::pipe_made &&
          step.event.node.is("declaration") && !ended.contains(step.event.object)) {
        subject_.add("DCU887", step.event, {{"pipe", step.event.object}});
      }
    }
  }

  void judge_capabilities(const Bound& bound, const Function& function) {
    if (!bound.capabilities) {
      return;
    }
    Kernel whole;
    whole.function = &function;
    bool calls_wait = false;
    bool calls_set = false;
    for (const Sides side : each_side) {
      each_event(subject_.program, whole, side, [&](const Event& event, const std::string&, const Way&) {
        calls_wait = calls_wait || event.kind == Event::Kind::early_wait;
        calls_set = calls_set || event.kind == Event::Kind::early_set;
      });
    }
    const auto compare = [&](Capability bit, bool calls, const std::string& name) {
      const bool says = (*bound.capabilities & bit) != 0;
      if (says == calls) {
        return;
      }
      finding::Values values = {{"bit", std::to_string(bit)}, {"call", name}};
      put(values, "what",
          calls ? function.name + " calls " + name + " and bit " + values["bit"] + " is not set"
                : "bit " + values["bit"] + " is set and " + function.name + " does not call " + name,
          calls ? function.name + " 调用了 " + name + "，而第 " + values["bit"] + " 值位未设置"
                : "第 " + values["bit"] + " 值位已设置，而 " + function.name + " 没有调用 " + name);
      subject_.findings.add("DCU888", *bound.file, bound.at, values);
    };
    compare(waits, calls_wait, "WaitPreTaskEnd");
    compare(sets, calls_set, "SetNextTaskStart");
  }

  const Subject& subject_;
  std::map<std::string, std::vector<const source::Declared*>> members_; ///< by class
};

} // namespace

void check_bindings(const Subject& subject) {
  BindCheck(subject).run();
}

} // namespace dcuop::check::ascend
