// What single calls and assignments of a kernel do.
#include <algorithm>

#include "ascend_program.hpp"

namespace dcuop::check::ascend {
namespace {

bool copies(std::string_view name) {
  return is_any_of(name, {"DataCopy", "DataCopyPad", "DataCopyExtParams", "DataCopyPadGm2UB", "LoadData",
                          "LoadDataWithTranspose", "Fixpipe", "DataCopyGather", "Gather", "Copy",
                          "LoadDataWithSparse", "DataCopyEnhanced", "copy_gm_to_ubuf", "copy_ubuf_to_gm"});
}

bool is_matmul_member(std::string_view name) {
  return is_any_of(name, {"Iterate", "IterateAll", "GetTensorC", "SetTensorA", "SetTensorB", "WaitIterateAll",
                          "SetBias", "IterateBatch", "WaitGetTensorC", "IterateNBatch"});
}

class Reader {
 public:
  Reader(Program& program, const Function& function) : program_(program), function_(function) {}

  Steps read(Node expression) {
    walk(expression);
    return std::move(steps_);
  }

 private:
  /// Outer calls before those in their arguments.
  void walk(Node node) {
    if (node.is("lambda_expression")) {
      lambda(node);
      return;
    }
    if (node.is("call_expression")) {
      call(node);
    } else if (node.is("assignment_expression")) {
      write(node.child("left"), node);
    } else if (node.is("update_expression")) {
      write(node.child("argument"), node);
    } else if (node.is("declaration")) {
      declaration(node);
    } else if (node.is("identifier")) {
      macro(node);
    }
    const std::string_view sign = node.child("operator").text();
    if (node.is("conditional_expression")) {
      choose(node.child("condition"), node.child("consequence"), node.child("alternative"));
    } else if (node.is("binary_expression") && (sign == "&&" || sign == "||")) {
      const Node right = node.child("right");
      choose(node.child("left"), sign == "&&" ? right : Node(), sign == "&&" ? Node() : right);
    } else {
      for (Node child = node.first(); child; child = child.next()) {
        walk(child);
      }
    }
  }

  Steps apart(Node node) {
    Steps outer = std::exchange(steps_, {});
    walk(node);
    return std::exchange(steps_, std::move(outer));
  }

  /// c ? a : b, c && a, c || b
  void choose(Node condition, Node yes, Node no) {
    walk(condition);
    Step step;
    step.kind = Step::Kind::branch;
    step.yes = apart(yes);
    step.no = apart(no);
    if (!step.yes.empty() || !step.no.empty()) {
      step.condition = program_.cores.condition(condition, function_);
      steps_.push_back(std::move(step));
    }
  }

  /// One that a variable is given runs when that is called; another one here, or in a function of the sources.
  void lambda(Node node) {
    const Function* function = program_.names.model.lambda(node);
    const Node list = node.parent();
    const Node outer = list.is("argument_list") ? list.parent() : list;
    const bool is_here = outer.is("call_expression") || list.is("parenthesized_expression");
    if (function == nullptr || !is_here) {
      return;
    }
    const Call given = source::call_of(outer, *function_.variants.front());
    if (list.is("argument_list") && !program_.names.callees(given, function_).empty()) {
      return;
    }
    add_call(node, {}, {function});
  }

  /// A macro without parameters in an expression.
  void macro(Node node) {
    const Function* meant = program_.names.model.object_macro(node.text(), function_.file);
    if (meant == nullptr || depth_ > 4 || node.field() == "name" || node.field() == "declarator") {
      return;
    }
    ++depth_;
    const std::size_t before = steps_.size();
    walk(meant->body);
    for (std::size_t index = before; index < steps_.size(); ++index) {
      steps_[index].event.node = node;
    }
    --depth_;
  }

  void add_call(Node node, const std::vector<Node>& arguments, const std::vector<const Function*>& callees) {
    Step step;
    step.kind = Step::Kind::call;
    step.node = node;
    step.arguments = arguments;
    bool any = false;
    for (const Function* callee : callees) {
      const bool does_something = !program_.steps_of(*callee).empty();
      step.callees.push_back(does_something ? callee : nullptr);
      any = any || does_something;
    }
    if (any) {
      steps_.push_back(std::move(step));
    }
  }

  Event& add(Event::Kind kind, Node node) {
    Step step;
    step.event.kind = kind;
    step.event.node = node;
    step.event.in = &function_;
    steps_.push_back(std::move(step));
    return steps_.back().event;
  }

  Kind kind_of(Node node) const { return program_.names.kind_of(node, function_); }
  std::string root(Node node) const { return root_object(program_.names, function_, node); }
  static Node argument(const Call& call, std::size_t index) {
    return index < call.arguments.size() ? call.arguments[index] : Node();
  }
  static Node template_argument(const Call& call, std::size_t index) {
    return index < call.template_arguments.size() ? call.template_arguments[index] : Node();
  }
  std::optional<std::int64_t> fold(Node node) const {
    return node ? program_.names.model.fold(node, &function_) : std::nullopt;
  }

