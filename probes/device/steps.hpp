// SPDX-License-Identifier: Apache-2.0
/// What a worker says before it asks what may never answer: where it hung, should it hang.
#pragma once

namespace bandgate {

inline constexpr char const* asking_driver = "asking the driver";
inline constexpr char const* asking_library = "asking the management library";
inline constexpr char const* looking_at = "looking at";  ///< and the device
/// While others compute on the device, each time that it looks.
inline constexpr char const* waiting_for_others = "waiting for others";

}  // namespace bandgate
