// SPDX-License-Identifier: Apache-2.0
/// Numbers as a person reads them in a reason.
#pragma once

#include <cstdint>
#include <string>

namespace bandgate {

/// "4302.0 GiB/s" or "12.500 us" from base units: four digits or more.
std::string value_text(double base, bool is_time);
/// "0.80 %" of a share.
std::string percent_text(double share);
/// "1.5 GiB".
std::string memory_text(std::uint64_t bytes);

}  // namespace bandgate
