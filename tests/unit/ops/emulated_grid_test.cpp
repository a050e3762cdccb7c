#include "../../../ops/common/gpu.h"

#include <algorithm>
#include <cmath>
#include <csignal>
#include <limits>
#include <stdexcept>
#include <thread>

namespace {

using ::testing::Each;
using ::testing::HasSubstr;
using ::testing::StartsWith;

std::string error_of_last_launch() {
  return hipGetErrorString(hipGetLastError());
}

__global__ void count_visits(int* visits) {
  const uint32_t block = (blockIdx.z * gridDim.y + blockIdx.y) * gridDim.x + blockIdx.x;
  const uint32_t thread = (threadIdx.z * blockDim.y + threadIdx.y) * blockDim.x + threadIdx.x;
  ++visits[block * blockDim.x * blockDim.y * blockDim.z + thread];
}

TEST(EmulatedGrid, EveryThreadOfEveryBlockRunsOnce) {
  std::vector<int> visits(24 * 30, 0);
  hipLaunchKernelGGL(count_visits, dim3(2, 3, 4), dim3(5, 3, 2), 0, nullptr, visits.data());
  EXPECT_EQ(error_of_last_launch(), "no error");
  EXPECT_THAT(visits, Each(1));
}

/// Each block turns its part round; `with_barrier` is right.
__global__ void turn_round(const float* from, float* to, bool with_barrier) {
  __shared__ float still[64];
  HIP_DYNAMIC_SHARED(float, dynamic)
  const uint32_t other = blockDim.x - 1 - threadIdx.x;
  still[threadIdx.x] = from[blockIdx.x * blockDim.x + threadIdx.x];
  dynamic[threadIdx.x] = still[threadIdx.x];
  if (with_barrier) {
    __syncthreads();
  }
  to[blockIdx.x * blockDim.x + threadIdx.x] = still[other] + dynamic[other];
}

std::vector<float> turned_round(bool with_barrier) {
  std::vector<float> from;
  for (int i = 0; i < 3 * 64; ++i) {
    from.push_back(static_cast<float>(i));
  }
  std::vector<float> to(from.size());
  hipLaunchKernelGGL(turn_round, 3, 64, 64 * sizeof(float), nullptr, from.data(), to.data(), with_barrier);
  EXPECT_EQ(error_of_last_launch(), "no error");
  return to;
}

TEST(EmulatedGrid, ABlockSharesMemoryAndWaitsForItself) {
  const std::vector<float> result = turned_round(true);
  for (std::size_t i = 0; i < result.size(); ++i) {
    EXPECT_EQ(result[i], 2.0F * static_cast<float>(i / 64 * 64 + 63 - i % 64)) << i;
  }
}

TEST(EmulatedGrid, AMissingBarrierShowsInEveryBlock) {
  const std::vector<float> result = turned_round(false);
  for (int block = 0; block < 3; ++block) {
    EXPECT_TRUE(std::any_of(result.begin() + block * 64, result.begin() + block * 64 + 64, [](float value) {
      return std::isnan(value);
    })) << block;
  }
}

/// One that is left behind must still be unwound.
struct Held {
  explicit Held(int& counter) : count(counter) { ++count; }
  Held(const Held&) = delete;
  Held& operator=(const Held&) = delete;
  ~Held() { --count; }
  int& count;
};

enum class Fault { few_at_barrier, few_at_second_barrier, exception, memory, arithmetic };

__global__ void faulty(Fault fault, int* held, volatile int* zero) {
  const Held here(*held);
  if (fault != Fault::few_at_barrier || threadIdx.x < 12) {
    __syncthreads();
  }
  if (fault == Fault::few_at_second_barrier && threadIdx.x != 3) {
    __syncthreads();
  }
  if (threadIdx.x == 7 && blockIdx.x == 1) {
    switch (fault) {
    case Fault::exception:
      throw std::runtime_error("seven");
    case Fault::memory:
      *reinterpret_cast<volatile int*>(static_cast<uintptr_t>(*zero) + 64) = 1;
      break;
    case Fault::arithmetic:
      raise(SIGFPE);
      break;
    default:
      break;
    }
  }
  __syncthreads();
}

std::string error_of(Fault fault, int* held) {
  int zero = 0;
  hipLaunchKernelGGL(faulty, dim3(4), dim3(16, 2), 0, nullptr, fault, held, &zero);
  return error_of_last_launch();
}

TEST(EmulatedGrid, ABarrierThatNotAllReachIsAnError) {
  int held = 0;
  EXPECT_EQ(error_of(Fault::few_at_barrier, &held),
            "__syncthreads() was reached by 24 of the 32 threads of block (0, 0, 0)");
  EXPECT_EQ(held, 0);
  EXPECT_EQ(error_of(Fault::few_at_second_barrier, &held),
            "__syncthreads() was reached by 30 of the 32 threads of block (0, 0, 0)");
  EXPECT_EQ(held, 0);
}

TEST(EmulatedGrid, AnExceptionIsAnError) {
  int held = 0;
  EXPECT_EQ(error_of(Fault::exception, &held),
            "the kernel threw 'seven' in thread (7, 1, 0) of block (1, 0, 0)");
  EXPECT_EQ(held, 0);
}

TEST(EmulatedGrid, AFaultIsAnErrorAndTheNextLaunchIsNot) {
  int held = 0;
  EXPECT_EQ(error_of(Fault::memory, &held), "SIGSEGV at 0x40 in thread (7, 1, 0) of block (1, 0, 0)");
  EXPECT_EQ(held, 1) << "nothing can be unwound on the stack of the fault itself";
  EXPECT_THAT(error_of(Fault::arithmetic, &held), StartsWith("SIGFPE at "));
  EXPECT_EQ(turned_round(true)[0], 126.0F);
}

TEST(EmulatedGrid, FaultsElsewhereAreLeftToOthers) {
  EXPECT_EQ(turned_round(true)[0], 126.0F);
  EXPECT_DEATH(raise(SIGSEGV), "");
  EXPECT_DEATH(*reinterpret_cast<volatile int*>(uintptr_t{64}) = 1, "");
}

TEST(EmulatedGrid, WhatNoDeviceTakesIsRefused) {
  int visit = 0;
  hipLaunchKernelGGL(count_visits, dim3(1, 0), dim3(1), 0, nullptr, &visit);
  EXPECT_EQ(hipGetLastError(), hipErrorInvalidConfiguration);
  EXPECT_EQ(hipGetLastError(), hipSuccess) << "an error is told once";
  hipLaunchKernelGGL(count_visits, dim3(1), dim3(1025), 0, nullptr, &visit);
  EXPECT_EQ(error_of_last_launch(),
            "invalid configuration: (1, 1, 1) blocks of (1025, 1, 1) threads, 0 bytes of shared memory");
  hipLaunchKernelGGL(count_visits, dim3(1), dim3(1), 65537, nullptr, &visit);
  EXPECT_THAT(error_of_last_launch(), HasSubstr("65537 bytes"));
  EXPECT_EQ(visit, 0);
}

TEST(EmulatedGrid, HostThreadsHaveGridsOfTheirOwn) {
  std::vector<std::thread> threads;
  for (int t = 0; t < 4; ++t) {
    threads.emplace_back([t] {
      for (int repeat = 0; repeat < 20; ++repeat) {
        int held = 0;
        const Fault fault = t % 2 == 0 ? Fault::few_at_barrier : Fault::memory;
        EXPECT_THAT(error_of(fault, &held),
                    StartsWith(t % 2 == 0 ? "__syncthreads() was" : "SIGSEGV at 0x40"));
        EXPECT_EQ(turned_round(true)[1], 124.0F);
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

template <class T> T of_bits(uint32_t bits) {
  T value{};
  value.bits = static_cast<uint16_t>(bits);
  return value;
}

/// Both ways, on all numbers from 0 up to the infinity of `T` and on what lies between two of them.
template <class T> void expect_nearest_and_even(uint32_t infinity) {
  for (uint32_t bits = 0; bits < infinity; ++bits) {
    const float low = to_float(of_bits<T>(bits));
    // Half way between the largest number and the next, were there one, is where they begin to round to infinity.
    const double high =
        bits + 1 < infinity ? to_float(of_bits<T>(bits + 1)) : 2.0 * low - to_float(of_bits<T>(bits - 1));
    const auto tie = static_cast<float>((low + high) / 2);
    ASSERT_LT(low, high);
    ASSERT_EQ(from_float<T>(low).bits, bits);
    ASSERT_EQ(from_float<T>(-low).bits, bits | 0x8000U);
    ASSERT_EQ(to_float(of_bits<T>(bits | 0x8000U)), -low);
    ASSERT_EQ(from_float<T>(tie).bits, bits + bits % 2);
    ASSERT_EQ(from_float<T>(std::nextafterf(tie, 0.0F)).bits, bits);
    ASSERT_EQ(from_float<T>(std::nextafterf(tie, std::numeric_limits<float>::infinity())).bits, bits + 1);
  }
}

TEST(EmulatedGrid, SixteenBitNumbersAreRoundedToNearestAndEven) {
  expect_nearest_and_even<__half>(0x7c00);
  expect_nearest_and_even<bfloat16>(0x7f80);
}

TEST(EmulatedGrid, InfinitiesAndNans) {
  const float infinity = std::numeric_limits<float>::infinity();
  EXPECT_EQ(to_float(of_bits<__half>(0x7c00)), infinity);
  EXPECT_EQ(to_float(of_bits<bfloat16>(0xff80)), -infinity);
  EXPECT_EQ(from_float<__half>(-infinity).bits, 0xfc00);
  EXPECT_EQ(from_float<bfloat16>(infinity).bits, 0x7f80);
  EXPECT_EQ(from_float<__half>(3e38F).bits, 0x7c00);
  // Also those whose upper half alone would be an infinity.
  for (const uint32_t bits : {0x7fc00000U, 0x7f800001U, 0xffffffffU}) {
    EXPECT_TRUE(std::isnan(to_float(from_float<__half>(__uint_as_float(bits))))) << bits;
    EXPECT_TRUE(std::isnan(to_float(from_float<bfloat16>(__uint_as_float(bits))))) << bits;
  }
  EXPECT_TRUE(std::isnan(to_float(of_bits<__half>(0x7c01))));
  EXPECT_TRUE(std::isnan(to_float(of_bits<bfloat16>(0x7f81))));
}

} // namespace
