// SPDX-License-Identifier: Apache-2.0
#include "measure.hpp"

#include <fmt/format.h>

#include <bandgate/errors.hpp>

#include "doubling.hpp"
#include "iterations.hpp"

namespace bandgate {
namespace {

readied fastest_of(std::span<subject* const> shapes, std::uint64_t start, protocol const& rules) {
  readied best{0, start};
  double best_seconds = 0;
  for (std::size_t i = 0; i < shapes.size(); ++i) {
    ranked const r = rank(*shapes[i], start, rules);
    start = r.iterations;
    // A blind shape reads 0 and wins: its samples then end the run, instead of hiding behind a
    // shape that can be timed.
    if (i == 0 || r.seconds_per_pass < best_seconds) {
      best = {i, r.iterations};
      best_seconds = r.seconds_per_pass;
    }
  }
  return best;
}

std::vector<double> per_pass(std::vector<nanoseconds> const& samples, std::uint64_t iterations) {
  std::vector<double> seconds;
  seconds.reserve(samples.size());
  for (nanoseconds const elapsed : samples) {
    if (reads_nothing(elapsed))
      throw measurement_error(
          failure::zero_elapsed,
          fmt::format("sample {} of {} read {} ns for {} passes: the passes are not done, or the "
                      "timer is broken",
                      seconds.size() + 1, samples.size(), elapsed.count(), iterations));
    seconds.push_back(std::chrono::duration<double>(elapsed).count() /
                      static_cast<double>(iterations));
  }
  return seconds;
}

}  // namespace

readied make_ready(std::span<subject* const> shapes, clock& time, observer& listener,
                   bool proportional, protocol const& rules) {
  if (shapes.empty())
    throw usage_error("measure: no launch shape to measure; a probe declares at least one");
  listener.on_phase(phase::warm_up);
  readied chosen{0, warm_up(*shapes[0], time, rules)};
  if (shapes.size() > 1) {
    listener.on_phase(phase::ranking);
    chosen = fastest_of(shapes, chosen.iterations, rules);
  }
  if (proportional) require_doubling(*shapes[chosen.shape], chosen.iterations, rules);
  return chosen;
}

measured measure(std::span<subject* const> shapes, clock& time, observer& listener,
                 bool proportional, protocol const& rules) {
  nanoseconds const begin = time.now();
  auto const chosen = make_ready(shapes, time, listener, proportional, rules);
  measured result;
  result.shape = chosen.shape;
  result.iterations = chosen.iterations;
  result.warm_up = time.now() - begin;
  listener.on_phase(phase::sampling);
  result.seconds_per_pass =
      per_pass(sample(*shapes[chosen.shape], time, chosen.iterations, rules), chosen.iterations);
  return result;
}

}  // namespace bandgate
