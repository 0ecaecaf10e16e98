// SPDX-License-Identifier: Apache-2.0
/// Passes over windows of a pool much larger than the last-level cache: each pass takes the next
/// window and the walk wraps, so that coming back to a window costs a whole pool of traffic and
/// even a small window stays cold.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <variant>

#include <bandgate/random_data.hpp>

namespace bandgate {

/// A launch over `passes` consecutive windows, in the vectors that the kernel loads.
struct window_walk {
  std::uint64_t pool;
  std::uint64_t window;  ///< at most half the pool
  std::uint64_t start;   ///< where the first window begins, below `pool`
  std::uint64_t passes;
  bool blocked;  ///< each thread its own run; else one step's vectors are neighbouring threads'
};

BANDGATE_BOTH inline std::uint64_t wrap(std::uint64_t place, std::uint64_t pool) {
  return place < pool ? place : place - pool;
}

/// One thread's walk: next() is the place in the pool of each vector it visits, total() of them, in
/// order. The step count comes from the window and the number of threads alone and is at least one;
/// a thread past the window's end visits nothing.
class window_cursor {
 public:
  BANDGATE_DEVICE window_cursor(window_walk const& walk, std::uint64_t thread,
                                std::uint64_t threads)
      : pool_(walk.pool), window_(walk.window) {
    std::uint64_t const steps = (walk.window + threads - 1) / threads;
    std::uint64_t const first = walk.blocked ? thread * steps : thread;
    std::uint64_t const end =
        walk.blocked && first + steps < walk.window ? first + steps : walk.window;
    // 32 bits are enough for a grid that fills a device: at most 2^33 vectors for at least 512
    // threads. With 64 the loop of a reading kernel would not fit the registers of a full device.
    stride_ = walk.blocked ? 1 : static_cast<std::uint32_t>(threads);
    share_ = first < end ? static_cast<std::uint32_t>((end - first - 1) / stride_ + 1) : 0;
    total_ = share_ * walk.passes;
    left_ = share_;
    begin_ = wrap(walk.start + first, pool_);
    place_ = begin_;
  }

  BANDGATE_DEVICE std::uint64_t total() const { return total_; }

  BANDGATE_DEVICE std::uint64_t next() {
    std::uint64_t const here = place_;
    place_ += stride_;
    if (--left_ == 0) {
      left_ = share_;
      begin_ = wrap(begin_ + window_, pool_);
      place_ = begin_;
    }
    place_ = wrap(place_, pool_);
    return here;
  }

 private:
  std::uint64_t pool_, window_, begin_, total_, place_;
  std::uint32_t stride_, share_, left_;
};

/// The same on the host, one window: `body(begin, end)` for the one or two runs of bytes, wrapped,
/// that a thread has of the window at `base`.
template <class Body>
void visit_window(std::uint64_t pool, std::uint64_t window, std::uint64_t base, unsigned thread,
                  unsigned threads, Body body) {
  auto const run = slice(window, thread, threads);
  auto const begin = base + run.begin;
  auto const end = base + run.end;
  if (begin < std::min(end, pool)) body(begin, std::min(end, pool));
  if (end > pool) body(std::max(begin, pool) - pool, end - pool);
}

/// Passes that visit the whole pool.
constexpr std::uint64_t passes_over(std::uint64_t pool, std::uint64_t window) {
  return (pool + window - 1) / window;
}

/// Sum of `size` bytes of the walk over random data from the start of the pool, wrapping.
template <unsigned Bits, class Context>
std::uint64_t sum_of_walk(Context& context, std::uint64_t pool, std::uint64_t size,
                          std::uint64_t seed) {
  std::uint64_t sum = 0;
  if (size >= pool) sum += size / pool * sum_of_random<Bits>(context, {pool}, seed);
  if (size % pool != 0) sum += sum_of_random<Bits>(context, {size % pool}, seed);
  return sum;
}

/// "window"
inline parameter window_parameter(parameter_value fallback, std::string help) {
  parameter p;
  p.name = "window";
  p.kind = parameter_kind::size;
  p.fallback = std::move(fallback);
  p.help = std::move(help);
  p.least = mib(1).count;
  p.most = gib(8).count;
  return p;
}

/// The work of walking `pools` pools in windows: 16 GiB in all, at most 60 % of free memory; on the
/// host the default buffer. Throws not_applicable for a window above half a pool.
inline work window_work(std::uint64_t window, device_facts const& facts, unsigned pools) {
  work w;
  std::uint64_t pool = 0;
  if (facts.is_gpu) {
    pool = std::min(gib(16).count, facts.memory_free.count / 5 * 3) / pools;
    pool = pool / mib(1).count * mib(1).count;
    if (pool < 4 * facts.last_level_cache.count || pool == 0)
      throw usage_error("a pool of " + to_string(pool, parameter_kind::size) +
                        " would measure the cache: it needs at least 4 x the last-level cache; "
                        "free memory on the device");
  } else {
    pool = streaming_buffer(std::string("auto"), facts, pools, w.notes).count;
  }
  if (window > pool / 2)
    throw not_applicable("window=" + to_string(window, parameter_kind::size) +
                         " is above half the pool of " + to_string(pool, parameter_kind::size) +
                         ": it would not stay cold");
  w.min_iterations = passes_over(pool, window);
  w.bytes_per_pass = window;
  w.buffers = {{"data", {pool}}};
  return w;
}

}  // namespace bandgate
