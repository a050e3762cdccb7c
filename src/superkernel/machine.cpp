#include "machine.hpp"

#include <algorithm>

namespace dcuop::superkernel {

Machine::Machine(const Shape& shape, std::uint32_t resident, double start, Detail detail)
    : shape_(shape), started_(resident), wave_(resident), start_(start),
      overlaps_(detail != Detail::verdicts), keeps_spans_(detail == Detail::timeline),
      aic_(std::size_t{shape.blocks} * shape.cubes), aiv_(std::size_t{shape.blocks} * shape.vectors) {
  for (std::vector<Core>* side : {&aic_, &aiv_}) {
    for (Core& core : *side) {
      core.time = start;
    }
  }
}

bool Machine::has_started(Side side, std::uint32_t core) const {
  return block_of(side, core) < started_;
}

std::uint32_t Machine::add_rendezvous(Cause cause, std::uint32_t op, Side side, double delay) {
  Rendezvous rendezvous;
  rendezvous.cause = cause;
  rendezvous.op = op;
  rendezvous.side = side;
  rendezvous.delay = delay;
  rendezvous_.push_back(std::move(rendezvous));
  return static_cast<std::uint32_t>(rendezvous_.size() - 1);
}

void Machine::append(Side side, std::uint32_t core, const Instruction& instruction) {
  Core& one = cores(side)[core];
  if (one.next == one.program.size()) {
    one.program.clear();
    one.next = 0;
  }
  one.program.push_back(instruction);
}

void Machine::run() {
  for (bool moved = true; moved;) {
    moved = false;
    for (const Side side : {Side::aic, Side::aiv}) {
      for (std::uint32_t core = 0; core < core_count(side); ++core) {
        moved = (has_started(side, core) && advance(side, core)) || moved;
      }
    }
  }
}

bool Machine::start_next_blocks() {
  if (all_started() || wave_ == 0) {
    return false;
  }
  const double now = end();
  const std::uint32_t before = started_;
  started_ = std::min(shape_.blocks, started_ + wave_);
  for (const Side side : {Side::aic, Side::aiv}) {
    for (std::uint32_t core = 0; core < core_count(side); ++core) {
      if (block_of(side, core) >= before && has_started(side, core)) {
        cores(side)[core].time = now;
      }
    }
  }
  return true;
}

double Machine::end() const {
  double latest = start_;
  for (const Side side : {Side::aic, Side::aiv}) {
    for (std::uint32_t core = 0; core < core_count(side); ++core) {
      if (has_started(side, core)) {
        latest = std::max(latest, cores(side)[core].time);
      }
    }
  }
  return latest;
}

std::vector<Machine::Waiting> Machine::waiting() const {
  std::vector<Waiting> result;
  for (const Side side : {Side::aic, Side::aiv}) {
    for (std::uint32_t index = 0; index < core_count(side); ++index) {
      const Core& core = cores(side)[index];
      if (has_started(side, index) && core.next < core.program.size()) {
        result.push_back({side, index, &core.program[core.next]});
      }
    }
  }
  return result;
}

void Machine::release(const Waiting& waiting) {
  Core& core = cores(waiting.side)[waiting.core];
  const Instruction released = core.program[core.next];
  ++core.next;
  const auto next_is = [&](Opcode what) {
    return core.next < core.program.size() && core.program[core.next].what == what &&
           core.program[core.next].object == released.object;
  };
  // A synchronisation whose first half has no partner is over as a whole.
  while (released.what == Opcode::wait_up &&
         (next_is(Opcode::join_all) || next_is(Opcode::wait_all) || next_is(Opcode::set_down))) {
    ++core.next;
  }
  while (released.what == Opcode::wait_count && next_is(Opcode::wait_count) &&
         core.program[core.next].op == released.op) {
    ++core.next;
  }
}

bool Machine::advance(Side side, std::uint32_t index) {
  Core& core = cores(side)[index];
  bool moved = false;
  do {
    for (; core.next < core.program.size(); moved = true) {
      if (!execute(side, index, core.program[core.next])) {
        return moved;
      }
      ++core.next;
    }
  } while (supply_ && supply_(side, index));
  return moved;
}

void Machine::until(Side side, std::uint32_t index, double time) {
  double& own = cores(side)[index].time;
  own = std::max(own, time);
}

bool Machine::execute(Side side, std::uint32_t index, const Instruction& instruction) {
  if (instruction.what == Opcode::work) {
    Core& core = cores(side)[index];
    if (keeps_spans_ && instruction.duration > 0) {
      spans_.push_back(
          {instruction.op, side, index, instruction.span, core.time, core.time + instruction.duration});
    }
    core.time += instruction.duration;
    return true;
  }
  if (instruction.what == Opcode::pass_by) {
    passed_by_.insert(instruction.op);
    return true;
  }
  return execute_set(side, index, instruction) || execute_wait(side, index, instruction);
}

void Machine::join_all(Side side, std::uint32_t index, Rendezvous& rendezvous) {
  rendezvous.has_come.resize(core_count(side), 0);
  if (rendezvous.has_come[index] != 0) {
    return;
  }
  rendezvous.has_come[index] = 1;
  rendezvous.time = std::max(rendezvous.time, cores(side)[index].time);
  if (++rendezvous.came < core_count(side)) {
    return;
  }
  if (keeps_spans_) {
    const bool is_barrier = rendezvous.cause != Cause::sync_all && rendezvous.cause != Cause::mode0;
    sync_points_.push_back({is_barrier                         ? SyncPoint::What::barrier
                            : rendezvous.cause == Cause::mode0 ? SyncPoint::What::mode0
                                                               : SyncPoint::What::sync_all,
                            rendezvous.op, side, rendezvous.time + rendezvous.delay});
  }
}

bool Machine::execute_set(Side side, std::uint32_t index, const Instruction& instruction) {
  const double time = cores(side)[index].time;
  if (instruction.what == Opcode::set_count) {
    Counter& count = counter(instruction.object, side);
    count.sets[index].push_back(instruction.op);
    count.times[index].push_back(time);
    return true;
  }
  if (instruction.what != Opcode::join_all && instruction.what != Opcode::set_down &&
      instruction.what != Opcode::set_up && instruction.what != Opcode::ask) {
    return false;
  }
  Rendezvous& rendezvous = rendezvous_[instruction.object];
  if (instruction.what == Opcode::join_all) {
    join_all(side, index, rendezvous);
    return true;
  }
  // Only the first vector core of a block has a place in the cube core's queue.
  if (instruction.what == Opcode::ask && index % shape_.vectors != 0) {
    return true;
  }
  Rendezvous::Sets& sets = instruction.what == Opcode::set_down ? rendezvous.down : rendezvous.up;
  sets.count.resize(shape_.blocks, 0);
  sets.time.resize(shape_.blocks, 0);
  const std::uint32_t block = block_of(side, index);
  ++sets.count[block];
  const double since = rendezvous.handed_on ? rendezvous_[*rendezvous.handed_on].time +
                                                  rendezvous_[*rendezvous.handed_on].delay
                                            : time;
  sets.time[block] = std::max(sets.time[block], since);
  return true;
}

bool Machine::execute_wait(Side side, std::uint32_t index, const Instruction& instruction) {
  if (instruction.what == Opcode::wait_count) {
    return wait_count(side, index, instruction);
  }
  Rendezvous& rendezvous = rendezvous_[instruction.object];
  if (instruction.what == Opcode::wait_all) {
    if (rendezvous.came < core_count(side)) {
      return false;
    }
    until(side, index, rendezvous.time + rendezvous.delay);
    return true;
  }
  const std::uint32_t block = block_of(side, index);
  const Rendezvous::Sets& sets = instruction.what == Opcode::wait_down ? rendezvous.down : rendezvous.up;
  const std::uint32_t came = block < sets.count.size() ? sets.count[block] : 0;
  switch (instruction.what) {
  case Opcode::wait_down:
    if (came == 0) {
      return false;
    }
    break;
  case Opcode::wait_up:
    if (came < shape_.vectors || shape_.vectors == 0) {
      return false;
    }
    break;
  case Opcode::serve:
    if (came == 0) {
      return false;
    }
    rendezvous.asked.resize(core_count(Side::aiv), 0);
    rendezvous.asked[std::size_t{block} * shape_.vectors] = 1;
    break;
  case Opcode::wait_reply:
    if (index >= rendezvous.asked.size() || rendezvous.asked[index] == 0) {
      return false;
    }
    break;
  default:
    return false;
  }
  until(side, index, sets.time[block]);
  return true;
}

Machine::Counter& Machine::counter(std::uint32_t number, Side from) {
  Counter& count = counters_[number];
  count.sets.resize(core_count(from));
  count.times.resize(core_count(from));
  count.used.resize(core_count(opposite(from)), 0);
  return count;
}

bool Machine::wait_count(Side side, std::uint32_t index, const Instruction& instruction) {
  const Side from = opposite(side);
  Counter& count = counter(instruction.object, from);
  const std::uint32_t block = block_of(side, index);
  const std::uint32_t setters = from == Side::aic ? 1 : shape_.vectors;
  const std::uint32_t place = count.used[index];
  double time = 0;
  std::uint32_t op = instruction.op;
  for (std::uint32_t setter = block * setters; setter < (block + 1) * setters; ++setter) {
    if (place >= count.sets[setter].size()) {
      return false;
    }
    time = std::max(time, count.times[setter][place]);
    op = count.sets[setter][place];
  }
  if (op > instruction.op && !overlaps_) {
    return false;
  }
  if (op != instruction.op) {
    early_waits_[{instruction.object, instruction.op}].insert(index);
  }
  ++count.used[index];
  until(side, index, time);
  return true;
}

} // namespace dcuop::superkernel
