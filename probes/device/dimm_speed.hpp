// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace bandgate {

/// The lowest configured speed, MT/s, of the memory modules that a SMBIOS structure table
/// (/sys/firmware/dmi/tables/DMI) describes. None where it names none.
std::optional<unsigned> configured_dimm_speed(std::string_view table);

}  // namespace bandgate