  void declaration(Node node) {
    for (Node declarator = node.first(); declarator; declarator = declarator.next()) {
      const Node name = declarator.field() == "declarator" ? source::declared_name(declarator) : Node();
      if (name && !declarator.is("pointer_declarator") && !declarator.is("reference_declarator") &&
          kind_of(name) == Kind::pipe && !contains_any(node.child("type").text(), {"*", "&"})) {
        const Node inner = declarator.is("init_declarator") ? declarator.child("declarator") : declarator;
        if (!inner.is("pointer_declarator") && !inner.is("reference_declarator")) {
          add(Event::Kind::pipe_made, node).object = name.text();
        }
      }
    }
  }

  /// gm(i) = v, gm(i)++, *p = v, p[i] = v, p->f = v.
  void write(Node target, Node whole) {
    while (target.is("parenthesized_expression")) {
      target = target.first();
    }
    if (target.is("call_expression")) {
      const Node tensor = target.child("function");
      if (kind_of(tensor) == Kind::global_tensor) {
        assigned_ = target;
        add(Event::Kind::assign, whole).object = root(tensor);
      }
      return;
    }
    const bool through = target.is("pointer_expression") || target.is("subscript_expression") ||
                         (target.is("field_expression") && target.child("operator").text() == "->");
    const Node pointer = through ? target.child("argument") : Node();
    if (pointer && kind_of(pointer) == Kind::gm_pointer) {
      add(Event::Kind::store, whole).object = root(pointer);
    }
  }

  void call(Node node) {
    Call call = source::call_of(node, *function_.variants.front());
    call.name = program_.names.model.meant(call.name, function_.file);
    if (synchronises(call) || flags(call) || tensors(node, call) || pipes(call) || multiplies(call)) {
      return;
    }
    const auto& callees = program_.names.callees(call, function_);
    if (callees.empty()) {
      const auto& handed = program_.names.model.handed(call);
      add_call(node, {}, handed);
      moves(call);
    } else if (callees.size() == 1 && callees.front()->is_macro && leaves(*callees.front())) {
      const Steps& text = program_.steps_of(*callees.front());
      steps_.insert(steps_.end(), text.begin(), text.end());
    } else {
      add_call(node, call.arguments, callees);
    }
  }

  /// A macro from which control goes elsewhere in the function that uses it.
  bool leaves(const Function& macro) {
    bool found = false;
    macro.body.each(
        [&](Node node) { found = found || node.is("return_statement") || node.is("goto_statement"); });
    return found;
  }

  bool synchronises(const Call& call) {
    if (call.name == "SyncAll" && !call.receiver && program_.names.callees(call, function_).empty()) {
      Event& event = add(call.arguments.empty() ? Event::Kind::sync_all : Event::Kind::soft_sync, call.node);
      event.mix = template_argument(call, 0).text() == "false";
      event.has_config = call.template_arguments.size() > 1;
      return true;
    }
    if (call.name == "SetNextTaskStart" || call.name == "WaitPreTaskEnd") {
      if (!program_.names.callees(call, function_).empty()) {
        return false;
      }
      const bool sets = call.name[0] == 'S';
      Event& event = add(sets ? Event::Kind::early_set : Event::Kind::early_wait, call.node);
      event.forced = template_argument(call, sets ? 2 : 0).text() == "true";
      return true;
    }
    if (is_any_of(call.name, {"PipeBarrier", "pipe_barrier"})) {
      const Node pipe = call.name[0] == 'P' ? template_argument(call, 0) : argument(call, 0);
      if (contains(pipe.text(), "PIPE_ALL")) {
        add(Event::Kind::drain, call.node);
      }
      return true;
    }
    return false;
  }

  static std::string pipe_name(Node node) {
    const std::string text = one_line(node.text());
    const auto at = text.rfind(':');
    return at == std::string::npos ? text : text.substr(at + 1);
  }

  bool flags(const Call& call) {
    const bool sets = call.name == "CrossCoreSetFlag";
    if (sets || call.name == "CrossCoreWaitFlag") {
      if (!program_.names.callees(call, function_).empty()) {
        return false;
      }
      Event& event = add(sets ? Event::Kind::set_flag : Event::Kind::wait_flag, call.node);
      event.mode_given = static_cast<bool>(template_argument(call, 0));
      event.mode = fold(template_argument(call, 0));
      event.pipe = pipe_name(template_argument(call, 1));
      event.flag = fold(argument(call, 0));
      return true;
    }
    if (call.name == "ffts_cross_core_sync") {
      Event& event = add(Event::Kind::set_flag, call.node);
      event.mode_given = true;
      event.pipe = pipe_name(argument(call, 0));
      const Node message = argument(call, 1);
      if (message.is("call_expression") &&
          is_any_of(source::last_name(message.child("function")), {"GetffstMsg", "GetFfstMsg"})) {
        event.mode = fold(message.child("arguments").first());
        event.flag = fold(message.child("arguments").first().next());
      }
      return true;
    }
    if (call.name == "wait_flag_dev") {
      add(Event::Kind::wait_flag, call.node).flag = fold(argument(call, call.arguments.size() - 1));
      return true;
    }
    return false;
  }

