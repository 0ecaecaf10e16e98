// SPDX-License-Identifier: Apache-2.0
/// The same on a GPU: adds the sum of `count` pairs of words to *total.
#pragma once

#include <cstdint>

template <unsigned Threads>
__global__ void __launch_bounds__(Threads)
    sum_of_pairs(ulonglong2 const* from, std::uint64_t count, unsigned long long* total) {
  constexpr unsigned loads = 8;  // in flight at once, which is what hides the memory's latency
  std::uint64_t const step = std::uint64_t{gridDim.x} * Threads;
  unsigned long long sum = 0;
  for (int round = 0; round < REDUCTION_ROUNDS; ++round) {
    unsigned long long const before = sum;
    sum = 0;
    for (auto i = std::uint64_t{blockIdx.x} * Threads + threadIdx.x; i < count; i += loads * step) {
      ulonglong2 pair[loads];
#pragma unroll
      for (unsigned k = 0; k < loads; ++k)
        pair[k] = i + k * step < count ? __ldcs(from + i + k * step) : ulonglong2{0, 0};
#pragma unroll
      for (unsigned k = 0; k < loads; ++k) sum += pair[k].x + pair[k].y;
    }
    if (round > 0 && sum != before) __trap();  // so that no round is superfluous
  }
  for (int offset = 16; offset > 0; offset /= 2) sum += __shfl_down_sync(0xffffffff, sum, offset);
  __shared__ unsigned long long warps[Threads / 32];
  if (threadIdx.x % 32 == 0) warps[threadIdx.x / 32] = sum;
  __syncthreads();
  if (threadIdx.x != 0) return;
  for (unsigned warp = 1; warp < Threads / 32; ++warp) sum += warps[warp];
  atomicAdd(total, sum);
}
