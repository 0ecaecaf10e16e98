// SPDX-License-Identifier: Apache-2.0
/// The random data that probes work on, made, summed and compared on the device itself: the sum is
/// computed from the seed, without reading memory, so it is independent of what a probe read.
/// Sizes are whole 64-bit words.
#pragma once

#include <algorithm>
#include <cstdint>
#include <cstring>
#include <limits>
#include <numeric>
#include <optional>
#include <vector>

#include <bandgate/backend.hpp>
#include <bandgate/gpu.hpp>

namespace bandgate {

/// Word i of the data that probes read, with that seed: a random word of this run of which each bit
/// is flipped, at random, with a chance of one in eight. Where every bit of every word is a coin
/// toss, half of all wires flip at each transfer, which takes an H200 to its power limit (650-700
/// W): its clock then falls, in one kernel to 675 of 1980 MHz, and the probe would measure power
/// management. These words take 100 W less at the same bandwidth, no two are equal but by a chance
/// of 10^-7, and none is 0, which a sum would not miss.
BANDGATE_BOTH constexpr std::uint64_t data_word(std::uint64_t seed, std::uint64_t i) {
  auto const base = random_word(~seed, 0);
  auto const a = random_word(seed, i);
  auto const b = a * 0xd6e8feb86659fd93ULL;  // odd factors: each as random as a
  auto const c = a * 0xa0761d6478bd642fULL;
  return base ^ (a & (b << 29 | b >> 35) & (c << 53 | c >> 11));
}

/// Sum of the Bits-wide unsigned elements that make up a 64-bit word.
template <unsigned Bits>
BANDGATE_BOTH constexpr std::uint64_t sum_of_elements(std::uint64_t word) {
  static_assert(Bits == 8 || Bits == 16 || Bits == 32 || Bits == 64);
  [[maybe_unused]] auto const low = static_cast<std::uint32_t>(word);
  [[maybe_unused]] auto const high = static_cast<std::uint32_t>(word >> 32);
  if constexpr (Bits == 8) {
    constexpr std::uint32_t even = 0x00ff00ffU;  // two 16-bit fields, of at most 4 x 255
    auto const pairs = (low & even) + ((low >> 8) & even) + (high & even) + ((high >> 8) & even);
    return (pairs & 0xffffU) + (pairs >> 16);
  } else if constexpr (Bits == 16) {
    return (low & 0xffffU) + (low >> 16) + (high & 0xffffU) + (high >> 16);
  } else if constexpr (Bits == 32) {
    return std::uint64_t{low} + high;
  } else {
    return word;
  }
}

/// One 64-bit word in device memory, for sums and for the place of the first difference.
class device_word {
 public:
  explicit device_word(gpu_context& gpu)
      : gpu_(gpu), memory_(gpu.allocate({sizeof(unsigned long long)}, "result word")) {}
  unsigned long long* at() const { return memory_.as<unsigned long long>(); }
  void clear() { gpu_.fill_bytes(at(), 0x00, memory_.size()); }
  void set_all_bits() { gpu_.fill_bytes(at(), 0xff, memory_.size()); }
  std::uint64_t read() const {
    std::uint64_t value = 0;
    gpu_.copy_to_host(&value, at(), memory_.size());
    return value;
  }

 private:
  gpu_context& gpu_;
  buffer memory_;
};

namespace kernels {

inline constexpr unsigned helper_threads = 256;

/// Enough threads to fill the device; each strides over the words.
inline launch_grid helper_grid(gpu_context const& gpu, std::uint64_t words) {
  auto const wanted = (words + helper_threads - 1) / helper_threads;
  auto const most = std::max<std::uint64_t>(gpu.facts().processors, 1) * 32;
  return {std::clamp<std::uint64_t>(wanted, 1, most), helper_threads};
}

template <class Word>
BANDGATE_KERNEL BANDGATE_BOUNDS(helper_threads) void fill_random(Word* to, std::uint64_t words,
                                                                 std::uint64_t seed) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step)
    to[i] = data_word(seed, i);
}

template <unsigned Bits>
BANDGATE_KERNEL BANDGATE_BOUNDS(helper_threads) void sum_random(std::uint64_t words,
                                                                std::uint64_t seed,
                                                                unsigned long long* total) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  std::uint64_t sum = 0;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step)
    sum += sum_of_elements<Bits>(data_word(seed, i));
  atomicAdd(total, sum);
}

