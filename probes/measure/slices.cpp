// SPDX-License-Identifier: Apache-2.0
#include "slices.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <bandgate/errors.hpp>
#include <bandgate/parts.hpp>

#include "iterations.hpp"
#include "measure.hpp"
#include "statistics.hpp"

namespace bandgate {
namespace {

/// As many passes as last the shorter target, at the pace at which `iterations` last the longer.
std::uint64_t shortened(std::uint64_t iterations, subject const& what, protocol const& rules) {
  double const share =
      static_cast<double>(rules.slice_target.count()) / static_cast<double>(rules.target.count());
  auto const passes = static_cast<std::uint64_t>(static_cast<double>(iterations) * share + 0.5);
  return std::max({std::uint64_t{1}, what.min_iterations(), passes});
}

double one_slice(subject& what, std::uint64_t iterations, std::uint64_t number,
                 protocol const& rules) {
  std::vector<double> seconds;
  for (unsigned i = 0; i < rules.slice_samples; ++i) {
    nanoseconds const elapsed = what.sample(iterations);
    if (reads_nothing(elapsed))
      throw measurement_error(
          failure::zero_elapsed,
          fmt::format("a sample of slice {} read {} ns for {} passes: the passes are not done, or "
                      "the timer is broken",
                      number, elapsed.count(), iterations));
    seconds.push_back(std::chrono::duration<double>(elapsed).count() /
                      static_cast<double>(iterations));
  }
  return median(seconds);
}

}  // namespace

measured_slices measure_slices(std::span<subject* const> shapes,
                               std::function<void(std::uint64_t)> const& select,
                               std::uint64_t slices, clock& time, observer& listener,
                               bool proportional, protocol const& rules) {
  if (slices == 0) throw usage_error("measure: a map of no slice; a plan sets work.slices");
  nanoseconds const begin = time.now();
  select(0);
  auto const chosen = make_ready(shapes, time, listener, proportional, rules);
  auto& what = *shapes[chosen.shape];
  measured_slices result;
  result.shape = chosen.shape;
  result.iterations = shortened(chosen.iterations, what, rules);
  result.warm_up = time.now() - begin;
  listener.on_phase(phase::sampling);
  listener.on_progress(0, slices);
  for (std::uint64_t i = 0; i < slices; ++i) {
    select(i);
    result.seconds_per_pass.push_back(one_slice(what, result.iterations, i + 1, rules));
    listener.on_progress(i + 1, slices);
  }
  return result;
}

measurement summarize(measured_slices const& timed, work const& planned, bool is_time) {
  // As if each were whole, so that the time of the last one, which may be shorter, compares.
  std::vector<double> seconds = timed.seconds_per_pass;
  for (std::size_t i = 0; i < seconds.size(); ++i)
    seconds[i] *=
        static_cast<double>(planned.slice_bytes) / static_cast<double>(bytes_of_slice(planned, i));
  auto m = summarize(seconds, planned.slice_bytes, is_time);
  m.unsettled = false;
  series map{"address", static_cast<double>(planned.slice_bytes), {}};
  for (std::size_t i = 0; i < m.samples.size(); ++i)
    map.points.push_back({static_cast<double>(i) * static_cast<double>(planned.slice_bytes),
                          m.samples[i],
                          {},
                          {},
                          {}});
  m.series = std::move(map);
  m.worst = is_time ? *std::max_element(m.samples.begin(), m.samples.end())
                    : *std::min_element(m.samples.begin(), m.samples.end());
  return m;
}

}  // namespace bandgate
