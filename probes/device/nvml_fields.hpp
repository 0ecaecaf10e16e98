// SPDX-License-Identifier: Apache-2.0
/// Answers of NVML as values of the health table.
#pragma once

#include <string>
#include <vector>

#include "device/health_fields.hpp"
#include "device/nvml_symbols.hpp"

namespace bandgate {

/// Why an answer is none.
template <class T>
health_field refused(answer<T> const& got) {
  if (got.code == nvml_abi::not_supported) return not_supported();
  return unavailable(explain(got.from, got.code));
}

/// A count, of which 0 is an ordinary value.
template <class T>
health_field count(answer<T> const& got) {
  return got ? known(static_cast<double>(got.value)) : refused(got);
}

/// A clock, a power or a link: 0 is what a driver says that does not know.
template <class T>
health_field amount(answer<T> const& got, double units = 1) {
  if (got && !(got.value > 0)) return unavailable(std::string(got.from) + " reported 0");
  return got ? known(static_cast<double>(got.value) / units) : refused(got);
}

/// Whether something is so.
template <class T>
health_field flag(answer<T> const& got) {
  return got ? known(got.value != 0) : refused(got);
}

struct field_question {
  unsigned field{};
  unsigned scope{};    ///< such as a link
  char const* name{};  ///< as NVML calls the field, for messages
};
struct field_answer : answer<double> {
  nvml_abi::value_type type{};
};
/// Asks for all in one call; one answer to each question.
std::vector<field_answer> ask_fields(nvml_symbols const& symbols, nvml_abi::device card,
                                     std::vector<field_question> const& questions);

/// The first way's answer, unless only the second has one, or the first is merely missing.
template <class T>
answer<T> either(answer<T> const& first, answer<T> const& second) {
  if (first || (!second && first.code != nvml_abi::function_not_found)) return first;
  if (!second && second.code == nvml_abi::function_not_found) return first;
  return second;
}

void add_clock_counters(health_snapshot& fields, nvml_symbols const& symbols,
                        nvml_abi::device card);
void add_links(health_snapshot& fields, nvml_symbols const& symbols, nvml_abi::device card);
void add_memory_errors(health_snapshot& fields, nvml_symbols const& symbols, nvml_abi::device card);
void add_memory(health_snapshot& fields, nvml_symbols const& symbols, nvml_abi::device itself);

}  // namespace bandgate
