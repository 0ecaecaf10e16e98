// SPDX-License-Identifier: Apache-2.0
/// Reads every byte of a buffer once: the read limit of the memory.
#include <bandgate/reading.hpp>

namespace bandgate {
namespace {

/// Each block streams one contiguous tile and ends (1.5 % faster than a persistent grid, and equal
/// between cards). All loads of a thread are issued before the first is used; without the bounds
/// the assembler splits them to save registers.
template <unsigned Threads, unsigned Loads>
BANDGATE_KERNEL BANDGATE_BOUNDS(Threads) void read_tile(ulonglong2 const* __restrict__ from,
                                                        std::uint64_t count, observable out) {
  std::uint64_t const tile = std::uint64_t{blockIdx.x} * (Threads * Loads);
  std::uint64_t const first = tile + threadIdx.x;
  ulonglong2 value[Loads];
  if (tile + Threads * Loads <= count) {
    BANDGATE_UNROLL
    for (unsigned k = 0; k < Loads; ++k) value[k] = load_once(from + first + k * Threads);
  } else {
    BANDGATE_UNROLL
    for (unsigned k = 0; k < Loads; ++k)
      value[k] =
          first + k * Threads < count ? load_once(from + first + k * Threads) : ulonglong2{0, 0};
  }
  std::uint64_t sum = 0;
  BANDGATE_UNROLL
  for (unsigned k = 0; k < Loads; ++k) sum += value[k].x + value[k].y;
  observe(out, sum);
}

template <unsigned Threads, unsigned Loads>
void launch_tiles(gpu_context& gpu, buffer const& data, observable out) {
  auto const count = data.size().count / sizeof(ulonglong2);
  auto const tile = std::uint64_t{Threads} * Loads;
  launch(gpu, "read", {(count + tile - 1) / tile, Threads}, &read_tile<Threads, Loads>,
         data.as<ulonglong2>(), count, out);
}

struct variant {
  std::uint64_t threads, loads;
  void (*launch)(gpu_context&, buffer const&, observable);
};
constexpr variant variants[] = {{512, 8, &launch_tiles<512, 8>},
                                {256, 8, &launch_tiles<256, 8>},
                                {512, 4, &launch_tiles<512, 4>}};

void one_pass(gpu_context& gpu, launch_shape const& shape, buffer const& data, observable out) {
  for (auto const& v : variants)
    if (v.threads == shape.at("threads") && v.loads == shape.at("loads"))
      return v.launch(gpu, data, out);
  throw usage_error("read: no kernel of that shape");
}

std::vector<launch_shape> shapes(parameters const&, device_facts const& facts) {
  if (!facts.is_gpu) return host_shapes(facts);
  std::vector<launch_shape> all;
  for (auto const& v : variants) all.push_back({{"threads", v.threads}, {"loads", v.loads}});
  return all;
}

}  // namespace

BANDGATE_PROBE(read) {
  probe p;
  p.name = "read";
  p.summary = "Reads every byte of a buffer once: the read limit of the memory";
  p.byte_rule = "bytes read";
  p.parameters = {size_parameter()};
  p.suites = {"quick", "full"};
  p.plan = [](parameters const& values, device_facts const& facts) {
    return stream_work(values, facts, 1, 1);
  };
  p.shapes = shapes;
  p.on_gpu = [](gpu_context& gpu, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<gpu_reader<64>>(gpu, w.buffers.at("data"), one_pass);
  };
  p.on_host = [](host_context& host, work const& w, parameters const&) -> std::unique_ptr<kernel> {
    return std::make_unique<host_reader<64>>(host, w.buffers.at("data"), host.loops().sum64);
  };
  return p;
}

}  // namespace bandgate
