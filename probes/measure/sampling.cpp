// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

namespace bandgate {

std::vector<nanoseconds> sample(subject& what, clock& time, std::uint64_t iterations,
                                protocol const& rules) {
  std::vector<nanoseconds> samples;
  nanoseconds const begin = time.now();
  // The reference moves only when it is beaten by the whole improvement, so that a slow creep adds
  // up to one instead of passing unseen.
  nanoseconds reference = nanoseconds::max();
  unsigned without_improvement = 0;
  while (samples.size() < rules.samples_most) {
    nanoseconds const elapsed = what.sample(iterations);
    samples.push_back(elapsed);
    double const wanted = static_cast<double>(reference.count()) * (1 - rules.sampling_improvement);
    if (static_cast<double>(elapsed.count()) <= wanted && elapsed < reference) {
      reference = elapsed;
      without_improvement = 0;
    } else {
      ++without_improvement;
    }
    if (samples.size() < rules.samples_least) continue;
    if (without_improvement >= rules.sampling_patience) break;
    if (time.now() - begin >= rules.sampling_budget) break;
  }
  return samples;
}

}  // namespace bandgate
