#include "simulate_verdicts.hpp"

#include <algorithm>
#include <iterator>
#include <optional>
#include <utility>

#include "machine.hpp"
#include "program.hpp"

namespace dcuop::superkernel {

namespace {

/// One kernel, operator by operator: whoever does not get on is written down and let go.
class VerdictRun {
 public:
  VerdictRun(const Scope& scope, const Options& options, const Kernel& kernel, Simulation& into)
      : scope_(scope), kernel_(kernel), into_(into),
        machine_(kernel.shape, kernel.resident, 0, Detail::verdicts),
        program_(scope, options, kernel, machine_) {}

  void run() {
    const std::size_t count = kernel_.operators.size();
    for (std::size_t at = 0; at < count; ++at) {
      program_.append(at);
      const std::optional<std::size_t> held_at = settle(at, at + 1 == count);
      const std::size_t op = kernel_.operators[at];
      if (!held_at || *held_at >= op) {
        note_missing_vectors(op);
      }
      held_inside_ = is_held_inside_ ? held_at : std::nullopt;
      if (held_at) {
        std::copy_if(kernel_.operators.begin(), kernel_.operators.end(),
                     std::back_inserter(into_.not_reached),
                     [&](std::size_t later) { return later > *held_at; });
        break;
      }
    }
    note_early_waits();
    for (const std::uint32_t op : machine_.passed_by()) {
      add(op, Fault::wait_previous_uneven, first_side(op));
    }
    // What a core does that got ahead of the others is not what the operator does.
    into_.faults.erase(std::remove_if(into_.faults.begin(), into_.faults.end(),
                                      [&](const SimulatedFault& fault) {
                                        return std::count(into_.not_reached.begin(), into_.not_reached.end(),
                                                          fault.op) != 0;
                                      }),
                       into_.faults.end());
  }

 private:
  SimulatedFault& add(std::size_t op, Fault fault, Side side) {
    // What is at hand was put there last.
    const auto known = std::find_if(into_.faults.rbegin(), into_.faults.rend(), [&](const auto& one) {
      return one.op == op && one.what.fault == fault && one.what.side == side && one.what.flag == 0;
    });
    if (known != into_.faults.rend()) {
      return *known;
    }
    SimulatedFault found;
    found.op = op;
    found.what.fault = fault;
    found.what.side = side;
    found.waiting.side = found.missing.side = side;
    into_.faults.push_back(found);
    return into_.faults.back();
  }

  /// Runs to the end of what was appended. The operator at or behind which blocks that have no core are waited for.
  std::optional<std::size_t> settle(std::size_t at, bool is_last) {
    while (true) {
      machine_.run();
      const std::vector<Machine::Waiting> waiting = machine_.waiting();
      if (waiting.empty()) {
        if (kernel_.resident == 0) {
          add(kernel_.operators[at], Fault::device_short, Side::aiv);
          return kernel_.operators[at];
        }
        // The rest of a kernel that nothing holds up runs in the cores that become free.
        if (!is_last || !machine_.start_next_blocks()) {
          return std::nullopt;
        }
      } else if (const std::optional<std::size_t> held_at = let_go(waiting)) {
        return held_at;
      }
    }
  }

  /// Of those that wait, the ones at the first thing that the operator synchronises with: the others wait for them.
  std::optional<std::size_t> let_go(const std::vector<Machine::Waiting>& waiting) {
    const auto place = [](const Machine::Waiting& one) {
      return std::make_pair(one.instruction->op, one.instruction->phase);
    };
    const auto first = place(*std::min_element(
        waiting.begin(), waiting.end(), [&](const auto& a, const auto& b) { return place(a) < place(b); }));
    std::vector<Machine::Waiting> stuck;
    std::copy_if(waiting.begin(), waiting.end(), std::back_inserter(stuck),
                 [&](const Machine::Waiting& one) { return place(one) == first; });
    missing_.reset();
    for (const Machine::Waiting& one : stuck) {
      if (waits_for_unstarted(one)) {
        const Rendezvous& rendezvous = machine_.rendezvous(one.instruction->object);
        add(rendezvous.op, Fault::device_short, Side::aiv);
        is_held_inside_ = rendezvous.cause == Cause::mode0 || rendezvous.cause == Cause::sync_all;
        return rendezvous.op;
      }
    }
    for (const Machine::Waiting& one : stuck) {
      note(one);
    }
    for (const Machine::Waiting& one : stuck) {
      machine_.release(one);
    }
    return std::nullopt;
  }

  /// Who has not come to a rendezvous.
  struct Missing {
    std::uint32_t object = 0;
    std::vector<std::uint32_t> cores;
    bool has_unstarted = false;
    bool all_enter = true; ///< the operator: they have a path around it
    bool is_noted = false;
  };

  /// The same for all that wait there.
  Missing& missing_at(std::uint32_t object) {
    if (missing_ && missing_->object == object) {
      return *missing_;
    }
    Missing missing;
    missing.object = object;
    const Rendezvous& rendezvous = machine_.rendezvous(object);
    for (std::uint32_t core = 0; core < machine_.core_count(rendezvous.side); ++core) {
      if (core >= rendezvous.has_come.size() || rendezvous.has_come[core] == 0) {
        missing.cores.push_back(core);
        missing.has_unstarted = missing.has_unstarted || !machine_.has_started(rendezvous.side, core);
        missing.all_enter = missing.all_enter && program_.enters(rendezvous.op, rendezvous.side, core);
      }
    }
    return missing_.emplace(std::move(missing));
  }

