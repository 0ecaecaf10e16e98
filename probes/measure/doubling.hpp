// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

#include <bandgate/subject.hpp>

#include "protocol.hpp"

namespace bandgate {

/// Throws measurement_error(not_proportional) unless twice the passes take twice the time. Only too
/// little time is a violation: passes that are not done take none, while too much time is a device
/// that slows down, which is a finding for the samples to show. A pair is measured up to three
/// times and one that fits is enough, since one disturbed sample is no proof of anything.
void require_doubling(subject& what, std::uint64_t iterations, protocol const& rules);

}  // namespace bandgate
