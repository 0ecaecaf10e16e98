// SPDX-License-Identifier: Apache-2.0
#include "gate/numbers.hpp"

#include <fmt/format.h>

#include <bandgate/units.hpp>

namespace bandgate {

std::string value_text(double base, bool is_time) {
  unit const u = is_time ? unit::microseconds : unit::gib_per_s;
  double const value = from_base(base, u);
  int const digits = value >= 1000 ? 1 : value >= 100 ? 2 : 3;
  return fmt::format("{:.{}f} {}", value, digits, to_string(u));
}

std::string percent_text(double share) {
  return fmt::format("{:.2f} %", 100 * share);
}

std::string memory_text(std::uint64_t bytes) {
  return fmt::format("{:.1f} GiB", static_cast<double>(bytes) / 1073741824.0);
}

}  // namespace bandgate
