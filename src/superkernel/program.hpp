#pragma once
// What each core of a kernel executes, operator by operator.

#include <optional>
#include <vector>

#include "machine.hpp"
#include "simulate_shape.hpp"

namespace dcuop::superkernel {

class Program {
 public:
  Program(const Scope& scope, const Options& options, const Kernel& kernel, Machine& machine);

  /// The next operator of the kernel, on every core.
  void append(std::size_t at);
  /// The next one on one core; false when it has had all.
  bool extend(Side side, std::uint32_t core);

  [[nodiscard]] bool enters(std::size_t op, Side side, std::uint32_t core) const;
  /// Second vector cores of a 1:2 operator for which the launch has no core.
  [[nodiscard]] std::uint32_t missing_vectors(std::size_t op) const;

 private:
  /// How the operators of the kernel are kept in order.
  enum class Style {
    flags, ///< each sets a flag of its side and waits for that of the one before: what early start moves into operators
    full,  ///< a SyncAll of the whole kernel
    edges, ///< two lists, of cube and of vector cores; an operator waits for those that it depends on
  };
  /// The flags between two operators: set by all cores of a side, handed to the other side where that is next.
  struct Gate {
    std::optional<std::uint32_t> all[2];   ///< by side
    std::optional<std::uint32_t> cross[2]; ///< from this side to the other
  };
  /// What the cores of one operator synchronise with.
  struct Syncs {
    std::vector<std::uint32_t> all;
    std::uint32_t mode0[2] = {0, 0};
    std::uint32_t matmul = 0, pair = 0, debug = 0;
    std::uint32_t barrier = 0; ///< style full: behind it
    Gate gate;                 ///< style flags: behind it
    std::optional<Gate> edge;  ///< style edges: for those that depend on it
    double piece = 0;          ///< of mid, between two synchronisations
  };
  struct Context {
    std::size_t at = 0;
    const Operator* op = nullptr;
    const Syncs* syncs = nullptr;
    std::size_t index = 0; ///< of the operator in the scope
    Side side = Side::aic;
    std::uint32_t core = 0;
    bool enters = false;
    bool is_last_block = false;
  };

  [[nodiscard]] const Operator& operator_at(std::size_t at) const;
  [[nodiscard]] std::uint32_t blocks_of(std::size_t at) const;
  [[nodiscard]] bool enters_at(std::size_t at, Side side, std::uint32_t core) const;
  void put(const Context& here, Opcode what, std::uint32_t object, std::uint32_t phase);
  void work(const Context& here, Span::What span, double duration);
  void prepare_syncs(std::size_t at);
  [[nodiscard]] Gate gate_behind(std::size_t at);
  [[nodiscard]] std::optional<Gate> edge_behind(std::size_t at);
  void append_core(std::size_t at, Side side, std::uint32_t core);
  void append_core(const Context& here);
  void body(const Context& here);
  void waits_before(const Context& here);
  void barriers_behind(const Context& here);
  void sync_all(const Context& here, std::uint32_t object, std::uint32_t phase, SyncAll form);
  void feed(const Context& here);
  void flag_sets(const Context& here);
  void flag_waits(const Context& here);
  void gate_sets(const Context& here);
  void gate_waits(const Context& here);
  void edge_sets(const Context& here);
  void edge_waits(const Context& here);
  void full_barrier(const Context& here, std::uint32_t object, std::uint32_t phase);
  [[nodiscard]] bool depends(std::size_t later, std::size_t sooner) const;
  [[nodiscard]] bool has_dependents(std::size_t at) const;
  [[nodiscard]] Times times_of(const Operator& op) const;

  const Scope& scope_;
  const Options& options_;
  const Kernel& kernel_;
  Machine& machine_;
  Style style_ = Style::flags;
  bool calls_count_ = false; ///< SetNextTaskStart and WaitPreTaskEnd do something

  std::vector<Syncs> syncs_;             ///< of the operators that a core has come to
  std::vector<std::size_t> appended_[2]; ///< by side and core: how many operators
};

} // namespace dcuop::superkernel
