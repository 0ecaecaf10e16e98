// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bandgate {

/// A further value of a measurement, such as the second direction of a transfer.
struct named_value {
  std::string name;
  std::string unit;  ///< "B/s", "s", or "1" for a ratio
  double value{};
};

/// Bytes per second that a pass moves through the memory where that is more than what is counted:
/// held against the memory's peak like the counted bytes.
inline constexpr char const* traffic_name = "traffic with index bytes";

}  // namespace bandgate
