// SPDX-License-Identifier: Apache-2.0
/// A measurement over a memory: one short measurement of each of its slices.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <span>
#include <vector>

#include <bandgate/observer.hpp>
#include <bandgate/probe.hpp>
#include <bandgate/result.hpp>
#include <bandgate/subject.hpp>

#include "protocol.hpp"

namespace bandgate {

struct measured_slices {
  std::size_t shape{};                   ///< index of the winner in `shapes`
  std::uint64_t iterations{};            ///< passes a sample
  std::vector<double> seconds_per_pass;  ///< of each slice, in order: the median of its samples
  nanoseconds warm_up{};                 ///< wall clock spent before the first slice
};

/// Makes ready on the first slice as `measure` does (so shapes are ranked and proportionality is
/// checked once), then takes a few short samples of each. `select` makes the subjects work on
/// another slice. Announces warm_up, ranking, sampling and each slice that is over. Throws
/// measurement_error (zero_elapsed, not_proportional) and usage_error for nothing to do.
measured_slices measure_slices(std::span<subject* const> shapes,
                               std::function<void(std::uint64_t)> const& select,
                               std::uint64_t slices, clock& time, observer& listener,
                               bool proportional, protocol const& rules = {});

/// Statistics with the slices of `planned` as samples, and the map and its slowest slice. There is
/// no order in time to settle in: a trend over the addresses is stated and is not `unsettled`.
measurement summarize(measured_slices const& timed, work const& planned, bool is_time);

}  // namespace bandgate
