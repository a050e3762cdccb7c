#pragma once
// The grid of a kernel, run on the host, so that a kernel's own body can be tested where there is no device.
//
// What a device does at the same time is done in turn: blocks one after another, and in each the threads, from the first
// or (every other block) from the last one on, so that a missing barrier shows as a wrong result. Dynamic shared memory
// begins as NaN. A launch returns when the grid has ended; several host threads may launch at the same time.
//
// Threads are run by coroutines. One goes on to the next thread when its thread has ended; only a thread that waits at a
// barrier keeps its coroutine, so a kernel without barriers needs a single one.
//
// All is in an anonymous namespace, because each operator is a library of its own: inline variables would be one object
// in all of them (https://gcc.gnu.org/onlinedocs/gcc/Vague-Linkage.html), also where they come from different versions.

#include <array>
#include <atomic>
#include <csetjmp>
#include <csignal>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <exception>
#include <memory>
#include <new>
#include <string>
#include <tuple>
#include <utility>
#include <vector>

#include <sys/mman.h>
#include <sys/syscall.h>
#include <ucontext.h>
#include <unistd.h>

#if defined(__SANITIZE_ADDRESS__)
#define EMULATED_GRID_WITH_ASAN
#elif defined(__has_feature)
#if __has_feature(address_sanitizer)
#define EMULATED_GRID_WITH_ASAN
#endif
#endif
#ifdef EMULATED_GRID_WITH_ASAN
#include <sanitizer/common_interface_defs.h>
#endif

#define __global__
#define __device__
#define __host__
#define __forceinline__ inline
#define __launch_bounds__(...)
#define __shared__ static thread_local
#define HIP_DYNAMIC_SHARED(type, name)                                                                       \
  type* const name = static_cast<type*>(emulated::this_grid().shared_memory());

// longjmp() itself, whatever _FORTIFY_SOURCE says: the one that checks takes a jump to another stack for a fault.
extern "C" [[noreturn]] void emulated_grid_jump(std::jmp_buf place, int value) __asm__("_longjmp");

namespace {

using hipStream_t = void*;

/// Of hip_runtime_api.h, what a launch can end with here.
enum hipError_t {
  hipSuccess = 0,
  hipErrorOutOfMemory = 2,
  hipErrorInvalidConfiguration = 9,
  hipErrorIllegalAddress = 700,
  hipErrorLaunchFailure = 719,
};

struct dim3 {
  uint32_t x;
  uint32_t y;
  uint32_t z;
  constexpr dim3(uint32_t x_size = 1, uint32_t y_size = 1, uint32_t z_size = 1)
      : x(x_size), y(y_size), z(z_size) {}
  [[nodiscard]] uint64_t count() const { return uint64_t{x} * y * z; }
  [[nodiscard]] std::string text() const {
    return "(" + std::to_string(x) + ", " + std::to_string(y) + ", " + std::to_string(z) + ")";
  }
};

thread_local dim3 threadIdx;
thread_local dim3 blockIdx;
thread_local dim3 blockDim;
thread_local dim3 gridDim;

namespace emulated {

constexpr std::size_t stack_size = std::size_t{64} << 10U;
constexpr uint64_t most_threads = 1024;
constexpr std::size_t most_shared = std::size_t{64} << 10U;

/// A stack, as AddressSanitizer has to be told of it whenever one is left for another.
struct Stack {
  const void* bottom = nullptr;
  std::size_t size = 0;
  void* fake = nullptr; ///< what it keeps beside the stack that was left

#ifdef EMULATED_GRID_WITH_ASAN
  void leave_for(const Stack& other) { __sanitizer_start_switch_fiber(&fake, other.bottom, other.size); }
  void leave_for_ever_for(const Stack& other) {
    __sanitizer_start_switch_fiber(nullptr, other.bottom, other.size);
  }
  void arrive() { __sanitizer_finish_switch_fiber(fake, nullptr, nullptr); }
  void arrive_from(Stack& other) { __sanitizer_finish_switch_fiber(fake, &other.bottom, &other.size); }
#else
  void leave_for(const Stack&) {}
  void leave_for_ever_for(const Stack&) {}
  void arrive() {}
  void arrive_from(Stack&) {}
#endif
};

/// A stack of its own, below which nothing can be written, and the place where it was left.
struct Coroutine {
  explicit Coroutine(void (*entry)())
      : memory(mmap(nullptr, 2 * stack_size, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0)) {
    void* const stack = static_cast<char*>(memory) + stack_size;
    if (memory == MAP_FAILED || mprotect(stack, stack_size, PROT_READ | PROT_WRITE) != 0) {
      throw std::bad_alloc();
    }
    own = {stack, stack_size, nullptr};
    getcontext(&start);
    start.uc_stack.ss_sp = stack;
    start.uc_stack.ss_size = stack_size;
    start.uc_link = nullptr;
    makecontext(&start, entry, 0);
  }
  Coroutine(const Coroutine&) = delete;
  Coroutine& operator=(const Coroutine&) = delete;
  ~Coroutine() { munmap(memory, 2 * stack_size); }

