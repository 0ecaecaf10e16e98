// SPDX-License-Identifier: Apache-2.0
/// The only place that maps outcomes to exit codes.
#pragma once

#include <vector>

#include <bandgate/result.hpp>

namespace bandgate::cli {

inline constexpr int ok = 0;
inline constexpr int regression_found = 1;
inline constexpr int usage_failed = 2;
inline constexpr int measurement_failed = 3;
inline constexpr int not_judged = 4;
inline constexpr int skipped = 77;

struct outcome {
  std::vector<status> finals;    ///< of every (device, probe)
  bool recording_failed{};       ///< a result could not be written
  bool device_problem{};         ///< a device is missing or broken
  bool configuration_problem{};  ///< a driver too old for this build
  bool strict{};
};

/// The first present of 3, 1, 2, 4, 0; 77 only if all were skipped. Under strict what was not
/// judged is never a success: no device, no baseline, or nothing but skipped probes is 4.
int exit_code(outcome const& of);

}  // namespace bandgate::cli