  bool tensors(Node node, const Call& call) {
    const Node function = node.child("function");
    if (call.receiver && is_any_of(call.name, {"GetValue", "SetValue"})) {
      const Kind kind = kind_of(call.receiver);
      if (kind == Kind::global_tensor) {
        add(call.name == "GetValue" ? Event::Kind::read_value : Event::Kind::write_value, node).object =
            root(call.receiver);
      }
      return true;
    }
    if (is_any_of(call.name, {"DataCacheCleanAndInvalid", "dcci"})) {
      Event& event = add(Event::Kind::flush, node);
      event.whole = contains(node.text(), "ENTIRE_DATA_CACHE");
      event.object = event.whole ? std::string() : root(argument(call, 0));
      return true;
    }
    if (node == assigned_) {
      return true;
    }
    const bool is_object =
        function.is("identifier") || function.is("field_expression") || function.is("subscript_expression");
    if (is_object && (call.name.empty() || program_.names.model.named(call.name).empty()) &&
        kind_of(function) == Kind::global_tensor) {
      add(Event::Kind::read_value, node).object = root(function);
      return true;
    }
    return false;
  }

  bool pipes(const Call& call) {
    if (!call.receiver ||
        !is_any_of(call.name, {"Destroy", "InitBuffer", "DestroyWithoutPipeAll", "Reset"}) ||
        kind_of(call.receiver) != Kind::pipe) {
      return false;
    }
    if (call.name != "Reset") {
      add(call.name == "InitBuffer" ? Event::Kind::pipe_made : Event::Kind::pipe_ended, call.node).object =
          root(call.receiver);
    }
    return true;
  }

  bool multiplies(const Call& call) {
    if (call.name == "REGIST_MATMUL_OBJ") {
      Event& event = add(Event::Kind::matmul_made, call.node);
      event.flag = static_cast<std::int64_t>(
          (call.arguments.size() - std::min<std::size_t>(call.arguments.size(), 2) + 1) / 2);
      return true;
    }
    if (call.receiver && is_matmul_member(call.name) && kind_of(call.receiver) == Kind::matmul) {
      add(Event::Kind::matmul, call.node).object = root(call.receiver);
      return true;
    }
    return false;
  }

  /// A call of no function of the sources.
  void moves(const Call& call) {
    const Kind target = call.arguments.empty() ? Kind::unknown : kind_of(call.arguments[0]);
    if (copies(call.name)) {
      const Kind from = kind_of(argument(call, 1));
      if (target == Kind::global_tensor || target == Kind::gm_pointer) {
        add(Event::Kind::copy_out, call.node).object = root(call.arguments[0]);
        return;
      }
      if (from == Kind::global_tensor || from == Kind::gm_pointer) {
        add(Event::Kind::copy_in, call.node).object = root(call.arguments[1]);
        return;
      }
    }
    const bool tensor = std::any_of(call.arguments.begin(), call.arguments.end(), [this](Node one) {
      const Kind kind = kind_of(one);
      return kind == Kind::local_tensor || kind == Kind::global_tensor;
    });
    const bool sets_up = is_any_of(call.name, {"SetGlobalBuffer", "SetAddr", "FreeTensor"});
    const bool queue = call.receiver && is_any_of(call.name, {"EnQue", "DeQue"});
    if ((tensor && !sets_up) || queue) {
      add(Event::Kind::work, call.node);
    }
  }

  Program& program_;
  const Function& function_;
  Steps steps_;
  int depth_ = 0; ///< macros in macros
  Node assigned_; ///< gm(i) on the left: no read
};

} // namespace

Steps steps_of_expression(Program& program, const Function& function, Node expression) {
  return Reader(program, function).read(expression);
}

std::string object_name(Node expression) {
  for (int depth = 0; expression && depth < 40; ++depth) {
    const std::string_view type = expression.type();
    if (type == "identifier") {
      return std::string(expression.text());
    }
    if (type == "field_expression") {
      return std::string(expression.child("field").text());
    }
    if (type == "call_expression") {
      const Node function = expression.child("function");
      const std::string name = source::last_name(function);
      const bool casts = name.ends_with("_cast");
      if (function.is("field_expression")) { // x.ReinterpretCast<T>(), x.GetPhyAddr()
        expression = is_any_of(name, {"ReinterpretCast", "GetPhyAddr", "GetValue"})
                         ? function.child("argument")
                         : function;
      } else {
        expression = casts ? expression.child("arguments").first() : function;
      }
      continue;
    }
    Node next;
    for (const char* field : {"argument", "value", "left", "consequence"}) {
      next = next ? next : expression.child(field);
    }
    expression = next ? next : expression.first();
  }
  return {};
}

std::string root_object(const Names& names, const Function& function, Node expression) {
  std::string name = object_name(expression);
  for (int depth = 0; depth < 4; ++depth) {
    if (!names.locals_of(function).contains(name)) {
      return name;
    }
    const auto& aliases = names.aliases_of(function);
    const auto alias = aliases.find(name);
    const std::string other = alias == aliases.end() ? std::string() : object_name(alias->second);
    if (other.empty() || other == name) {
      return name;
    }
    name = other;
  }
  return name;
}

} // namespace dcuop::check::ascend
