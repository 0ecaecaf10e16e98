// SPDX-License-Identifier: Apache-2.0
/// The one table of names that differ between the compilers of a kernel: CUDA here; where no GPU
/// compiler is at hand the same source becomes plain C++ that a test's context runs block by block
/// and thread by thread on the CPU, so that every kernel's indexing is tested on any machine.
/// Kernels written against it keep to what both have: no barrier, no shared memory, no warp call.
#pragma once

#include <functional>
#include <tuple>
#include <type_traits>

#include <bandgate/backend.hpp>

#if defined(__CUDACC__)

#define BANDGATE_KERNEL __global__
#define BANDGATE_DEVICE __device__
#define BANDGATE_BOTH __host__ __device__
#define BANDGATE_BOUNDS(threads) __launch_bounds__(threads)
#define BANDGATE_UNROLL _Pragma("unroll")
#define BANDGATE_NO_UNROLL _Pragma("unroll 1")

namespace bandgate {

/// A load of what nothing will read again, so the caches need not keep it.
template <class T>
BANDGATE_DEVICE inline T load_once(T const* from) {
  return __ldcs(from);
}

/// A store of what nothing will read soon, so that it leaves the caches at once.
template <class T>
BANDGATE_DEVICE inline void store_once(T* to, T const& value) {
  __stcs(to, value);
}

/// A load from the cache that all processors share, past those of a processor's own.
template <class T>
BANDGATE_DEVICE inline T load_shared_cache(T const* from) {
  return __ldcg(from);
}

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
#define BANDGATE_BOTH
#define BANDGATE_BOUNDS(threads)
#define BANDGATE_UNROLL
#define BANDGATE_NO_UNROLL

struct gpu_index {
  std::uint64_t x{};
};
inline thread_local gpu_index gridDim, blockDim, blockIdx, threadIdx;

struct alignas(16) ulonglong2 {
  unsigned long long x, y;
};
struct alignas(16) double2 {
  double x, y;
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

template <class T>
T load_once(T const* from) {
  return *from;
}

template <class T>
void store_once(T* to, T const& value) {
  *to = value;
}

template <class T>
T load_shared_cache(T const* from) {
  return *from;
}

/// What an emulating context finds behind the `kernel` pointer of its launch(): one call runs one
/// thread, whose place the four variables above say.
using emulated_kernel = std::function<void()>;

template <class... Parameters, class... Arguments>
void launch(gpu_context& gpu, char const* what, launch_grid grid, void (*kernel)(Parameters...),
            Arguments... arguments) {
  static_assert(sizeof...(Parameters) == sizeof...(Arguments));
  emulated_kernel const body = [=] { kernel(static_cast<Parameters>(arguments)...); };
  gpu.launch(&body, grid, nullptr, what);
}

}  // namespace bandgate

#endif
