// SPDX-License-Identifier: Apache-2.0
/// The kernel that reads a buffer once at the limit of the memory, for all probes that do.
#pragma once

#include <cstdint>
#include <vector>

#include <bandgate/reading.hpp>

namespace bandgate {

/// Each block streams one contiguous tile and ends (1.5 % faster than a persistent grid, and equal
/// between cards). All loads of a thread are issued before the first is used; without the bounds
/// the assembler splits them to save registers.
template <unsigned Threads, unsigned Loads>
BANDGATE_KERNEL BANDGATE_BOUNDS(Threads) void read_tile(ulonglong2 const* __restrict__ from,
                                                        std::uint64_t count,
                                                        std::uint64_t const* odd, observable out) {
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
  if (odd != nullptr && first == 0) sum += *odd;
  observe(out, sum);
}

template <unsigned Threads, unsigned Loads>
void launch_tiles(gpu_context& gpu, buffer const& data, observable out) {
  auto const count = data.size().count / sizeof(ulonglong2);
  auto const tile = std::uint64_t{Threads} * Loads;
  launch(gpu, "read", {(count + tile - 1) / tile, Threads}, &read_tile<Threads, Loads>,
         data.as<ulonglong2>(), count, odd_word(data), out);
}

struct tile_shape {
  std::uint64_t threads, loads;
  void (*launch)(gpu_context&, buffer const&, observable);
};
inline constexpr tile_shape tile_shapes[] = {{512, 8, &launch_tiles<512, 8>},
                                             {256, 8, &launch_tiles<256, 8>},
                                             {512, 4, &launch_tiles<512, 4>}};

/// Enqueues one pass over the whole buffer in one of read_shapes().
inline void read_pass(gpu_context& gpu, launch_shape const& shape, buffer const& data,
                      observable out) {
  for (auto const& v : tile_shapes)
    if (v.threads == shape.at("threads") && v.loads == shape.at("loads"))
      return v.launch(gpu, data, out);
  throw usage_error("read: no kernel of that shape");
}

inline std::vector<launch_shape> read_shapes(parameters const&, device_facts const& facts) {
  if (!facts.is_gpu) return host_shapes(facts);
  std::vector<launch_shape> all;
  for (auto const& v : tile_shapes) all.push_back({{"threads", v.threads}, {"loads", v.loads}});
  return all;
}

/// The GPU's and the host's reader of a buffer of the work's size.
inline std::unique_ptr<kernel> read_on_gpu(gpu_context& gpu, work const& w, parameters const&) {
  return std::make_unique<gpu_reader<64>>(gpu, w.buffers.at("data"), read_pass);
}
inline std::unique_ptr<kernel> read_on_host(host_context& host, work const& w, parameters const&) {
  return std::make_unique<host_reader<64>>(host, w.buffers.at("data"), host.loops().sum64);
}

}  // namespace bandgate
