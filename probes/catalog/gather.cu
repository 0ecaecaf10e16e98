// SPDX-License-Identifier: Apache-2.0
/// out[i] = in[index[i]]: reads at random, within a span, and writes in order.
#include <bandgate/indirect_access.hpp>

namespace bandgate {
namespace {

/// Each block works on one contiguous tile and ends. All indices of a thread are on their way
/// before the first is used, then all its elements, then it stores; only what is gathered stays in
/// the caches.
template <class Word, class Index, unsigned Threads, unsigned Each>
BANDGATE_KERNEL BANDGATE_BOUNDS(Threads) void gather_tile(Index const* __restrict__ index,
                                                          Word const* __restrict__ in,
                                                          Word* __restrict__ out,
                                                          std::uint64_t count) {
  std::uint64_t const tile = std::uint64_t{blockIdx.x} * (Threads * Each);
  if (tile + Threads * Each > count) {
    BANDGATE_NO_UNROLL
    for (std::uint64_t i = tile + threadIdx.x; i < count; i += Threads) out[i] = in[index[i]];
    return;
  }
  std::uint64_t const first = tile + threadIdx.x;
  Index place[Each];
  Word value[Each];
  BANDGATE_UNROLL
  for (unsigned k = 0; k < Each; ++k) place[k] = load_once(index + first + k * Threads);
  BANDGATE_UNROLL
  for (unsigned k = 0; k < Each; ++k) value[k] = in[place[k]];
  BANDGATE_UNROLL
  for (unsigned k = 0; k < Each; ++k) store_once(out + first + k * Threads, value[k]);
}

template <class Word, class Index, unsigned Threads, unsigned Each>
void launch_tiles(gpu_context& gpu, indirect_arrays<Word, Index> const& a) {
  constexpr std::uint64_t tile = Threads * Each;
  launch(gpu, "gather", {(a.elements + tile - 1) / tile, Threads},
         &gather_tile<Word, Index, Threads, Each>, a.index, a.in, a.out, a.elements);
}

template <class Word, class Index>
struct variant {
  std::uint64_t threads, each;
  void (*launch)(gpu_context&, indirect_arrays<Word, Index> const&);
};

/// One element a thread keeps most threads at random reads of DRAM; several keep more of them on
/// their way where the caches answer. A large block's own cache holds a span of its tile's size.
template <class Word, class Index>
constexpr variant<Word, Index> variants[] = {{256, 1, &launch_tiles<Word, Index, 256, 1>},
                                             {256, 2, &launch_tiles<Word, Index, 256, 2>},
                                             {256, 4, &launch_tiles<Word, Index, 256, 4>},
                                             {256, 8, &launch_tiles<Word, Index, 256, 8>},
                                             {1024, 8, &launch_tiles<Word, Index, 1024, 8>}};

template <class Word, class Index>
void one_pass(gpu_context& gpu, launch_shape const& shape, indirect_arrays<Word, Index> const& a) {
  for (auto const& v : variants<Word, Index>)
    if (v.threads == shape.at("threads") && v.each == shape.at("each")) return v.launch(gpu, a);
  throw usage_error("gather: no kernel of that shape");
}

template <class Word, class Index>
void on_thread(indirect_arrays<Word, Index> const& a, run_of run) {
  for (std::uint64_t i = run.begin; i < run.end; ++i) a.out[i] = a.in[a.index[i]];
}

std::vector<launch_shape> shapes(parameters const&, device_facts const& facts) {
  if (!facts.is_gpu) return host_shapes(facts);
  std::vector<launch_shape> all;
  for (auto const& v : variants<std::uint64_t, std::uint32_t>)
    all.push_back({{"threads", v.threads}, {"each", v.each}});
  return all;
}

}  // namespace

BANDGATE_PROBE(gather) {
  auto p = indirect_probe();
  p.name = "gather";
  p.summary = "Reads a vector by an index table, random within a span, and writes in order";
  p.shapes = shapes;
  set_kernels<gathered>(
      p, [](auto word, auto index) { return &one_pass<decltype(word), decltype(index)>; },
      [](auto word, auto index) { return &on_thread<decltype(word), decltype(index)>; });
  return p;
}

}  // namespace bandgate
