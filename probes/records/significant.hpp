// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <fmt/format.h>

#include <charconv>

namespace bandgate {

/// `value` to so many significant decimal digits. By from_chars, since strtod reads by the locale.
inline double significant(double value, int digits) {
  auto const text = fmt::format("{:.{}e}", value, digits - 1);
  double result = value;
  std::from_chars(text.data(), text.data() + text.size(), result);
  return result;
}

}  // namespace bandgate
