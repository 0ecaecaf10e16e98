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
  std::vector<device_identity> machine;  ///< all devices, in PCI order: where peers are found
};

struct recorded {
  std::vector<recorded_probe> probes;  ///< one for each entry to be made
  std::vector<std::string> left_out;   ///< "gpu0 p2p_read: why it does not apply"
};

/// The value that an entry made of this run is held against, see recorded_probe.
double value_to_record(measurement const& m, procedure how);

/// Measures every probe in so many fresh processes on every device, devices at the same time as
/// check() does; with several peers, in so many with each.
/// `done` hears of each finished process. Throws usage_error (what was asked) or measurement_error
/// (naming device, probe and process) for the first run that a baseline must not be made of:
/// failed, above the ceiling, contended, unsettled, throttled.
recorded record(supervisor const& runs, record_plan const& plan,
                std::function<void(result const&)> const& done,
                supervisor::progress const& listener);

}  // namespace bandgate
