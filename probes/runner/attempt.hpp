// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <vector>

#include <bandgate/observer.hpp>
#include <bandgate/result.hpp>
#include <bandgate/session.hpp>

namespace bandgate {

/// What a probe declares, as a result records it.
probe_record record_of(probe const& what, parameters const& values);

/// One probe on one open device, in this process: from filling its buffers to the last
/// verification, as its procedure says. A failure or a skip is a value in the result; usage_error
/// passes through. Leaves `run` and `verdict` alone. `relative_to` are further probes that are
/// measured after it, with their defaults, so that their rates and the ratios to them are among the
/// values: those that baseline entries ask for, besides the one that the probe itself names.
result measure_attempt(session& device, probe const& what, parameters const& values,
                       observer& listener, std::vector<std::string> const& relative_to = {});

/// One launch with so many passes, nothing verified, timed or stored: for a profiler.
void profile_launch(session& device, probe const& what, parameters const& values);

}  // namespace bandgate
