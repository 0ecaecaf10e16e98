// SPDX-License-Identifier: Apache-2.0
/// The kernel that reads a buffer once at the limit of the memory, for all probes that do.
#pragma once

#include <algorithm>
#include <cstdint>
#include <vector>

#include <bandgate/reading.hpp>

namespace bandgate {

/// Each block streams one contiguous tile and ends (on an H200 1.5 % faster than a persistent grid,
/// and equal between cards). All loads of a thread are issued before the first is used; without the
/// bounds the assembler splits them to save registers.
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
    all_issued();
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

/// As many blocks as suit the device stride over the tiles, and what is left of the last is read
/// one by one. Not made of a function that read_tile shares: nvcc would order that one's loads
/// otherwise.
template <unsigned Threads, unsigned Loads>
BANDGATE_KERNEL BANDGATE_BOUNDS(Threads) void read_strided(ulonglong2 const* __restrict__ from,
                                                           std::uint64_t count,
                                                           std::uint64_t const* odd,
                                                           observable out) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * (Threads * Loads);
  std::uint64_t const begin = std::uint64_t{blockIdx.x} * (Threads * Loads);
  std::uint64_t sum = 0;
  BANDGATE_NO_UNROLL
  for (std::uint64_t tile = begin; tile < count; tile += step) {
    std::uint64_t const first = tile + threadIdx.x;
    ulonglong2 value[Loads];
    if (tile + Threads * Loads <= count) {
      BANDGATE_UNROLL
      for (unsigned k = 0; k < Loads; ++k) value[k] = load_once(from + first + k * Threads);
      all_issued();
    } else {
      BANDGATE_UNROLL
      for (unsigned k = 0; k < Loads; ++k)
        value[k] =
            first + k * Threads < count ? load_once(from + first + k * Threads) : ulonglong2{0, 0};
    }
    BANDGATE_UNROLL
    for (unsigned k = 0; k < Loads; ++k) sum += value[k].x + value[k].y;
  }
  if (odd != nullptr && begin + threadIdx.x == 0) sum += *odd;
  observe(out, sum);
}

template <class Shape>
void launch_tiles(gpu_context& gpu, buffer const& data, observable out) {
  auto const count = data.size().count / sizeof(ulonglong2);
  constexpr auto tile = std::uint64_t{Shape::threads} * Shape::loads;
  auto const tiles = (count + tile - 1) / tile;
  if constexpr (Shape::blocks_a_processor == 0) {
    launch(gpu, "read", {tiles, Shape::threads}, &read_tile<Shape::threads, Shape::loads>,
           data.as<ulonglong2>(), count, odd_word(data), out);
  } else {
    auto const blocks = std::uint64_t{Shape::blocks_a_processor} * gpu.facts().processors;
    launch(gpu, "read", {std::min(tiles, blocks), Shape::threads},
           &read_strided<Shape::threads, Shape::loads>, data.as<ulonglong2>(), count,
           odd_word(data), out);
  }
}

template <class Shape>
launch_shape numbers_of(unsigned processors) {
  launch_shape all{{"threads", Shape::threads}, {"loads", Shape::loads}};
  if (Shape::blocks_a_processor != 0)
    all["blocks"] = std::uint64_t{Shape::blocks_a_processor} * processors;
  return all;
}

template <class Shape>
bool launch_if_asked(gpu_context& gpu, launch_shape const& asked, buffer const& data,
                     observable out) {
  if (asked != numbers_of<Shape>(gpu.facts().processors)) return false;
  launch_tiles<Shape>(gpu, data, out);
  return true;
}

template <class... Shapes>
bool launch_asked(read_shape_list<Shapes...>, gpu_context& gpu, launch_shape const& asked,
                  buffer const& data, observable out) {
  return (launch_if_asked<Shapes>(gpu, asked, data, out) || ...);
}

template <class... Shapes>
std::vector<launch_shape> all_numbers(read_shape_list<Shapes...>, unsigned processors) {
  return {numbers_of<Shapes>(processors)...};
}

/// Enqueues one pass over the whole buffer in one of read_shapes().
inline void read_pass(gpu_context& gpu, launch_shape const& shape, buffer const& data,
                      observable out) {
  if (!launch_asked(gpu_traits::read_shapes{}, gpu, shape, data, out))
    throw usage_error("read: no kernel of that shape");
}

inline std::vector<launch_shape> read_shapes(parameters const&, device_facts const& facts) {
  if (!facts.is_gpu) return host_shapes(facts);
  return all_numbers(gpu_traits::read_shapes{}, facts.processors);
}

/// The GPU's and the host's reader of a buffer of the work's size.
inline std::unique_ptr<kernel> read_on_gpu(gpu_context& gpu, work const& w, parameters const&) {
  return std::make_unique<gpu_reader<64>>(gpu, w.buffers.at("data"), read_pass);
}
inline std::unique_ptr<kernel> read_on_host(host_context& host, work const& w, parameters const&) {
  return std::make_unique<host_reader<64>>(host, w.buffers.at("data"), host.loops().sum64);
}

}  // namespace bandgate
