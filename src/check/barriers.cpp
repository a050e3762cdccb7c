#include "barriers.hpp"

#include <algorithm>
#include <deque>

#include "device_walk.hpp"

namespace dcuop::check {
namespace {

using source::Guard;
using source::Guards;

/// Nothing but loops is around it.
bool is_unconditional(const Guards& guards) {
  return std::all_of(guards.begin(), guards.end(),
                     [](const Guard& one) { return one.is_loop || one.left != Guard::Left::nothing; });
}

/// flag, !flag: what it must be for a guard to let through.
std::optional<std::pair<std::string, bool>> flag_of(const Guard& guard) {
  Node node = guard.condition;
  bool holds = guard.taken;
  for (int depth = 0; node && depth < 6; ++depth) {
    if (node.is("identifier")) {
      return std::pair(std::string(node.text()), holds);
    }
    const bool negates = node.is("unary_expression") && node.child("operator").text() == "!";
    const bool wraps = node.is("condition_clause") || node.is("parenthesized_expression");
    holds = negates ? !holds : holds;
    node = negates ? node.child("argument") : wraps ? node.first() : Node();
  }
  return std::nullopt;
}

/// Walks one function for Barriers: which calls wait, and whether every way comes to one.
class SummaryWalk {
 public:
  using WaitsOf = std::function<Waits(const Call&)>;
  SummaryWalk(const Sources& sources, const Function& function, const WaitsOf& waits)
      : function_(function), walk_(sources, function), waits_(waits) {}

  Waits run() {
    source::PathWalk<bool, SummaryWalk>(*this).run(function_.body, false);
    found_.always = found_.ever && (found_.always || (exits_ > 0 && all_exits_));
    return found_;
  }

  void visit(Node node, bool& waited, const Guards& guards) {
    source::each_evaluated(node, guards, [&](Node one, const Guards& inner) {
      const Waits waits =
          one.is("call_expression") ? waits_(source::call_of(one, *function_.variants.front())) : Waits();
      if (waits.ever) {
        narrow(inner);
      }
      found_.ever = found_.ever || waits.ever;
      found_.always = found_.always || (waits.always && is_unconditional(inner));
      waited = waited || (waits.always && inner.size() == guards.size());
    });
  }
  /// What every guard so far asks for.
  void narrow(const Guards& guards) {
    std::map<std::string, bool> flags;
    for (const Guard& guard : guards) {
      if (const auto flag = flag_of(guard); flag && guard.left == Guard::Left::nothing) {
        flags.insert(*flag);
      }
    }
    if (!found_.ever) {
      needs_ = std::move(flags);
      return;
    }
    std::erase_if(needs_, [&](const auto& one) {
      const auto same = flags.find(one.first);
      return same == flags.end() || same->second != one.second;
    });
  }
  [[nodiscard]] const std::map<std::string, bool>& needs() const { return needs_; }

  static bool joined(bool a, bool b) { return a && b; }
  void leaves(Node, bool waited, const Guards&) {
    ++exits_;
    all_exits_ = all_exits_ && waited;
  }
  [[nodiscard]] const Function* expands(Node statement) const { return walk_.expands(statement); }
  void enters(const Function& macro, Node use) { walk_.enters(macro, use); }
  void comes_back() { walk_.comes_back(); }

