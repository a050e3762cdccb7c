#pragma once
// Ways through a kernel and all that it calls, on one side of the cores.

#include <algorithm>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "ascend_program.hpp"

namespace dcuop::check::ascend {

struct Passed {
  const Condition* condition = nullptr;
  bool holds = true;
};

/// How a step was come to.
struct Way {
  Sides side = aiv;
  std::vector<Passed> guards;
  std::size_t loops = 0; ///< that are around it
  std::string tiling_key;

  [[nodiscard]] const Condition* guard_by_pair() const {
    for (const Passed& one : guards) {
      if (one.condition->by_pair) {
        return one.condition;
      }
    }
    return nullptr;
  }
  /// It stands where only this side comes to.
  [[nodiscard]] bool is_on_this_side_alone() const {
    return std::any_of(guards.begin(), guards.end(), [this](const Passed& one) {
      return (one.holds ? one.condition->yes : one.condition->no) == side;
    });
  }
};

/// Client: void event(const Event&, const std::string& object, State&, const Way&), where `object` is what the caller
/// calls it; State joined(State, const State&). A loop's body is walked twice, so that its end is followed by its begin.
template <class State, class Client> class Flow {
 public:
  Flow(Program& program, Client& client, Sides side) : program_(program), client_(client) {
    way_.side = side;
  }

  /// The state behind the kernel; nothing when no way comes to its end, as it waits in a loop for ever.
  std::optional<State> run(const Function& entry, State state) { return call(entry, std::move(state), {}); }

 private:
  using Reached = std::optional<State>;
  using Objects = std::map<std::string, std::string>;
  struct Frame {
    const Function* function = nullptr;
    Objects objects;                     ///< a parameter's name -> the caller's
    Reached left;                        ///< by return
    std::map<std::string, State> jumped; ///< by goto, to a label that comes later
  };
  struct Loop {
    Reached broken, continued;
  };

  void join(Reached& into, Reached other) {
    if (!into) {
      into = std::move(other);
    } else if (other) {
      into = client_.joined(std::move(*into), *other);
    }
  }

  [[nodiscard]] std::string in_callers_terms(const std::string& object) const {
    if (object.empty() || frames_.empty()) {
      return object;
    }
    const auto found = frames_.back().objects.find(object);
    return found == frames_.back().objects.end() ? object : found->second;
  }

  Reached call(const Function& function, State state, Objects objects) {
    const bool again = std::any_of(frames_.begin(), frames_.end(),
                                   [&](const Frame& one) { return one.function == &function; });
    if (again || frames_.size() > Program::deepest) {
      if (!again) {
        program_.note_too_deep(function);
      }
      return state;
    }
    frames_.push_back({&function, std::move(objects), {}, {}});
    std::vector<Loop> loops;
    std::swap(loops, loops_);
    Reached end = sequence(program_.steps_of(function), std::move(state));
    std::swap(loops, loops_);
    join(end, std::move(frames_.back().left));
    frames_.pop_back();
    return end;
  }

  Reached called(const Step& step, State state) {
    Reached end;
    for (const Function* callee : step.callees) {
      if (callee == nullptr) {
        join(end, state);
        continue;
      }
      Objects objects;
      for (std::size_t index = 0; index < std::min(step.arguments.size(), callee->parameters.size());
           ++index) {
        const std::string name =
            frames_.empty() ? std::string()
                            : root_object(program_.names, *frames_.back().function, step.arguments[index]);
        if (!name.empty()) {
          objects[callee->parameters[index].name] = in_callers_terms(name);
        }
      }
      join(end, call(*callee, state, std::move(objects)));
    }
    return end;
  }

  Reached branch(const Step& step, State state) {
    const Condition& condition = step.condition;
    const bool can_hold = (condition.yes & way_.side) != 0;
    const bool can_fail = (condition.no & way_.side) != 0;
    if (!can_hold || !can_fail) {
      way_.guards.push_back({&condition, can_hold});
      Reached only = sequence(can_hold ? step.yes : step.no, std::move(state));
      way_.guards.pop_back();
      return only;
    }
    const std::string key = way_.tiling_key;
    way_.guards.push_back({&condition, true});
    way_.tiling_key = condition.tiling_key.empty() ? key : condition.tiling_key;
    Reached yes = sequence(step.yes, state);
    way_.guards.back().holds = false;
    way_.tiling_key = key;
    Reached no = sequence(step.no, std::move(state));
    way_.guards.pop_back();
    if (bool(yes) != bool(no)) {
      way_.guards.push_back({&condition, bool(yes)}); // for what follows in the sequence
    }
    join(yes, std::move(no));
    return yes;
  }

  Reached loop(const Step& step, State state) {
    Reached end = step.runs_once || step.is_endless ? Reached() : Reached(state);
    Reached next = std::move(state);
    ++way_.loops;
    way_.guards.push_back({&step.condition, true});
    const int rounds = way_.loops <= 2 ? 2 : 1;
    for (int round = 0; round < rounds && next; ++round) {
      loops_.emplace_back();
      Reached around = sequence(step.yes, *next);
      const Loop mine = std::move(loops_.back());
      loops_.pop_back();
      join(around, mine.continued);
      if (!step.is_endless) {
        join(end, around);
      }
      join(end, mine.broken);
      next = std::move(around);
    }
    way_.guards.pop_back();
    --way_.loops;
    return end;
  }

  /// Those come here that jumped forward; what they jumped over was no condition for what follows.
  void arrive(const std::string& label, Reached& state, std::size_t guards) {
    auto& jumped = frames_.back().jumped;
    if (const auto waiting = jumped.find(label); waiting != jumped.end()) {
      join(state, Reached(std::move(waiting->second)));
      jumped.erase(waiting);
      way_.guards.resize(std::min(guards, way_.guards.size()));
    }
  }

  Reached sequence(const Steps& steps, State first) {
    Reached state = std::move(first);
    const std::size_t depth = way_.guards.size();
    for (const Step& step : steps) {
      if (steps_left_ == 0) {
        program_.note_too_deep(*frames_.front().function);
        break;
      }
      if (step.kind == Step::Kind::label && !frames_.empty()) {
        arrive(step.label, state, depth);
      }
      if (!state) {
        continue; // a label may follow
      }
      --steps_left_;
      switch (step.kind) {
      case Step::Kind::event:
        client_.event(step.event, in_callers_terms(step.event.object), *state, way_);
        break;
      case Step::Kind::call:
        state = called(step, std::move(*state));
        break;
      case Step::Kind::branch:
        state = branch(step, std::move(*state));
        break;
      case Step::Kind::loop:
        state = loop(step, std::move(*state));
        break;
      case Step::Kind::leaves:
        if (!frames_.empty()) {
          join(frames_.back().left, std::move(state));
        }
        state.reset();
        break;
      case Step::Kind::label:
        break;
      case Step::Kind::jumps:
        if (!frames_.empty()) {
          Reached waiting = std::move(state);
          if (const auto known = frames_.back().jumped.find(step.label);
              known != frames_.back().jumped.end()) {
            join(waiting, Reached(std::move(known->second)));
          }
          frames_.back().jumped.insert_or_assign(step.label, std::move(*waiting));
        }
        state.reset();
        break;
      case Step::Kind::breaks:
      case Step::Kind::continues:
        if (!loops_.empty()) {
          join(step.kind == Step::Kind::breaks ? loops_.back().broken : loops_.back().continued,
               std::move(state));
          state.reset();
        }
        break;
      }
    }
    way_.guards.resize(depth);
    return state;
  }

  Program& program_;
  Client& client_;
  Way way_;
  std::vector<Frame> frames_;
  std::vector<Loop> loops_;
  std::size_t steps_left_ = 100'000;
};

} // namespace dcuop::check::ascend
