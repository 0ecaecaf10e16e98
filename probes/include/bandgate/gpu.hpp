// SPDX-License-Identifier: Apache-2.0
/// The one table of names that differ between the compilers of a kernel: CUDA here; where no GPU
/// compiler is at hand the same source becomes plain C++ that runs block by block and thread by
/// thread on the CPU, so that every kernel's indexing is tested on any machine.
/// Included by probes after backend.hpp.
#pragma once

#include <tuple>
#include <type_traits>

#include <bandgate/backend.hpp>

#if defined(__CUDACC__)

#define BANDGATE_KERNEL __global__
#define BANDGATE_DEVICE __host__ __device__
#define BANDGATE_BOUNDS(threads) __launch_bounds__(threads)
#define BANDGATE_UNROLL _Pragma("unroll")
#define BANDGATE_NO_UNROLL _Pragma("unroll 1")

namespace bandgate {

/// Enqueues `kernel(arguments…)`. Arguments are converted to the kernel's own parameter types.
template <class... Parameters, class... Arguments>
void launch(gpu_context& gpu, char const* what, launch_grid grid, void (*kernel)(Parameters...),
            Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  std::tuple<std::remove_const_t<Parameters>...> values{
      static_cast<std::remove_const_t<Parameters>>(arguments)...};
  std::apply(
      [&](auto&... value) {
        void* pointers[] = {const_cast<void*>(static_cast<void const*>(&value))...};
        gpu.launch(reinterpret_cast<void const*>(kernel), grid, pointers, what);
      },
      values);
}

}  // namespace bandgate

#else

#define BANDGATE_KERNEL
#define BANDGATE_DEVICE
#define BANDGATE_BOUNDS(threads)
#define BANDGATE_UNROLL
#define BANDGATE_NO_UNROLL

struct gpu_index {
  std::uint64_t x{};
};
inline thread_local gpu_index gridDim, blockDim, blockIdx, threadIdx;

struct alignas(16) uint4 {
  unsigned x, y, z, w;
};
struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
inline unsigned long long atomicAdd(unsigned long long* to, unsigned long long value) {
  auto const before = *to;
  *to += value;
  return before;
}
inline unsigned long long atomicMin(unsigned long long* to, unsigned long long value) {
  auto const before = *to;
  if (value < before) *to = value;
  return before;
}

namespace bandgate {

template <class... Parameters, class... Arguments>
void launch(gpu_context&, char const*, launch_grid grid, void (*kernel)(Parameters...),
            Arguments... arguments) {
  gridDim.x = grid.blocks;
  blockDim.x = grid.threads;
  for (blockIdx.x = 0; blockIdx.x < grid.blocks; ++blockIdx.x)
    for (threadIdx.x = 0; threadIdx.x < grid.threads; ++threadIdx.x)
      kernel(static_cast<Parameters>(arguments)...);
}

}  // namespace bandgate

#endif