  [[nodiscard]] bool waits_for_unstarted(const Machine::Waiting& one) {
    return one.instruction->what == Opcode::wait_all && missing_at(one.instruction->object).has_unstarted;
  }

  void note(const Machine::Waiting& one) {
    const Instruction& instruction = *one.instruction;
    if (instruction.what == Opcode::wait_count) {
      note_counter(one);
      return;
    }
    const Rendezvous& rendezvous = machine_.rendezvous(instruction.object);
    switch (rendezvous.cause) {
    case Cause::matmul:
      note_waiting(add(rendezvous.op, Fault::matmul_unguarded, one.side), one);
      return;
    case Cause::pair:
      note_waiting(add(rendezvous.op, Fault::pair_guarded, one.side), one);
      return;
    case Cause::mode0:
      note_all(add(rendezvous.op, Fault::mode0_short, one.side), one, rendezvous);
      return;
    case Cause::sync_all:
      note_sync_all(one, rendezvous);
      return;
    case Cause::barrier:
      add(rendezvous.op, Fault::set_next_uneven, first_side(rendezvous.op));
      return;
    }
  }

  [[nodiscard]] Side first_side(std::size_t op) const {
    return uses(scope_.operators[op].type, Side::aic) ? Side::aic : Side::aiv;
  }

  static void note_waiting(SimulatedFault& fault, const Machine::Waiting& one) {
    std::vector<std::uint32_t>& cores = fault.waiting.cores;
    const auto place = std::lower_bound(cores.begin(), cores.end(), one.core);
    if (place == cores.end() || *place != one.core) {
      cores.insert(place, one.core);
    }
    fault.what.waiting = static_cast<std::uint32_t>(cores.size());
  }

  void note_all(SimulatedFault& fault, const Machine::Waiting& one, const Rendezvous& rendezvous) {
    note_waiting(fault, one);
    fault.what.expected = machine_.core_count(rendezvous.side);
    Missing& missing = missing_at(one.instruction->object);
    if (!missing.is_noted) {
      fault.missing = {rendezvous.side, missing.cores};
      missing.is_noted = true;
    }
  }

  void note_sync_all(const Machine::Waiting& one, const Rendezvous& rendezvous) {
    const KernelType type = scope_.operators[rendezvous.op].type;
    if (one.instruction->what == Opcode::wait_all) {
      const bool is_skipped = missing_at(one.instruction->object).all_enter;
      note_all(add(rendezvous.op, is_skipped ? Fault::sync_all_skipped : Fault::sync_all_short, one.side),
               one, rendezvous);
    } else if (!uses(type, opposite(one.side))) {
      note_waiting(add(rendezvous.op, Fault::sync_all_one_sided, one.side), one);
    }
    // Else a vector core that waits for a cube core, which waits for the others.
  }

  void note_counter(const Machine::Waiting& one) {
    const std::uint32_t flag = one.instruction->object / 2;
    for (SimulatedFault& known : into_.faults) {
      if (known.op == one.instruction->op && known.what.fault == Fault::flag_short &&
          known.what.flag == flag && known.what.side == one.side) {
        note_waiting(known, one);
        return;
      }
    }
    SimulatedFault found;
    found.op = one.instruction->op;
    found.what = {Fault::flag_short, one.side, 0, 0, flag};
    found.waiting.side = one.side;
    note_waiting(found, one);
    into_.faults.push_back(found);
  }

  void note_missing_vectors(std::size_t op) {
    if (const std::uint32_t missing = program_.missing_vectors(op); missing > 0) {
      SimulatedFault& fault = add(op, Fault::vector_missing, Side::aiv);
      fault.what.waiting = missing;
      fault.what.expected = 2 * missing;
    }
  }

  void note_early_waits() {
    for (const auto& [where, cores] : machine_.early_waits()) {
      if (held_inside_ == where.second) {
        continue; // behind the place at which the operator is held
      }
      SimulatedFault found;
      found.op = where.second;
      const Side side = where.first % 2 == 0 ? Side::aiv : Side::aic;
      found.what = {Fault::flag_early, side, static_cast<std::uint32_t>(cores.size()), 0, where.first / 2};
      found.waiting = {side, {cores.begin(), cores.end()}};
      into_.faults.push_back(found);
    }
  }
  const Scope& scope_;
  const Kernel& kernel_;
  Simulation& into_;
  Machine machine_;
  Program program_;
  std::optional<Missing> missing_;         ///< of the rendezvous that was asked for last
  bool is_held_inside_ = false;            ///< by a synchronisation of the operator itself
  std::optional<std::size_t> held_inside_; ///< which one
};

} // namespace

void simulate_verdicts(const Scope& scope, const Options& options, const Kernel& kernel, Simulation& into) {
  VerdictRun(scope, options, kernel, into).run();
}

} // namespace dcuop::superkernel
