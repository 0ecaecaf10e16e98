// SPDX-License-Identifier: Apache-2.0
/// The parts of a script from JSON that already satisfies the schema.
#pragma once

#include <nlohmann/json_fwd.hpp>

#include "backend/scripted/script.hpp"

namespace bandgate {

device_identity scripted_identity_from(nlohmann::json const& j);
scripted_health scripted_health_from(nlohmann::json const& j);
scripted_attempt scripted_attempt_from(nlohmann::json const& j);

}  // namespace bandgate
