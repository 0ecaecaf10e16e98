// SPDX-License-Identifier: Apache-2.0
/// Measuring what a baseline is made of: fresh processes on every card, nothing dropped.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "records/baselines.hpp"
#include "runner/check.hpp"

namespace bandgate {

struct record_plan {
  std::vector<check_plan::device> devices;  ///< of one model
  std::vector<task> tasks;
  unsigned processes{10};
};

/// Measures every probe in so many fresh processes on every device, devices at the same time.
/// `done` hears of each finished process. Throws usage_error (what was asked) or measurement_error
/// (naming device, probe and process) for the first run that a baseline must not be made of:
/// failed, above the ceiling, contended, unsettled, throttled, not applicable.
std::vector<recorded_probe> record(supervisor const& runs, record_plan const& plan,
                                   std::function<void(result const&)> const& done,
                                   supervisor::progress const& listener);

}  // namespace bandgate
