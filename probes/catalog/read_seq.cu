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
  probe p;
  p.name = "read_seq";
  p.summary = "Reads with one 4-byte load in flight a thread: the classic naive kernel";
  p.byte_rule = "bytes read";
  p.parameters = {size_parameter()};
  p.expected_spread = 0.04;
  p.suites = {"full"};
  p.plan = [](parameters const& values, device_facts const& facts) {
    return stream_work(values, facts, 1, 1);
  };
  p.shapes = [](parameters const&, device_facts const& facts) {
    return facts.is_gpu ? block_sweep(block_threads) : host_shapes(facts);
  };
  p.on_gpu = [](gpu_context& gpu, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<gpu_reader<32>>(gpu, w.buffers.at("data"), one_pass);
  };
  p.on_host = [](host_context& host, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<host_reader<32>>(host, w.buffers.at("data"), host.loops().sum32_seq);
  };
  return p;
}

}  // namespace bandgate
