// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string_view>

namespace bandgate {

/// 5 of "32.0 GT/s PCIe", as the kernel writes a link's speed; none for any other text.
std::optional<unsigned> pcie_generation(std::string_view speed);

/// 5 of 32: the generation whose lanes carry so many gigatransfers a second.
std::optional<unsigned> pcie_generation(double gigatransfers_per_second);

}  // namespace bandgate