  std::jmp_buf* place = nullptr; ///< on its own stack; null before it has begun
  bool waits = false;            ///< at a barrier
  dim3 thread;                   ///< that waits
  Stack own;
  void* memory;
  ucontext_t start{};
};

/// What unwinds the threads that wait when another one has failed.
struct Abandoned {};

class Grid;
Grid& this_grid();

/// The grids that are running, by host thread. The handler of a fault may not look into thread_local storage, which may
/// be allocated at that moment (https://man7.org/linux/man-pages/man7/signal-safety.7.html).
struct Running {
  std::atomic<long> host_thread{0};
  Grid* grid = nullptr;
};
std::array<Running, 256> all_running;

/// The device of one host thread.
class Grid {
 public:
  using Body = void (*)(const void* arguments);

  void launch(dim3 grid, dim3 block, std::size_t shared, std::pair<Body, const void*> kernel);
  void wait_at_barrier();
  [[noreturn]] void fault(const char* what, const void* address);
  [[nodiscard]] bool is_in_kernel() const { return current_ != nullptr; }

  [[nodiscard]] void* shared_memory() { return shared_.get(); }
  [[nodiscard]] hipError_t take_error() { return std::exchange(error_, hipSuccess); }
  [[nodiscard]] const char* error_text(hipError_t error) const {
    return error == hipSuccess ? "no error" : text_.c_str();
  }

 private:
  static void run_coroutine();
  void run_block();
  void run_threads();
  void resume(std::unique_ptr<Coroutine> coroutine);
  void leave();
  [[noreturn]] void switch_from(Stack& left);
  void fail(hipError_t error, const std::string& text);
  [[nodiscard]] bool failed() const { return error_ != hipSuccess; }

  std::vector<std::unique_ptr<Coroutine>> idle_;
  std::vector<std::unique_ptr<Coroutine>> waiting_; ///< at a barrier
  std::vector<std::unique_ptr<Coroutine>> woken_;   ///< from the one before
  std::size_t next_ = 0;                            ///< of woken_
  std::unique_ptr<Coroutine> current_;
  std::jmp_buf home_{}; ///< in resume(), on the host thread's own stack
  Stack home_stack_;
  std::pair<Body, const void*> kernel_{};
  uint32_t threads_ = 0; ///< of a block
  uint32_t begun_ = 0;   ///< of them
  bool from_last_ = false;
  std::unique_ptr<std::max_align_t[]> shared_;
  std::size_t shared_size_ = 0;
  hipError_t error_ = hipSuccess;
  std::string text_;
  const char* fault_ = nullptr;
  const void* fault_address_ = nullptr;
};

inline Grid& this_grid() {
  thread_local Grid grid;
  return grid;
}

/// A fault inside a grid ends the launch; every other one is left to whom it would have gone to.
class FaultHandler {
 public:
  static void install() { static const FaultHandler handler; }

 private:
  static constexpr std::array<std::pair<int, const char*>, 3> signals = {
      {{SIGSEGV, "SIGSEGV"}, {SIGBUS, "SIGBUS"}, {SIGFPE, "SIGFPE"}}};
  static std::array<struct sigaction, signals.size()>& previous() {
    static std::array<struct sigaction, signals.size()> actions;
    return actions;
  }

