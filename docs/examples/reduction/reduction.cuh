// SPDX-License-Identifier: Apache-2.0
/// The same on a GPU, NVIDIA's or AMD's: adds the sum of `count` pairs of words to *total.
#pragma once

#include <cstdint>

/// What is read once need not stay in a cache.
__device__ inline ulonglong2 load_once(ulonglong2 const* from) {
#if defined(__HIP__)
  return *from;
#else
  return __ldcs(from);
#endif
}

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
        pair[k] = i + k * step < count ? load_once(from + i + k * step) : ulonglong2{0, 0};
#pragma unroll
      for (unsigned k = 0; k < loads; ++k) sum += pair[k].x + pair[k].y;
    }
    if (round > 0 && sum != before) atomicAdd(total, 1);  // so that no round is superfluous
  }
  // Not by warps, which have 32 threads on NVIDIA's GPUs and 64 on AMD's.
  __shared__ unsigned long long sums[Threads];
  sums[threadIdx.x] = sum;
  for (unsigned half = Threads / 2; half > 0; half /= 2) {
    __syncthreads();
    if (threadIdx.x < half) sums[threadIdx.x] += sums[threadIdx.x + half];
  }
  if (threadIdx.x == 0) atomicAdd(total, sums[0]);
}
