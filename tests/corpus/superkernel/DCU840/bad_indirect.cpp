// Who waits hangs on what functions give, on macros, lambdas and jumps.
#include "kernel_operator.h"
using namespace AscendC;
#define SYNC_ALL SyncAll<true>()
#define SYNC SyncAll
#define FIRST_CORE if (GetBlockIdx() == 0)
#define MINE (GetBlockIdx() == 3)
#define SYNC_FIRST if (GetBlockIdx() == 0) { SyncAll(); }
#define LEAVE_IF(c) do { if (c) { return; } } while (0)
__aicore__ inline bool IsMine(uint32_t owner) { return GetBlockIdx() == owner; }
__aicore__ inline bool IsFirst() {
  if (GetBlockIdx() == 0) {
    return true;
  }
  return false;
}
__aicore__ inline bool Leads() { return IsFirst(); }
__aicore__ inline bool IsWide(uint32_t n) { return n > 3; }
__aicore__ inline void Locate(uint32_t& core) { core = GetBlockIdx(); }
template <class F> __aicore__ inline void Run(F f) { f(); }
template <class F> __aicore__ inline void RunFirst(F f) {
  if (GetBlockIdx() == 0) {
    f();
  }
}
extern "C" __global__ __aicore__ void by_owner(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  if (IsMine(n)) {
    SyncAll(); //! DCU840
  }
}
extern "C" __global__ __aicore__ void by_leader(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  if (Leads()) {
    SyncAll(); //! DCU840
  }
}
extern "C" __global__ __aicore__ void by_reference(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  uint32_t core;
  Locate(core);
  if (core == n) {
    SyncAll(); //! DCU840
  }
}
extern "C" __global__ __aicore__ void by_lambda(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  auto meet = [&] {
    SyncAll(); //! DCU840
  };
  if (GetBlockIdx() < n) {
    meet();
  }
}
extern "C" __global__ __aicore__ void by_runner(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  RunFirst([&] {
    SyncAll(); //! DCU840
  });
}
extern "C" __global__ __aicore__ void by_macro(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  if (GetBlockIdx() < n) {
    SYNC_ALL; //! DCU840
  }
  if (GetBlockIdx() < n) {
    SYNC(); //! DCU840
  }
  if (MINE) {
    SyncAll(); //! DCU840
  }
  FIRST_CORE {
    SyncAll(); //! DCU840
  }
  SYNC_FIRST //! DCU840
}
extern "C" __global__ __aicore__ void by_leaving(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  const uint32_t core = GetBlockIdx();
  LEAVE_IF(core > n);
  SyncAll(); //! DCU840
}
extern "C" __global__ __aicore__ void by_jump(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  if (GetBlockIdx() > n) {
    goto done;
  }
  SyncAll(); //! DCU840
done:
  return;
}
extern "C" __global__ __aicore__ void by_choice(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  GetBlockIdx() > n ? SyncAll() : (void)0; //! DCU840
  GetBlockIdx() > n && (SyncAll(), true); //! DCU840
}
extern "C" __global__ __aicore__ void by_flag(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  bool mine = false;
  if (GetBlockIdx() > n) {
    mine = true;
  }
  if (mine) {
    SyncAll(); //! DCU840
  }
}