  FaultHandler() {
    struct sigaction action {};
    action.sa_sigaction = handle;
    action.sa_flags = SA_SIGINFO | SA_NODEFER | SA_ONSTACK;
    for (std::size_t index = 0; index < signals.size(); ++index) {
      sigaction(signals[index].first, &action, &previous()[index]);
    }
  }

  static void handle(int signal, siginfo_t* info, void*) {
    std::size_t index = 0;
    while (signals[index].first != signal) {
      ++index;
    }
    const long self = syscall(SYS_gettid);
    for (const Running& running : all_running) {
      if (running.host_thread.load() == self && running.grid->is_in_kernel()) {
        running.grid->fault(signals[index].second, info->si_addr);
      }
    }
    // The instruction runs again; what was sent by kill() does not come back by itself.
    sigaction(signal, &previous()[index], nullptr);
    if (info->si_code <= 0) {
      raise(signal);
    }
  }
};

/// In the table of running grids for as long as it lives. When the table is full, faults are as without this header.
class Registration {
 public:
  explicit Registration(Grid& grid) {
    const long self = syscall(SYS_gettid);
    for (Running& running : all_running) {
      long nobody = 0;
      if (running.host_thread.compare_exchange_strong(nobody, -1)) {
        running.grid = &grid;
        running.host_thread.store(self);
        mine_ = &running;
        return;
      }
    }
  }
  Registration(const Registration&) = delete;
  Registration& operator=(const Registration&) = delete;
  ~Registration() {
    if (mine_ != nullptr) {
      mine_->host_thread.store(0);
    }
  }

