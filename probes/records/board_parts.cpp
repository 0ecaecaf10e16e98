// SPDX-License-Identifier: Apache-2.0
#include "records/board_parts.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <string>

namespace bandgate {
namespace {

double lower_bound_of(baseline_entry const& entry) {
  return entry.value * (1 + entry.lower);
}

bool comparable(baseline_entry const& a, baseline_entry const& b) {
  return a.statistic == b.statistic && a.unit == b.unit && a.relative_to == b.relative_to;
}

/// In the entries' unit.
std::optional<double> greatest_upper_bound(std::vector<baseline_entry const*> const& all) {
  double greatest = 0;
  for (auto const* entry : all) {
    if (!entry->upper) return std::nullopt;
    greatest = std::max(greatest, entry->value * (1 + *entry->upper));
  }
  return greatest;
}

std::string named(std::vector<baseline_entry const*> const& all) {
  std::vector<std::string> pointers;
  for (auto const* entry : all) pointers.push_back(entry->pointer);
  return fmt::format("{} board parts ({})", all.size(), fmt::join(pointers, ", "));
}

}  // namespace

std::optional<baseline_entry> joined(std::vector<baseline_entry const*> const& by_board_part) {
  if (by_board_part.empty()) return std::nullopt;
  for (auto const* entry : by_board_part)
    if (!comparable(*entry, *by_board_part.front())) return std::nullopt;
  auto const lowest = std::min_element(
      by_board_part.begin(), by_board_part.end(),
      [](auto const* a, auto const* b) { return lower_bound_of(*a) < lower_bound_of(*b); });
  baseline_entry all = **lowest;
  if (by_board_part.size() == 1) return all;
  auto const upper = greatest_upper_bound(by_board_part);
  all.upper = upper ? std::optional(*upper / all.value - 1) : std::nullopt;
  all.board_part = named(by_board_part);
  return all;
}

}  // namespace bandgate
