// SPDX-License-Identifier: Apache-2.0
#include "device/pcie_generation.hpp"

#include <charconv>
#include <iterator>

namespace bandgate {

std::optional<unsigned> pcie_generation(double gigatransfers_per_second) {
  constexpr double speeds[] = {2.5, 5, 8, 16, 32, 64};
  for (unsigned i = 0; i < std::size(speeds); ++i)
    if (gigatransfers_per_second == speeds[i]) return i + 1;
  return std::nullopt;
}

std::optional<unsigned> pcie_generation(std::string_view speed) {
  double value{};
  auto const [end, error] = std::from_chars(speed.data(), speed.data() + speed.size(), value);
  if (error != std::errc{}) return std::nullopt;
  if (!std::string_view(end, speed.data() + speed.size()).starts_with(" GT/s")) return std::nullopt;
  return pcie_generation(value);
}

}  // namespace bandgate
