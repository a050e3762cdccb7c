#pragma once
// A fused scope of an Ascend SuperKernel as it is described: the device, the back end, its options, and what is
// known of each operator. docs/superkernel.md says where each fact comes from.

#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "dcuop/support/toml_file.hpp"

namespace dcuop::superkernel {

enum class Backend { ge, npugraph_ex };
enum class Product { a2, a3, ascend_950 };

/// The cores of an Ascend device are cube cores (AIC) and vector cores (AIV).
enum class Side { aic, aiv };

/// KERNEL_TYPE_*: which cores a kernel is launched on, and how many vector cores come with a cube core.
enum class KernelType { aiv_only, aic_only, mix_aiv_1_0, mix_aic_1_0, mix_aic_1_1, mix_aic_1_2 };

enum class Task {
  fixed,       ///< "static": block count and tiling are known when the scope is compiled
  tiling_sink, ///< tiling runs on the device, so that the block count is known only then
  collective,
  unfusible, ///< TBE, AICPU, a scope of None: a kernel of its own
};

struct Platform {
  Product product = Product::a3;
  std::uint32_t aic = 0, aiv = 0;      ///< cores of the device
  std::optional<double> launch_gap_us; ///< between two kernels of one stream
  double barrier_us = 0;               ///< of a synchronisation between two operators of a SuperKernel
};

enum class SyncAll {
  none,
  plain, ///< SyncAll() or SyncAll<true>(): the kernel's own side; the vector cores of a MIX kernel
  mix,   ///< SyncAll<false>(): cube and vector cores
};

/// Flags of CrossCoreSetFlag in mode 2: between a cube core and its vector cores. Counts are of one core.
struct FlagUse {
  std::uint32_t id = 0; ///< 0 to 15
  Side from = Side::aic;
  std::uint32_t sets = 0, waits = 0;
};

/// How an operator synchronises its cores.
struct SyncUse {
  SyncAll all = SyncAll::none;
  std::uint32_t all_count = 1;
  bool all_is_counted = true;     ///< feed-sync-all sees the call: not the form with a configuration
  bool all_on_every_core = true;  ///< false: the last block has a path without it
  bool mode0[2] = {false, false}; ///< CrossCoreSetFlag<0, ...> on AIC, on AIV
  bool pair_guarded = false;      ///< mode 2, AIV to AIC, is called on the first vector core of a pair only
  bool matmul_unguarded = false;  ///< the Matmul API is called on every vector core
  std::vector<FlagUse> flags;
};

/// SetNextTaskStart and WaitPreTaskEnd.
enum class Call {
  none,
  every_core, ///< exactly once on every core that enters the operator
  some_cores, ///< the last block has a path without it
};

/// Scalar access to global memory (GM).
struct ScalarUse {
  bool frequent = false; ///< GetValue or SetValue in loops: a flush of a cache line each
  bool assigns = false;  ///< gm(i) = x, which nothing flushes
  std::set<std::string> reads,
      writes; ///< buffers, by any name that says which operator writes what another reads
  std::map<std::string, std::string>
      tensors;                    ///< a parameter of the kernel -> its buffer, for what sources say
  std::set<std::string> unplaced; ///< parameters that scalars touch and `tensors` does not name
};

/// Microseconds.
struct Times {
  double pre = 0; ///< before the place of WaitPreTaskEnd
  double mid = 0;
  double post = 0; ///< behind the place of SetNextTaskStart
  double skew = 0; ///< how much longer the slowest core takes than the fastest
};

struct Operator {
  std::string name;
  std::string op_type; ///< what GE's options name
  std::string kernel;  ///< what the patterns of npugraph_ex are compared with
  KernelType type = KernelType::aiv_only;
  std::uint32_t block_num = 1;
  std::int64_t stream = 0;
  Task task = Task::fixed;
  bool batch_mode = false;         ///< SetScheduleMode(1)
  bool relocatable_binary = false; ///< built with --op_relocatable_kernel_binary=true
  SyncUse sync;
  Call set_next = Call::none, wait_previous = Call::none;
  ScalarUse gm;
  std::set<std::string> sends, receives; ///< events
  std::optional<Times> times;

  TomlPlace place;             ///< in the scope's file
  std::set<std::string> given; ///< keys that the file has ("sync.all"): those win over what sources say
  std::map<std::string, std::string> where; ///< key -> "kernel.h:212": where a source says so
};

struct NpuOption {
  std::string key;
  std::vector<std::string> values; ///< one, or those of a list
  bool is_list = false;
  bool is_debug = false; ///< of super_kernel_debug_options
};

struct Scope {
  std::filesystem::path file; ///< absolute
  std::string name;
  Platform platform;
  Backend backend = Backend::ge;
  std::string ge_options;             ///< "key=value:key=value"
  std::vector<NpuOption> npu_options; ///< of the two tables of npugraph_ex, in the file's order
  std::vector<Operator> operators;    ///< in the order in which the graph runs them
};

/// Limits of what is read: no device has near as many cores, and what is simulated must end.
inline constexpr std::uint32_t most_cores = 1024;
inline constexpr std::uint32_t most_operators = 512;
inline constexpr std::uint32_t most_syncs = 64; ///< of one kind, in one operator

/// Whether each operator must have a kernel_type: one that is left out stands as MIX_AIC_1_2, is not among `given`, and
/// is whoever's to fill in who reads the sources.
enum class KernelTypes { required, from_sources };
/// Throws Error(usage) with the place: not TOML, an unknown key or value, a fact that contradicts the kernel type.
[[nodiscard]] Scope read_scope(const std::filesystem::path& file, KernelTypes types = KernelTypes::required);
/// The same of what a file would hold.
[[nodiscard]] Scope parse_scope(const std::filesystem::path& file, const std::string& content);

[[nodiscard]] Side opposite(Side side);
[[nodiscard]] bool uses(KernelType type, Side side);
[[nodiscard]] bool is_mix(KernelType type); ///< cube and vector cores
[[nodiscard]] std::string to_string(Backend backend);
[[nodiscard]] std::string to_string(Product product);
[[nodiscard]] std::string to_string(Side side);       ///< "AIC", "AIV"
[[nodiscard]] std::string to_string(KernelType type); ///< "MIX_AIC_1_2"
[[nodiscard]] std::string to_string(Task task);

} // namespace dcuop::superkernel
