// SPDX-License-Identifier: Apache-2.0
#include "iterations.hpp"

#include <algorithm>
#include <cmath>

namespace bandgate {
namespace {

/// Passes that last `span` at the pace of the reading. One division of exact products, so that
/// 1 us a pass gives 20 000 and not 20 001.
double passes_for(nanoseconds span, std::uint64_t count, nanoseconds elapsed) {
  double const product = static_cast<double>(span.count()) * static_cast<double>(count);
  return std::ceil(product / static_cast<double>(elapsed.count()));
}

}  // namespace

std::uint64_t most_iterations(subject const& what, protocol const& rules) {
  return std::max(rules.iteration_ceiling, what.min_iterations());
}

std::uint64_t grown(std::uint64_t count, nanoseconds elapsed, std::uint64_t most,
                    protocol const& rules) {
  std::uint64_t const room = most - count;
  if (reads_nothing(elapsed)) return count + std::min(count, room);
  double const missing = passes_for(rules.target - elapsed, count, elapsed);
  if (missing >= static_cast<double>(room)) return most;
  return count + static_cast<std::uint64_t>(missing);  // rounded up, so at least one
}

std::uint64_t retargeted(subject const& what, std::uint64_t count, nanoseconds elapsed,
                         protocol const& rules) {
  if (reads_nothing(elapsed)) return count;
  std::uint64_t const most = most_iterations(what, rules);
  std::uint64_t const least = std::max<std::uint64_t>(1, what.min_iterations());
  double const wanted = passes_for(rules.target, count, elapsed);
  if (wanted >= static_cast<double>(most)) return most;
  return std::max(least, static_cast<std::uint64_t>(wanted));
}

}  // namespace bandgate
