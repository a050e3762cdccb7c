// Operators out of a base class, helpers and macros, as larger repositories put them together.
#include "kernel_operator.h"
using namespace AscendC;

#define SYNC_VECTOR() SyncAll<true>()
#define ONLY_FIRST_CORE if (GetBlockIdx() == 0)
#define RETURN_IF(condition) \
  do {                       \
    if (condition) {         \
      return;                \
    }                        \
  } while (0)

namespace sums {

struct Tiling {
  uint32_t used;
  uint32_t length;
};
class CoreRole {
 public:
  __aicore__ inline CoreRole() : core_(GetBlockIdx()) {}
  __aicore__ inline bool IsFirst() const { return core_ == 0; }
  __aicore__ inline bool Works(uint32_t used) const { return core_ < used; }
  __aicore__ inline uint32_t Index() const { return core_; }

 private:
  uint32_t core_;
};
template <typename F> __aicore__ inline void ForEachTile(uint32_t tiles, F f) {
  for (uint32_t tile = 0; tile < tiles; ++tile) {
    f(tile);
  }
}
template <typename F> __aicore__ inline void OnFirst(F f) {
  if (GetBlockIdx() == 0) {
    f();
  }
}
template <typename T> class SumBase {
 public:
  __aicore__ inline void InitBase(const Tiling& tiling) {
    used_ = tiling.used;
    length_ = tiling.length;
    core_ = GetBlockIdx();
  }

 protected:
  __aicore__ inline bool HasWork() const { return core_ < used_; }
  __aicore__ inline bool IsLarge() const { return length_ > 1024; }
  __aicore__ inline void Meet() { SYNC_VECTOR(); }
  uint32_t used_ = 0, length_ = 0, core_ = 0;
  uint32_t sum_ = 0;
};
template <typename T> class Sum : public SumBase<T> {
 public:
  __aicore__ inline void Process() {
    if (this->HasWork()) {
      Partial();
    }
    this->Meet();
    if (this->IsLarge()) {
      this->Meet();
    }
    Total();
  }

 private:
  __aicore__ inline void Partial() { this->sum_ += 1; }
  __aicore__ inline void Total() { this->sum_ += 2; }
};

} // namespace sums

extern "C" __global__ __aicore__ void sum(GM_ADDR x, uint32_t used, uint32_t length) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  sums::Tiling tiling{used, length};
  sums::Sum<float> op;
  op.InitBase(tiling);
  op.Process();
}
extern "C" __global__ __aicore__ void with_lambdas(GM_ADDR x, uint32_t used, uint32_t length) {
  KERNEL_TASK_TYPE_DEFAULT(KERNEL_TYPE_MIX_AIV_1_0);
  uint32_t total = 0;
  sums::CoreRole role;
  auto meet = [&] { SyncAll(); };
  sums::ForEachTile(length, [&](uint32_t tile) {
    if (role.Works(used)) {
      total += tile;
    }
  });
  meet();
  sums::OnFirst([&] { total += 1; });
  ONLY_FIRST_CORE {
    total += 2;
  }
  RETURN_IF(length == 0);
  SYNC_VECTOR();
  if (length == 3) goto done;
  SyncAll();
done:
  total += role.IsFirst() ? 1 : 0;
}
