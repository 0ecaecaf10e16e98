// SPDX-License-Identifier: Apache-2.0
#include "gate/series.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <bandgate/parts.hpp>

#include "gate/numbers.hpp"

namespace bandgate {

std::optional<reason> dropped(measurement const& m, std::vector<comparison> const& held) {
  if (!m.drop || m.samples.empty()) return std::nullopt;
  double const loss = m.is_time ? *m.drop : -*m.drop;
  comparison const* tightest = nullptr;
  for (auto const& c : held)
    if (loss > c.tolerance && (tightest == nullptr || c.tolerance < tightest->tolerance))
      tightest = &c;
  if (tightest == nullptr) return std::nullopt;
  return reason{
      "dropped",
      fmt::format("the last of {} windows, {}, is {} {} the first, {}; the tolerance is {} ({})",
                  m.samples.size(), value_text(m.samples.back(), m.is_time), percent_text(loss),
                  m.is_time ? "above" : "below", value_text(m.samples.front(), m.is_time),
                  percent_text(tightest->tolerance), tightest->applied.file)};
}

std::optional<reason> uneven(measurement const& m, std::vector<comparison> const& held) {
  if (!m.series || m.series->axis != "address" || m.is_time || !m.worst || m.peak <= 0)
    return std::nullopt;
  double const loss = 1 - *m.worst / m.peak;
  for (auto const& c : held)
    if (c.relative_to == "median" && loss > c.tolerance)
      return reason{
          "uneven",
          fmt::format("the slowest slice, {}, is {} below the fastest, {}; the tolerance "
                      "is {} ({})",
                      value_text(*m.worst, false), percent_text(loss), value_text(m.peak, false),
                      percent_text(c.tolerance), c.applied.file)};
  return std::nullopt;
}

std::optional<reason> slowest_part_reason(measurement const& m, comparison const& broken) {
  if (!m.series || m.series->points.empty() || broken.applied.statistic != "worst")
    return std::nullopt;
  auto const& bound = m.is_time ? broken.applied.upper : broken.applied.lower;
  auto const& points = m.series->points;
  auto const beyond = std::count_if(points.begin(), points.end(), [&](series::point const& p) {
    return bound && (m.is_time ? p.value > *bound : p.value < *bound);
  });
  auto const slowest = slowest_part(m);
  auto text = fmt::format("the slowest is {} ({})", part_text(*m.series, slowest),
                          value_text(points[slowest].value, m.is_time));
  if (beyond > 1) text += fmt::format("; {} are beyond the bound", beyond);
  return reason{"slowest-part", std::move(text)};
}

}  // namespace bandgate
