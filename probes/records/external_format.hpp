// SPDX-License-Identifier: Apache-2.0
/// The two formats of external results. Internal to records/.
#pragma once

#include <vector>

#include "records/baseline_place.hpp"
#include "records/external.hpp"

namespace bandgate {

/// As libbenchmark 1.5 and later write it (tried with 1.7.1).
std::vector<external_benchmark> read_google_benchmark(place const& root,
                                                      rate_counter const& counter);

/// NVBench's JSON, file version 1.
std::vector<external_benchmark> read_nvbench(place const& root);

/// A value that nothing can have been measured as (0, negative, infinite) goes to `failure` with
/// `name`.
void add_value(double value, std::string const& name, double base, std::vector<double>& to,
               std::string& failure);

}  // namespace bandgate
