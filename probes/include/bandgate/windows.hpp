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

/// One thread's share of a window: first, first + stride … below end. The step count comes from the
/// window and the number of threads alone and is at least one; a thread past the window's end has
/// an empty share.
struct window_share {
  std::uint64_t first;
  std::uint64_t stride;
  std::uint64_t end;
};

BANDGATE_BOTH inline window_share share_of(window_walk const& walk, std::uint64_t thread,
                                           std::uint64_t threads) {
  if (!walk.blocked) return {thread, threads, walk.window};
  std::uint64_t const steps = (walk.window + threads - 1) / threads;
  std::uint64_t const first = thread * steps;
  return {first, 1, first + steps < walk.window ? first + steps : walk.window};
}

BANDGATE_BOTH inline std::uint64_t wrap(std::uint64_t place, std::uint64_t pool) {
  return place < pool ? place : place - pool;
}

/// One thread's whole walk. `visit(inside, place)` for groups of Group vectors, `inside[k]` saying
/// which exist: a group's loads can so be issued together.
template <unsigned Group, class Visit>
BANDGATE_DEVICE inline void walk_windows(window_walk const& walk, std::uint64_t thread,
                                         std::uint64_t threads, Visit visit) {
  window_share const share = share_of(walk, thread, threads);
  std::uint64_t base = walk.start;
  BANDGATE_NO_UNROLL
  for (std::uint64_t pass = 0; pass < walk.passes; ++pass) {
    BANDGATE_NO_UNROLL
    for (std::uint64_t at = share.first; at < share.end; at += Group * share.stride) {
      bool inside[Group];
      std::uint64_t place[Group];
      BANDGATE_UNROLL
      for (unsigned k = 0; k < Group; ++k) {
        inside[k] = at + k * share.stride < share.end;
        place[k] = wrap(base + at + k * share.stride, walk.pool);
      }
      visit(inside, place);
    }
    base = wrap(base + walk.window, walk.pool);
  }
}

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
