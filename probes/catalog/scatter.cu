// SPDX-License-Identifier: Apache-2.0
/// out[index[i]] = in[i]: reads in order and writes at random, within a span.
#include <atomic>

#include <bandgate/indirect_access.hpp>

namespace bandgate {
namespace {

/// Each block works on one contiguous tile and ends. All indices and elements of a thread are on
/// their way before the first is used. Ordinary loads: where the caches are told to drop what was
/// read, the stores that meet in them are slower (an H200, span 2^20: 658 against 687 GiB/s).
template <class Word, class Index, unsigned Threads, unsigned Each>
BANDGATE_KERNEL BANDGATE_BOUNDS(Threads) void scatter_tile(Index const* __restrict__ index,
                                                           Word const* __restrict__ in,
                                                           Word* __restrict__ out,
                                                           std::uint64_t count) {
  std::uint64_t const tile = std::uint64_t{blockIdx.x} * (Threads * Each);
  if (tile + Threads * Each > count) {
    BANDGATE_NO_UNROLL
    for (std::uint64_t i = tile + threadIdx.x; i < count; i += Threads) out[index[i]] = in[i];
    return;
  }
  std::uint64_t const first = tile + threadIdx.x;
  Index place[Each];
  Word value[Each];
  BANDGATE_UNROLL
  for (unsigned k = 0; k < Each; ++k) place[k] = index[first + k * Threads];
  BANDGATE_UNROLL
  for (unsigned k = 0; k < Each; ++k) value[k] = in[first + k * Threads];
  BANDGATE_UNROLL
  for (unsigned k = 0; k < Each; ++k) out[place[k]] = value[k];
}

template <class Word, class Index, unsigned Threads, unsigned Each>
void launch_tiles(gpu_context& gpu, indirect_arrays<Word, Index> const& a) {
  constexpr std::uint64_t tile = Threads * Each;
  launch(gpu, "scatter", {(a.elements + tile - 1) / tile, Threads},
         &scatter_tile<Word, Index, Threads, Each>, a.index, a.in, a.out, a.elements);
}

template <class Word, class Index>
struct variant {
  std::uint64_t threads, each;
  void (*launch)(gpu_context&, indirect_arrays<Word, Index> const&);
};

/// Large blocks meet more often in one line of the cache where the span is short (2^4 sliding: 1990
/// against 1850 GiB/s), small ones less often where it is longer; two elements a thread gain where
/// the stores are in order.
template <class Word, class Index>
constexpr variant<Word, Index> variants[] = {{256, 1, &launch_tiles<Word, Index, 256, 1>},
                                             {1024, 1, &launch_tiles<Word, Index, 1024, 1>},
                                             {128, 1, &launch_tiles<Word, Index, 128, 1>},
                                             {256, 2, &launch_tiles<Word, Index, 256, 2>}};

template <class Word, class Index>
void one_pass(gpu_context& gpu, launch_shape const& shape, indirect_arrays<Word, Index> const& a) {
  for (auto const& v : variants<Word, Index>)
    if (v.threads == shape.at("threads") && v.each == shape.at("each")) return v.launch(gpu, a);
  throw usage_error("scatter: no kernel of that shape");
}

/// Atomic, which costs nothing: where elements share an index, threads may store to one place.
template <class Word, class Index>
void on_thread(indirect_arrays<Word, Index> const& a, run_of run) {
  for (std::uint64_t i = run.begin; i < run.end; ++i)
    std::atomic_ref(a.out[a.index[i]]).store(a.in[i], std::memory_order_relaxed);
}

std::vector<launch_shape> shapes(parameters const&, device_facts const& facts) {
  if (!facts.is_gpu) return host_shapes(facts);
  std::vector<launch_shape> all;
  for (auto const& v : variants<std::uint64_t, std::uint32_t>)
    all.push_back({{"threads", v.threads}, {"each", v.each}});
  return all;
}

}  // namespace

BANDGATE_PROBE(scatter) {
  auto p = indirect_probe();
  p.name = "scatter";
  p.summary = "Reads a vector in order and writes by an index table, random within a span";
  p.shapes = shapes;
  set_kernels<scattered>(
      p, [](auto word, auto index) { return &one_pass<decltype(word), decltype(index)>; },
      [](auto word, auto index) { return &on_thread<decltype(word), decltype(index)>; });
  return p;
}

}  // namespace bandgate
