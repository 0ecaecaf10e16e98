// SPDX-License-Identifier: Apache-2.0
#include <algorithm>

#include "iterations.hpp"
#include "measure.hpp"

namespace bandgate {

ranked rank(subject& what, std::uint64_t start, protocol const& rules) {
  std::uint64_t const least = std::max<std::uint64_t>(1, what.min_iterations());
  ranked result;
  result.iterations = std::clamp(start, least, most_iterations(what, rules));
  what.sample(result.iterations);  // thrown away: it compiles, and faults memory in
  result.iterations = retargeted(what, result.iterations, what.sample(result.iterations), rules);
  nanoseconds fastest = nanoseconds::max();
  for (unsigned i = 0; i < rules.ranking_samples; ++i) {
    nanoseconds const elapsed = what.sample(result.iterations);
    // A timer that failed once must not make its shape the fastest.
    if (!reads_nothing(elapsed)) fastest = std::min(fastest, elapsed);
  }
  if (fastest != nanoseconds::max())
    result.seconds_per_pass =
        std::chrono::duration<double>(fastest).count() / static_cast<double>(result.iterations);
  return result;
}

}  // namespace bandgate
