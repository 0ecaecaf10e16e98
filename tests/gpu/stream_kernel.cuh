// SPDX-License-Identifier: Apache-2.0
/// Streams through device memory on a few processors: a stand-in for a card that has lost a little
/// of its bandwidth.
#pragma once

#include <cuda_runtime.h>

#include <cstdint>
#include <cstdio>
#include <cstdlib>

namespace disturb {

inline void check(cudaError_t status, char const* what) {
  if (status == cudaSuccess) return;
  std::fprintf(stderr, "disturb: %s: %s\n", what, cudaGetErrorString(status));
  std::_Exit(3);
}

/// One block takes a whole processor: it asks for more than half of its shared memory.
__global__ void __launch_bounds__(1024, 1)
    stream(ulonglong2 const* from, std::uint64_t count, unsigned passes, unsigned long long* sink) {
  extern __shared__ unsigned char occupied[];
  unsigned long long sum = threadIdx.x == 2000 ? occupied[0] : 0;
  auto const step = std::uint64_t{gridDim.x} * blockDim.x;
  constexpr unsigned in_flight = 4;  // with one load a thread four processors take only 0.5 %
  for (unsigned pass = 0; pass < passes; ++pass)
    for (auto i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x;
         i + (in_flight - 1) * step < count; i += in_flight * step) {
      ulonglong2 values[in_flight];
#pragma unroll
      for (unsigned k = 0; k < in_flight; ++k)  // volatile: the compiler would wait after two
        asm volatile("ld.global.cs.v2.u64 {%0, %1}, [%2];"
                     : "=l"(values[k].x), "=l"(values[k].y)
                     : "l"(from + i + k * step));
      for (auto const& value : values) sum += value.x ^ value.y ^ pass;
    }
  if (sum == 0x123456789abcdefULL) *sink = sum;
}

/// On the current device, until the process ends. `ready` is called before the first launch.
template <class Ready>
[[noreturn]] void stream_for_ever(int processors, Ready ready) {
  constexpr std::uint64_t size = std::uint64_t{2} << 30;
  constexpr int shared = 120 << 10;
  ulonglong2* data = nullptr;
  unsigned long long* sink = nullptr;
  cudaStream_t own{};
  check(cudaMalloc(&data, size), "memory");
  check(cudaMalloc(&sink, sizeof *sink), "memory");
  check(cudaStreamCreateWithFlags(&own, cudaStreamNonBlocking), "stream");
  check(cudaMemsetAsync(data, 0x5a, size, own), "fill");
  check(cudaFuncSetAttribute(stream, cudaFuncAttributeMaxDynamicSharedMemorySize, shared),
        "shared memory");
  ready();
  for (;;) {
    stream<<<processors, 1024, shared, own>>>(data, size / sizeof *data, 4, sink);
    check(cudaStreamSynchronize(own), "kernel");
  }
}

}  // namespace disturb
