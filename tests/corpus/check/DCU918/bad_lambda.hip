// Waits in lambdas, in objects that are called, behind pointers to functions.
struct Meet {
  __device__ void operator()() const { __syncthreads(); }
};
template <class F> __device__ void run(F f) {
  f();
}
template <class F> __device__ void hand_on(F&& f) {
  run(f);
}
template <class F> __device__ void by_leader(F f) {
  if (threadIdx.x == 0) {
    f(); //! DCU918
  }
}
__device__ void wait() {
  __syncthreads();
}
__global__ void named(float* y) {
  auto flush = [&] {
    y[threadIdx.x] = 0;
    __syncthreads();
  };
  flush();
  if (threadIdx.x < 3) {
    flush(); //! DCU918
  }
}
__global__ void handed_over(float* y) {
  const auto flush = [&]() { __syncthreads(); };
  if (threadIdx.x < 3) {
    hand_on(flush); //! DCU918
  }
  if (threadIdx.x < 4) {
    run([&] { __syncthreads(); }); //! DCU918
  }
}
__global__ void to_one_that_chooses(float* y) {
  by_leader([&] { y[0] = 1; });
  auto flush = [&] { __syncthreads(); };
  by_leader(flush);
}
__global__ void object(float* y) {
  Meet meet;
  if (threadIdx.x < 3) {
    meet(); //! DCU918
  }
}
__global__ void pointer(float* y) {
  auto f = &wait;
  if (threadIdx.x < 3) {
    f(); //! DCU918
  }
}
__global__ void inside(float* y) {
  auto each = [&](int lane) {
    if (lane < 3) {
      __syncthreads(); //! DCU918
    }
  };
  each(threadIdx.x);
}
