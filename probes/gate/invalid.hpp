// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <bandgate/baseline.hpp>
#include <bandgate/result.hpp>

namespace bandgate {

/// Why what was measured is no measurement: none, empty, not a number above zero, not verified.
std::optional<reason> invalid(result const& measured);

/// Faster than the memory can be. The device's own peak decides; where the driver does not say, the
/// peak that the model's baseline file states.
std::optional<reason> above_ceiling(result const& measured, baseline_match const& against);

/// What failed, for a person: the message, and the device where the message does not name it.
reason failure_reason(result const& measured);

/// Whether nothing was measured or something beside the others.
inline constexpr char const* contended_step =
    "Measure again when the device is free: `--wait-idle 10m` waits for it; `--allow-contention` "
    "measures beside the others, which is never a pass.";

/// What to do about it, one sentence. `code` as in results: a failure's spelling or a reason's.
char const* step_after(std::string const& code);

}  // namespace bandgate
