// SPDX-License-Identifier: Apache-2.0
/// Reads one entry of a baseline file. Internal to records/.
#pragma once

#include <string>
#include <vector>

#include "records/baseline_place.hpp"
#include "records/baselines.hpp"

namespace bandgate {

baseline_entry read_entry(place const& at, baseline_file const& file,
                          std::vector<probe> const& probes, std::vector<std::string>& warnings);

/// The declaration of that probe, or nothing.
probe const* declared(std::vector<probe> const& probes, std::string const& name);

}  // namespace bandgate
