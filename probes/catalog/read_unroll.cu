// SPDX-License-Identifier: Apache-2.0
/// The classic unrolled read: four independent 4-byte loads before the first use.
#include <bandgate/reading.hpp>

namespace bandgate {
namespace {

constexpr unsigned block_threads = 512;
constexpr unsigned loads = 4;

/// Each block reads a contiguous range. The outer loop must not be unrolled further: the compiler
/// would make sixteen loads of the four.
BANDGATE_KERNEL BANDGATE_BOUNDS(block_threads) void read_by_four(
    std::uint32_t const* __restrict__ from, std::uint64_t count, observable out) {
  std::uint64_t const range = (count + gridDim.x - 1) / gridDim.x;
  std::uint64_t const begin = blockIdx.x * range;
  std::uint64_t const end = begin + range < count ? begin + range : count;
  std::uint64_t sum = 0;
  std::uint64_t i = begin + threadIdx.x;
  BANDGATE_NO_UNROLL
  for (; i + (loads - 1) * block_threads < end; i += loads * block_threads) {
    std::uint32_t value[loads];
    BANDGATE_UNROLL
    for (unsigned k = 0; k < loads; ++k) value[k] = from[i + k * block_threads];
    BANDGATE_UNROLL
    for (unsigned k = 0; k < loads; ++k) sum += value[k];
  }
  BANDGATE_NO_UNROLL
  for (; i < end; i += block_threads) sum += from[i];
  observe(out, sum);
}

void one_pass(gpu_context& gpu, launch_shape const& shape, buffer const& data, observable out) {
  launch(gpu, "read_unroll", {shape.at("blocks"), block_threads}, &read_by_four,
         data.as<std::uint32_t>(), data.size().count / sizeof(std::uint32_t), out);
}

}  // namespace

BANDGATE_PROBE(read_unroll) {
  auto p = classic_read("read_unroll", one_pass, block_threads, &host_loops::sum32_by4);
  p.summary = "Reads with four 4-byte loads in flight a thread: the classic unrolled kernel";
  return p;
}

}  // namespace bandgate