/// The least i of words whose value is not Expected::at(key, i), by atomicMin into *first.
template <class Expected>
BANDGATE_KERNEL BANDGATE_BOUNDS(helper_threads) void find_difference(std::uint64_t const* from,
                                                                     std::uint64_t words,
                                                                     std::uint64_t key,
                                                                     unsigned long long* first) {
  std::uint64_t const step = std::uint64_t{gridDim.x} * blockDim.x;
  for (std::uint64_t i = std::uint64_t{blockIdx.x} * blockDim.x + threadIdx.x; i < words; i += step)
    if (from[i] != Expected::at(key, i)) {
      atomicMin(first, i);
      return;
    }
}

}  // namespace kernels

/// What `first_difference` compares with: word i of the data of that seed.
struct random_data {
  BANDGATE_BOTH static std::uint64_t at(std::uint64_t seed, std::uint64_t i) {
    return data_word(seed, i);
  }
};

inline void fill_random(gpu_context& gpu, buffer const& to, std::uint64_t seed) {
  auto const words = to.size().count / sizeof(std::uint64_t);
  launch(gpu, "fill with random data", kernels::helper_grid(gpu, words),
         &kernels::fill_random<std::uint64_t>, to.as<std::uint64_t>(), words, seed);
}

/// Sum of the Bits-wide elements of the first `size` bytes of the data with that seed.
template <unsigned Bits>
std::uint64_t sum_of_random(gpu_context& gpu, bytes size, std::uint64_t seed) {
  device_word total(gpu);
  total.clear();
  auto const words = size.count / sizeof(std::uint64_t);
  launch(gpu, "sum of the random data", kernels::helper_grid(gpu, words),
         &kernels::sum_random<Bits>, words, seed, total.at());
  return total.read();
}

/// Index of the first 64-bit word of the buffer that is not Expected::at(key, index).
template <class Expected>
std::optional<std::uint64_t> first_difference(gpu_context& gpu, buffer const& from,
                                              std::uint64_t key) {
  device_word first(gpu);
  first.set_all_bits();
  auto const words = from.size().count / sizeof(std::uint64_t);
  launch(gpu, "comparison", kernels::helper_grid(gpu, words), &kernels::find_difference<Expected>,
         from.as<std::uint64_t>(), words, key, first.at());
  auto const index = first.read();
  if (index == std::numeric_limits<std::uint64_t>::max()) return std::nullopt;
  return index;
}

/// Fills [begin, end) (bytes) of host memory that holds the data with that seed.
inline void fill_random(void* data, run_of run, std::uint64_t seed) {
  auto* const words = static_cast<std::uint64_t*>(data);
  for (std::uint64_t i = run.begin / sizeof *words; i < run.end / sizeof *words; ++i)
    words[i] = data_word(seed, i);
}

/// Each thread fills, and so touches first, the run that it will work on.
inline void fill_random(host_context& host, buffer const& to, std::uint64_t seed) {
  host.parallel([&](unsigned thread) {
    fill_random(to.as<void>(), slice(to.size().count, thread, host.threads()), seed);
  });
}

/// Sum of the Bits-wide elements of the first `size` bytes of the data with that seed.
template <unsigned Bits>
std::uint64_t sum_of_random(host_context& host, bytes size, std::uint64_t seed) {
  std::vector<std::uint64_t> sums(host.threads());
  host.parallel([&](unsigned thread) {
    auto const run = slice(size.count, thread, host.threads());
    std::uint64_t sum = 0;
    for (std::uint64_t i = run.begin / sizeof sum; i < run.end / sizeof sum; ++i)
      sum += sum_of_elements<Bits>(data_word(seed, i));
    sums[thread] = sum;
  });
  return std::accumulate(sums.begin(), sums.end(), std::uint64_t{0});
}

/// Index of the first 64-bit word of the buffer for which `expected(thread, index)` differs, where
/// `thread` owns the word's run.
template <class Expected>
std::optional<std::uint64_t> first_difference(host_context& host, buffer const& from,
                                              Expected const& expected) {
  constexpr auto none = std::numeric_limits<std::uint64_t>::max();
  std::vector<std::uint64_t> firsts(host.threads(), none);
  host.parallel([&](unsigned thread) {
    auto const* const words = from.as<std::uint64_t>();
    auto const run = slice(from.size().count, thread, host.threads());
    for (std::uint64_t i = run.begin / sizeof *words; i < run.end / sizeof *words; ++i)
      if (words[i] != expected(thread, i)) {
        firsts[thread] = i;
        break;
      }
  });
  auto const first = *std::min_element(firsts.begin(), firsts.end());
  if (first == none) return std::nullopt;
  return first;
}

}  // namespace bandgate
