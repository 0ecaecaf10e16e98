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

/// Why a probe was given up.
struct refusal {
  enum class kind { failed, contended, usage };
  std::string sentence;  ///< with device, probe and process
  kind what{};
};

struct recorded {
  std::vector<recorded_probe> probes;  ///< one for each entry to be made
  std::vector<std::string> left_out;   ///< "gpu0 p2p_read: why it does not apply"
  std::vector<std::string> repeated;   ///< "gpu0 read, process 2 of 10: why it was measured again"
  /// Runs that a baseline must not be made of (failed, above the ceiling, contended, unsettled,
  /// throttled, asked for wrongly). Their probes are not among `probes`.
  std::vector<refusal> refused;
};

/// The value that an entry made of this run is held against, see recorded_probe.
double value_to_record(measurement const& m, procedure how);

/// Measures every probe in so many fresh processes on every device, devices at the same time as
/// check() does; with several peers, in so many with each.
/// `done` hears of each finished process and its number. A process whose samples did not settle is
/// measured again, three times a card and probe. A probe is given up at its first other run that a
/// baseline must not be made of; the others go on.
recorded record(supervisor const& runs, record_plan const& plan,
                std::function<void(result const&, unsigned process)> const& done,
                supervisor::progress const& listener);

}  // namespace bandgate