 private:
  const Function& function_;
  DeviceWalk walk_;
  const WaitsOf& waits_;
  Waits found_;
  std::map<std::string, bool> needs_;
  std::size_t exits_ = 0;
  bool all_exits_ = true;
};

} // namespace

Barriers::Barriers(const Sources& sources) : sources_(sources) {
  for (const auto& function : sources.model.functions()) {
    if (!source::is_device_code(*function)) {
      continue;
    }
    if (const auto found = hand_barrier(sources.model, *function)) {
      by_hand_.emplace(function.get(), *found);
      grid_.insert(function.get());
    }
  }
  settle([this](const Function& function) {
    const bool waits = std::any_of(function.calls.begin(), function.calls.end(), [&](const Call& call) {
      return call.launch.empty() && is_grid_barrier(call, function);
    });
    return waits && grid_.insert(&function).second;
  });
  settle([this](const Function& function) {
    Summary summary = summary_of(function);
    if (summary == known(function)) {
      return false;
    }
    summaries_[&function] = std::move(summary);
    return true;
  });
}

void Barriers::settle(const std::function<bool(const Function&)>& update) {
  std::deque<const Function*> waiting;
  std::set<const Function*> is_waiting;
  const auto add = [&](const Function* function) {
    if (source::is_device_code(*function) && is_waiting.insert(function).second) {
      waiting.push_back(function);
    }
  };
  for (const auto* all : {&sources_.model.lambdas(), &sources_.model.functions()}) {
    for (const auto& function : *all) {
      add(function.get());
    }
  }
  while (!waiting.empty()) {
    const Function* next = waiting.front();
    waiting.pop_front();
    is_waiting.erase(next);
    if (update(*next)) {
      for (const Function* caller : sources_.callers_of(*next)) {
        add(caller);
      }
    }
  }
}

const Barriers::Summary& Barriers::known(const Function& function) const {
  static const Summary none;
  const auto found = summaries_.find(&function);
  return found == summaries_.end() ? none : found->second;
}

Barriers::Summary Barriers::summary_of(const Function& function) const {
  Summary summary;
  const auto called = [&](const Call& call) {
    return !call.receiver && function.parameter(call.name) != nullptr;
  };
  for (const Call& call : function.calls) {
    if (called(call)) {
      summary.calls.insert(call.name);
    }
    for (const Function* callee : sources_.model.callees(call)) { // handed on to one that calls it
      for (std::size_t index = 0; index < call.arguments.size(); ++index) {
        const std::size_t position = source::parameter_index(call, *callee, index);
        const std::string name = source::base_name(call.arguments[index]);
        if (position < callee->parameters.size() && function.parameter(name) != nullptr &&
            known(*callee).calls.contains(callee->parameters[position].name)) {
          summary.calls.insert(name);
        }
      }
    }
  }
  const SummaryWalk::WaitsOf waits = [&](const Call& call) {
    return called(call) ? Waits() : block_waits(call, function);
  };
  const bool any = std::any_of(function.calls.begin(), function.calls.end(),
                               [&](const Call& call) { return waits(call).ever; });
  const bool has_macros = !sources_.model.object_macros().empty();
  if (any || has_macros) {
    SummaryWalk walk(sources_, function, waits);
    summary.waits = walk.run();
    summary.needs = walk.needs();
  }
  return summary;
}

bool Barriers::is_cooperative_sync(const Call& call, const Function& in) const {
  if (call.name == "grid_sync" || call.name == "__ockl_grid_sync") {
    return true;
  }
  // grid.sync(), cg::sync(grid)
  const Node receiver = call.name != "sync"      ? Node()
                        : call.receiver          ? call.receiver
                        : call.arguments.empty() ? Node()
                                                 : call.arguments[0];
  if (!receiver) {
    return false;
  }
  if (contains_any(receiver.text(), {"this_grid", "this_multi_grid"})) {
    return true;
  }
  const std::string type = sources_.model.type_of(receiver, in);
  if (contains(type, "grid_group")) {
    return true;
  }
  bool is_grid = false;
  in.body.each([&](Node node) {
    if (node.is("init_declarator") && source::declared_name(node).text() == receiver.text()) {
      is_grid = is_grid || contains_any(node.child("value").text(), {"this_grid", "this_multi_grid"});
    }
  });
  return is_grid;
}

bool Barriers::is_grid_barrier(const Call& call, const Function& in) const {
  if (is_cooperative_sync(call, in)) {
    return true;
  }
  const auto waits = [this](const Function* one) { return grid_.contains(one); };
  const auto& handed = sources_.model.handed(call);
  if (std::any_of(handed.begin(), handed.end(), waits)) {
    return true;
  }
  bool any = false;
  for (const Function* one : sources_.model.callees(call)) {
    if (one == &in || one->has_mark("__global__")) {
      continue;
    }
    if (!waits(one)) {
      return false; // names are all that is known of methods
    }
    any = true;
  }
  return any;
}

bool Barriers::is_own_block_barrier(const Call& call, const Function& in) const {
  const std::string name = sources_.model.meant(call.name, in.file);
  if (is_any_of(name, {"__syncthreads", "__syncthreads_count", "__syncthreads_and", "__syncthreads_or",
                       "__builtin_amdgcn_s_barrier"})) {
    return true;
  }
  // block.sync(), cg::sync(block)
  const Node group = name != "sync"           ? Node()
                     : call.receiver          ? call.receiver
                     : call.arguments.empty() ? Node()
                                              : call.arguments[0];
  if (!group) {
    return false;
  }
  const std::string type = sources_.model.type_of(group, in);
  bool is_block = contains(group.text(), "this_thread_block") || contains(type, "thread_block");
  in.body.each([&](Node node) {
    if (node.is("init_declarator") && source::declared_name(node).text() == group.text()) {
      is_block = is_block || (contains(node.child("value").text(), "this_thread_block") &&
                              !contains(node.child("value").text(), "tiled_partition"));
    }
  });
  return is_block && !contains(type, "thread_block_tile");
}

/// maybe_wait(x, false), maybe_wait<false>(x)
bool Barriers::is_switched_off(const Call& call, const Function& callee, const Function& in) const {
  const auto is_other = [&](Node given, bool needed) {
    const auto value = given ? sources_.model.fold(given, &in) : std::nullopt;
    return value && (*value != 0) != needed;
  };
  for (const auto& [name, needed] : known(callee).needs) {
    for (std::size_t index = 0; index < callee.parameters.size(); ++index) {
      const auto& parameter = callee.parameters[index];
      const Node given = index < call.arguments.size() ? call.arguments[index] : parameter.default_value;
      if (parameter.name == name && is_other(given, needed)) {
        return true;
      }
    }
    const Node list = callee.node.parent().child("parameters"); // of a template
    std::size_t index = 0;
    for (Node one = list.is("template_parameter_list") ? list.first() : Node(); one; one = one.next()) {
      if (source::declared_name(one.child("declarator")).text() == name &&
          index < call.template_arguments.size() && is_other(call.template_arguments[index], needed)) {
        return true;
      }
      ++index;
    }
  }
  return false;
}

Waits Barriers::waits_of_callees(const Call& call, const Function& in) const {
  Waits all{true, true};
  bool any = false;
  for (const Function* one : sources_.model.callees(call)) {
    if (one == &in || one->has_mark("__global__")) {
      continue;
    }
    const Waits waits = is_switched_off(call, *one, in) ? Waits() : known(*one).waits;
    if (one->is_lambda) { // it is known to be that one, or one of those that are handed over
      any = any && all.ever;
      all = any ? Waits{all.always || waits.always, all.ever || waits.ever} : waits;
    } else { // names are all that is known of methods: every one that may be meant
      all = {all.always && waits.always, all.ever && waits.ever};
    }
    any = true;
  }
  return any ? all : Waits();
}

/// run(f), of an f that waits: when it is called there, or nothing is known of run.
Waits Barriers::waits_of_handed(const Call& call) const {
  Waits found;
  for (const Function* lambda : sources_.model.handed(call)) {
    const Waits waits = known(*lambda).waits;
    const auto& callees = sources_.model.callees(call);
    const bool is_known = !callees.empty();
    const bool called = std::any_of(callees.begin(), callees.end(),
                                    [&](const Function* one) { return !known(*one).calls.empty(); });
    if (waits.ever && (called || !is_known)) {
      found.ever = true;
      found.always = found.always || (waits.always && called);
    }
  }
  return found;
}

Waits Barriers::block_waits(const Call& call, const Function& in) const {
  if (is_own_block_barrier(call, in)) {
    return {true, true};
  }
  const Waits own = waits_of_callees(call, in);
  const Waits handed = waits_of_handed(call);
  return {own.always || handed.always, own.ever || handed.ever};
}

} // namespace dcuop::check
