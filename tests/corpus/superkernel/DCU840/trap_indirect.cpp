// The same where every core goes the same way.
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
extern "C" __global__ __aicore__ void uniform(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  LEAVE_IF(n > 3);
  if (IsWide(n)) {
    SyncAll();
  }
  n > 4 ? SyncAll() : (void)0;
  n > 4 && (SyncAll(), true);
  if (n > 5) {
    goto done;
  }
  SYNC_ALL;
  SYNC<true>();
done:
  return;
}
extern "C" __global__ __aicore__ void after_all(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  if (GetBlockIdx() > n) {
    goto wait;
  }
  FIRST_CORE {
    n += 1;
  }
wait:
  SyncAll();
}
extern "C" __global__ __aicore__ void defined_there(GM_ADDR x, uint32_t n) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  auto meet = [&] { SyncAll(); };
  if (GetBlockIdx() < n) {
    auto other = [&] { SyncAll(); };
  }
  meet();
  Run(meet);
  Run([&] { SyncAll(); });
}
