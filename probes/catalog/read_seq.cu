// SPDX-License-Identifier: Apache-2.0
/// The classic naive read: one 4-byte load an iteration, so latency-bound on purpose.
#include <bandgate/reading.hpp>

namespace bandgate {
namespace {

constexpr unsigned block_threads = 512;

/// Each block reads a contiguous range. The loop is not unrolled: unrolling would put several loads
/// in flight, which is the other probe.
BANDGATE_KERNEL BANDGATE_BOUNDS(block_threads) void read_one_by_one(
    std::uint32_t const* __restrict__ from, std::uint64_t count, observable out) {
  std::uint64_t const range = (count + gridDim.x - 1) / gridDim.x;
  std::uint64_t const begin = blockIdx.x * range;
  std::uint64_t const end = begin + range < count ? begin + range : count;
  std::uint64_t sum = 0;
  BANDGATE_NO_UNROLL
  for (std::uint64_t i = begin + threadIdx.x; i < end; i += block_threads) sum += from[i];
  observe(out, sum);
}

void one_pass(gpu_context& gpu, launch_shape const& shape, buffer const& data, observable out) {
  launch(gpu, "read_seq", {shape.at("blocks"), block_threads}, &read_one_by_one,
         data.as<std::uint32_t>(), data.size().count / sizeof(std::uint32_t), out);
}

}  // namespace

BANDGATE_PROBE(read_seq) {
  auto p = classic_read("read_seq", one_pass, block_threads, &host_loops::sum32_seq);
  p.summary = "Reads with one 4-byte load in flight a thread: the classic naive kernel";
  return p;
}

}  // namespace bandgate
