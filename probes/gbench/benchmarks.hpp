// SPDX-License-Identifier: Apache-2.0
/// The catalog as benchmarks.
#pragma once

#include <string>

#include <bandgate/session.hpp>

#include "runner/task.hpp"

namespace bandgate::gbench {

/// What the benchmarks of one run left.
struct outcome {
  unsigned measured{}, failed{}, skipped{};
};

/// "bandgate/gather/span=1024": '/' separates, as Google Benchmark's own names.
std::string name_of(task const& one);

/// Registers one benchmark for each probe with its defaults, and for each other set of parameters
/// that a suite names. Its body runs the whole protocol once and reports the median time of a pass,
/// so a repetition is a measurement. `device` (null: nothing is run, only listed) and `counted`
/// must outlive the run.
void register_catalog(session* device, outcome& counted);

/// Tells Google Benchmark who the device is.
void add_context(device_identity const& device);

}  // namespace bandgate::gbench
