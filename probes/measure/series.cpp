// SPDX-License-Identifier: Apache-2.0
#include "series.hpp"

#include <algorithm>
#include <cmath>
#include <optional>

#include <fmt/format.h>

#include <bandgate/errors.hpp>

#include "iterations.hpp"
#include "measure.hpp"
#include "statistics.hpp"

namespace bandgate {
namespace {

double in_seconds(nanoseconds t) {
  return std::chrono::duration<double>(t).count();
}

/// Time per pass over one window.
double one_window(subject& what, clock& time, std::uint64_t iterations, std::uint64_t number,
                  protocol const& rules) {
  nanoseconds const begin = time.now();
  nanoseconds sum{};
  std::uint64_t passes = 0;
  do {
    nanoseconds const elapsed = what.sample(iterations);
    if (reads_nothing(elapsed))
      throw measurement_error(
          failure::zero_elapsed,
          fmt::format("a sample of window {} read {} ns for {} passes: the passes are not done, or "
                      "the timer is broken",
                      number, elapsed.count(), iterations));
    sum += elapsed;
    passes += iterations;
  } while (time.now() - begin < rules.window);
  return in_seconds(sum) / static_cast<double>(passes);
}

std::optional<double> number_in(health_snapshot const& state, char const* name) {
  auto const found = state.find(name);
  if (found == state.end() || found->second.status != health_field::state::ok) return std::nullopt;
  auto const* value = std::get_if<double>(&found->second.value);
  return value != nullptr && std::isfinite(*value) ? std::optional(*value) : std::nullopt;
}

/// A clock or a power below 0 was not read.
std::optional<double> amount_in(health_snapshot const& state, char const* name) {
  auto const value = number_in(state, name);
  return value && *value >= 0 ? value : std::nullopt;
}

}  // namespace

measured_series measure_series(std::span<subject* const> shapes, clock& time, observer& listener,
                               health_monitor& device, bool proportional, std::uint64_t windows,
                               protocol const& rules) {
  if (windows == 0) throw usage_error("measure: a series of no window; a plan sets work.windows");
  nanoseconds const begin = time.now();
  auto const chosen = make_ready(shapes, time, listener, proportional, rules);
  measured_series result;
  result.shape = chosen.shape;
  result.iterations = chosen.iterations;
  result.warm_up = time.now() - begin;
  listener.on_phase(phase::sampling);
  listener.on_progress(0, windows);
  nanoseconds const first = time.now();
  for (std::uint64_t i = 0; i < windows; ++i) {
    auto& window = result.windows.emplace_back();
    window.at = i == 0 ? 0 : in_seconds(time.now() - first);
    device.part_begins(rules.window);
    window.seconds_per_pass =
        one_window(*shapes[chosen.shape], time, chosen.iterations, i + 1, rules);
    window.state = device.part_ends();
    listener.on_progress(i + 1, windows);
  }
  return result;
}

measurement summarize(measured_series const& timed, std::uint64_t bytes_per_pass, bool is_time,
                      protocol const& rules) {
  std::vector<double> seconds;
  for (auto const& window : timed.windows) seconds.push_back(window.seconds_per_pass);
  auto m = summarize(seconds, bytes_per_pass, is_time);
  series over_time{"time", in_seconds(rules.window), {}};
  for (std::size_t i = 0; i < timed.windows.size(); ++i) {
    auto const& state = timed.windows[i].state;
    over_time.points.push_back({timed.windows[i].at, m.samples[i], amount_in(state, "sm_clock_mhz"),
                                number_in(state, "temperature_c"), amount_in(state, "power_w")});
  }
  m.series = std::move(over_time);
  m.worst = is_time ? *std::max_element(m.samples.begin(), m.samples.end())
                    : *std::min_element(m.samples.begin(), m.samples.end());
  m.drop = m.samples.back() / m.samples.front() - 1;
  return m;
}

}  // namespace bandgate
