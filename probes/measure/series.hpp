// SPDX-License-Identifier: Apache-2.0
/// A measurement over time: windows of one second, one after the other, after an ordinary warm-up.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <bandgate/result.hpp>
#include <bandgate/session.hpp>

#include "protocol.hpp"

namespace bandgate {

struct measured_series {
  struct window {
    double at{};                ///< seconds from the beginning of the first one
    double seconds_per_pass{};  ///< over all its passes, by the device's own timer
    health_snapshot state;      ///< what the device said in its middle
  };
  std::size_t shape{};         ///< index of the winner in `shapes`
  std::uint64_t iterations{};  ///< passes a sample
  std::vector<window> windows;
  nanoseconds warm_up{};  ///< wall clock spent before the first window
};

/// Makes ready as `measure` does, then fills `windows` windows with samples, at least one each: a
/// window ends with the sample that makes it one second of wall clock long, and the next one begins
/// there, so one that a stalled device stretched steals nothing from the others. `device` is asked
/// for its state inside each. Announces warm_up, ranking, sampling and each window that is over.
/// Throws measurement_error (zero_elapsed, not_proportional) and usage_error for nothing to do.
measured_series measure_series(std::span<subject* const> shapes, clock& time, observer& listener,
                               health_monitor& device, bool proportional, std::uint64_t windows,
                               protocol const& rules = {});

/// Statistics with the windows as samples, and the series, its worst window and its drop.
measurement summarize(measured_series const& timed, std::uint64_t bytes_per_pass, bool is_time,
                      protocol const& rules = {});

}  // namespace bandgate
