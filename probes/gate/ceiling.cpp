// SPDX-License-Identifier: Apache-2.0
#include <cmath>

#include "gate/judge.hpp"

namespace bandgate {

std::optional<double> ceiling_of(result const& measured) {
  // Peaks of links need the link's generation, width and count under load: not known here.
  if (measured.probe.ceiling != "dram") return std::nullopt;
  auto const& peak = measured.device.peak_bytes_per_second;
  // Some drivers report a memory clock or a bus width of 0: that is no peak, not a peak of 0.
  if (!peak || !std::isfinite(*peak) || *peak <= 0) return std::nullopt;
  return peak;
}

}  // namespace bandgate
