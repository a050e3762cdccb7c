#pragma once
// A kernel as the rules see it: what it does with its neighbours and with global memory, in order, under conditions.

#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "ascend_cores.hpp"

namespace dcuop::check::ascend {

struct Event {
  enum class Kind {
    sync_all,  ///< by hardware, of all cores: SyncAll()
    soft_sync, ///< SyncAll(gm, ub): counts blocks
    set_flag,  ///< CrossCoreSetFlag
    wait_flag,
    early_set,   ///< SetNextTaskStart
    early_wait,  ///< WaitPreTaskEnd
    drain,       ///< PipeBarrier<PIPE_ALL>
    pipe_made,   ///< a TPipe, or a buffer of it
    pipe_ended,  ///< its Destroy, or the end of its block
    work,        ///< an instruction of some pipe
    copy_in,     ///< from global memory, by DMA
    copy_out,    ///< to it
    read_value,  ///< GetValue, gm(i)
    write_value, ///< SetValue
    assign,      ///< gm(i) = v
    store,       ///< *p = v of a __gm__ pointer
    flush,       ///< DataCacheCleanAndInvalid
    matmul,      ///< a call of the Matmul API
    matmul_made, ///< REGIST_MATMUL_OBJ
  };
  Kind kind = Kind::work;
  Node node;
  const Function* in = nullptr;
  std::string object; ///< the tensor, pointer or pipe; empty: any

  bool mix = false;        ///< of sync_all: SyncAll<false>
  bool has_config = false; ///< SyncAll<true, Config>
  bool mode_given = false; ///< of flags: a mode stands there
  std::optional<std::int64_t> mode, flag;
  std::string pipe;    ///< "PIPE_S"
  bool whole = false;  ///< of flush: the whole cache
  bool forced = false; ///< of early_*: FORCE
};

struct Step {
  enum class Kind { event, call, branch, loop, leaves, breaks, continues, jumps, label };
  Kind kind = Kind::event;
  Event event;
  Node node;                            ///< of call, leaves
  std::vector<const Function*> callees; ///< of call; several when it is not clear which
  std::vector<Node> arguments;          ///< of call
  Condition condition;                  ///< of branch and loop
  std::vector<Step> yes, no;            ///< of branch; a loop's body is `yes`
  std::string label;                    ///< of jumps and label
  std::string trips;                    ///< of loop: how often, as a text; equal texts are equal counts
  bool is_endless = false;              ///< while (true)
  bool runs_once = false;               ///< do { } while
};
using Steps = std::vector<Step>;

class Program {
 public:
  Program(const Names& all_names, const Cores& all_cores);

  const Names& names;
  const Cores& cores;

  /// What a function does, its callees by name; without those that do nothing of interest.
  const Steps& steps_of(const Function& function);

  /// Calls in calls beyond that are not followed; who comes to it says so.
  static constexpr std::size_t deepest = 200;
  void note_too_deep(const Function& function) { too_deep_.insert(&function); }
  [[nodiscard]] const std::set<const Function*>& too_deep() const { return too_deep_; }

 private:
  struct Made {
    Steps steps;
    bool is_ready = false;
  };
  std::map<const Function*, std::unique_ptr<Made>> made_;
  std::set<const Function*> too_deep_;
};

/// What an expression does, its calls of the sources' own functions included.
[[nodiscard]] Steps steps_of_expression(Program& program, const Function& function, Node expression);
/// The variable that an expression is, or is an element of: gm_ of this->gm_[offset](0).
[[nodiscard]] std::string object_name(Node expression);
/// The same, through local variables that are other names for it.
[[nodiscard]] std::string root_object(const Names& names, const Function& function, Node expression);

} // namespace dcuop::check::ascend
