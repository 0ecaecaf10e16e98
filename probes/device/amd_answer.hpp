// SPDX-License-Identifier: Apache-2.0
/// What AMD's two management libraries have in common: how they answer, and what they lack.
#pragma once

#include <limits>
#include <string>

#include "device/health_fields.hpp"
#include "device/symbol.hpp"

namespace bandgate {

/// The codes that both libraries have at the same places.
namespace amd_code {
constexpr int success = 0;
constexpr int invalid = 1;
constexpr int not_supported = 2;
constexpr int missing = -1;  ///< ours: the library has no such function
}  // namespace amd_code

/// One answer: a value, or who refused it and why.
template <class T>
struct amd_answer {
  int code{};
  T value{};
  char const* from{};  ///< the function asked
  explicit operator bool() const { return code == amd_code::success; }
};

/// Calls `asked(arguments…, &value)`.
template <class T, class Function, class... Arguments>
amd_answer<T> amd_ask(symbol<Function> const& asked, Arguments... arguments) {
  amd_answer<T> got{amd_code::missing, {}, asked.name};
  if (asked.call != nullptr) got.code = asked.call(arguments..., &got.value);
  return got;
}

/// "amdsmi_get_power_info: permission denied (10)" of what `meaning` says of the code.
std::string amd_explain(char const* function, int code, char const* meaning);

/// `value`, in units of 1 / `units`, if the answer is one. Both libraries write all ones where the
/// device has no such value.
template <class T, class Value>
health_field amd_field(amd_answer<T> const& got, Value value, double units,
                       char const* (*meaning)(int)) {
  if (got.code == amd_code::not_supported) return not_supported();
  if (!got) return unavailable(amd_explain(got.from, got.code, meaning(got.code)));
  if (value == std::numeric_limits<Value>::max()) return not_supported();
  return known(static_cast<double>(value) / units);
}

/// As amd_field, for what is never 0: a clock, a power, a link.
template <class T, class Value>
health_field amd_amount(amd_answer<T> const& got, Value value, double units,
                        char const* (*meaning)(int)) {
  if (got && value == 0) return unavailable(std::string(got.from) + " reported 0");
  return amd_field(got, value, units, meaning);
}

}  // namespace bandgate