 private:
  Running* mine_ = nullptr;
};

inline void Grid::launch(dim3 grid, dim3 block, std::size_t shared, std::pair<Body, const void*> kernel) {
  error_ = hipSuccess;
  if (grid.count() == 0 || block.count() == 0 || block.count() > most_threads || shared > most_shared) {
    return fail(hipErrorInvalidConfiguration, "invalid configuration: " + grid.text() + " blocks of " +
                                                  block.text() + " threads, " + std::to_string(shared) +
                                                  " bytes of shared memory");
  }
  FaultHandler::install();
  const Registration registration(*this);
  kernel_ = kernel;
  gridDim = grid;
  blockDim = block;
  threads_ = static_cast<uint32_t>(block.count());
  shared_ = std::make_unique<std::max_align_t[]>(shared / sizeof(std::max_align_t) + 1);
  shared_size_ = shared;
  from_last_ = false;
  for (uint32_t z = 0; z < grid.z; ++z) {
    for (uint32_t y = 0; y < grid.y; ++y) {
      for (uint32_t x = 0; x < grid.x && !failed(); ++x) {
        blockIdx = {x, y, z};
        run_block();
        from_last_ = !from_last_;
      }
    }
  }
}

inline void Grid::run_block() {
  std::memset(shared_.get(), 0xff, shared_size_);
  begun_ = 0;
  while (begun_ < threads_ && !failed()) {
    std::unique_ptr<Coroutine> coroutine;
    if (idle_.empty()) {
      try {
        coroutine = std::make_unique<Coroutine>(run_coroutine);
      } catch (const std::bad_alloc&) {
        fail(hipErrorOutOfMemory, "no memory for another thread of block " + blockIdx.text());
        break;
      }
    } else {
      coroutine = std::move(idle_.back());
      idle_.pop_back();
    }
    resume(std::move(coroutine));
  }
  while (!waiting_.empty()) {
    if (waiting_.size() < threads_) {
      fail(hipErrorLaunchFailure, "__syncthreads() was reached by " + std::to_string(waiting_.size()) +
                                      " of the " + std::to_string(threads_) + " threads of block " +
                                      blockIdx.text());
    }
    woken_.swap(waiting_);
    for (next_ = 0; next_ < woken_.size();) {
      // Each goes on to the next by itself, but one that faults.
      std::unique_ptr<Coroutine> coroutine = std::move(woken_[next_++]);
      resume(std::move(coroutine));
    }
    woken_.clear();
  }
}

/// Runs `coroutine`, and those that were woken with it, until each waits or has no thread left to run.
__attribute__((noinline)) inline void Grid::resume(std::unique_ptr<Coroutine> coroutine) {
  fault_ = nullptr;
  current_ = std::move(coroutine);
  if (setjmp(home_) == 0) {
    switch_from(home_stack_);
  }
  home_stack_.arrive();
  if (fault_ != nullptr) {
    // Its stack is as the fault left it: nothing can go on there.
    current_.reset();
    std::array<char, 32> address{};
    std::snprintf(address.data(), address.size(), "%p", fault_address_);
    fail(hipErrorIllegalAddress, std::string(fault_) + " at " + address.data() + " in thread " +
                                     threadIdx.text() + " of block " + blockIdx.text());
  }
}

/// Returns when the coroutine that calls it is resumed.
__attribute__((noinline)) inline void Grid::leave() {
  std::jmp_buf place;
  Coroutine& self = *current_;
  self.place = &place;
  (self.waits ? waiting_ : idle_).push_back(std::move(current_));
  if (next_ < woken_.size()) {
    current_ = std::move(woken_[next_++]);
  }
  if (setjmp(place) == 0) {
    switch_from(self.own);
  }
  self.own.arrive();
}

/// To the current coroutine, or home when there is none.
inline void Grid::switch_from(Stack& left) {
  if (current_ == nullptr) {
    left.leave_for(home_stack_);
    emulated_grid_jump(home_, 1);
  }
  left.leave_for(current_->own);
  if (current_->place != nullptr) {
    emulated_grid_jump(*current_->place, 1);
  }
  setcontext(&current_->start);
  std::abort();
}

inline void Grid::run_coroutine() {
  Grid& grid = this_grid();
  grid.current_->own.arrive_from(grid.home_stack_); // The first time it is from there.
  for (;;) {
    grid.run_threads();
    grid.leave();
  }
}

inline void Grid::run_threads() {
  while (begun_ < threads_ && !failed()) {
    const uint32_t index = from_last_ ? threads_ - 1 - begun_ : begun_;
    ++begun_;
    threadIdx = {index % blockDim.x, index / blockDim.x % blockDim.y, index / blockDim.x / blockDim.y};
    try {
      kernel_.first(kernel_.second);
    } catch (const Abandoned&) {
      // The one that failed has said why.
    } catch (const std::exception& error) {
      fail(hipErrorLaunchFailure, "the kernel threw '" + std::string(error.what()) + "' in thread " +
                                      threadIdx.text() + " of block " + blockIdx.text());
    } catch (...) {
      fail(hipErrorLaunchFailure,
           "the kernel threw in thread " + threadIdx.text() + " of block " + blockIdx.text());
    }
  }
}

inline void Grid::wait_at_barrier() {
  current_->thread = threadIdx;
  current_->waits = true;
  leave();
  current_->waits = false;
  threadIdx = current_->thread;
  if (failed()) {
    throw Abandoned();
  }
}

inline void Grid::fault(const char* what, const void* address) {
  fault_ = what;
  fault_address_ = address;
  current_->own.leave_for_ever_for(home_stack_);
  emulated_grid_jump(home_, 1);
}

inline void Grid::fail(hipError_t error, const std::string& text) {
  if (!failed()) {
    error_ = error;
    text_ = text;
  }
}

} // namespace emulated

inline void __syncthreads() {
  emulated::this_grid().wait_at_barrier();
}

inline hipError_t hipGetLastError() {
  return emulated::this_grid().take_error();
}

/// Of the last launch of this host thread that failed; valid until the next one that does.
inline const char* hipGetErrorString(hipError_t error) {
  return emulated::this_grid().error_text(error);
}

template <class... Parameters, class... Arguments>
void hipLaunchKernelGGL(void (*kernel)(Parameters...), dim3 grid, dim3 block, std::size_t shared, hipStream_t,
                        Arguments&&... arguments) {
  using Call = std::pair<void (*)(Parameters...), std::tuple<Parameters...>>;
  const Call call(kernel, std::tuple<Parameters...>(std::forward<Arguments>(arguments)...));
  const auto body = [](const void* erased) {
    const Call& made = *static_cast<const Call*>(erased);
    std::apply(made.first, made.second);
  };
  emulated::this_grid().launch(grid, block, shared, {body, &call});
}

} // namespace
