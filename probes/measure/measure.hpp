// SPDX-License-Identifier: Apache-2.0
/// The measurement protocol on an abstract subject and clock.
#pragma once

#include <chrono>
#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <bandgate/observer.hpp>
#include <bandgate/subject.hpp>

#include "protocol.hpp"

namespace bandgate {

/// Grows the count until one sample lasts the target, then waits for a plateau. Returns the count,
/// never below subject.min_iterations().
std::uint64_t warm_up(subject& what, clock& time, protocol const& rules);

struct ranked {
  std::uint64_t iterations{};  ///< the count that lasts about the target
  double seconds_per_pass{};  ///< of the fastest of the ranking samples; 0 where the timer is blind
};

/// One throw-away launch, one to re-target the count, fastest of 3. `start`: where to begin, the
/// count that the shape before it ended with.
ranked rank(subject& what, std::uint64_t start, protocol const& rules);

/// Repeats samples at that count until the rules say enough. One duration a sample, in order.
std::vector<nanoseconds> sample(subject& what, clock& time, std::uint64_t iterations,
                                protocol const& rules);

/// What is known of the shapes before anything is sampled.
struct readied {
  std::size_t shape{};         ///< index of the fastest
  std::uint64_t iterations{};  ///< passes a sample
};

/// Warms the device with the first shape, ranks all where there are several, checks that twice the
/// passes take twice the time (`proportional`). Announces warm_up and ranking. Throws
/// measurement_error(not_proportional) and usage_error for no shape.
readied make_ready(std::span<subject* const> shapes, clock& time, observer& listener,
                   bool proportional, protocol const& rules);

struct measured {
  std::size_t shape{};                   ///< index of the winner in `shapes`
  std::uint64_t iterations{};            ///< passes a sample
  std::vector<double> seconds_per_pass;  ///< one per sample, in order
  nanoseconds warm_up{};                 ///< wall clock spent before sampling
};

/// The whole of it: makes ready and samples the winner. Announces warm_up, ranking and sampling to
/// `listener`. Throws measurement_error (zero_elapsed, not_proportional) and usage_error for no
/// shape.
measured measure(std::span<subject* const> shapes, clock& time, observer& listener,
                 bool proportional, protocol const& rules = {});

}  // namespace bandgate
