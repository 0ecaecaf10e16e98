// SPDX-License-Identifier: Apache-2.0
/// What the doctor says of a device. Pure: values to values and text.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include <string>
#include <vector>

#include <bandgate/result.hpp>

#include "gate/diagnose.hpp"

namespace bandgate::cli {

/// The worst that holds of a device.
enum class condition {
  clean,
  unknown,   ///< nothing abnormal, but no management library to see it
  degraded,  ///< something will cost bandwidth
  unusable,  ///< it does not answer, or nothing can run on it
};

struct examined {
  std::string id;  ///< "gpu0"
  device_identity device;
  bandgate::health health;
  std::string lost;  ///< not empty: it does not answer, and why
  bandgate::diagnosis diagnosis;
};

condition condition_of(examined const& one);
char const* to_string(condition is);
/// For exit codes and schedulers: pass, inconclusive, regression, error.
status status_of(condition is);

/// "34 C, 78 of 700 W, memory 3201 MHz, PCIe 5 x16, ECC on, 18 of 18 NVLinks up": of these, what
/// was read.
std::string state_text(examined const& one);

/// "2 findings: power-limit: the power limit …; ecc-pending: …": the worst of it in one line.
std::string headline(examined const& one);

/// What to do about the worst of it; empty where nothing must be done.
std::string next_step(examined const& one);

/// A heading, the state, and three lines for each finding.
std::string doctor_text(examined const& one);

nlohmann::ordered_json doctor_json(examined const& one);

}  // namespace bandgate::cli
