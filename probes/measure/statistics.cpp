// SPDX-License-Identifier: Apache-2.0
#include "statistics.hpp"

#include <algorithm>
#include <cmath>
#include <vector>

#include <bandgate/errors.hpp>

namespace bandgate {
namespace {

std::vector<double> sorted(std::span<double const> values) {
  std::vector<double> copy(values.begin(), values.end());
  std::sort(copy.begin(), copy.end());
  return copy;
}

double mean(std::span<double const> values) {
  double sum = 0;
  for (double const v : values) sum += v;
  return sum / static_cast<double>(values.size());
}

/// Samples that are all equal say that the timer is coarser than the noise: nothing is known of
/// their spread, and a 0 would make every later difference infinitely significant.
bool all_equal(std::span<double const> values) {
  return std::adjacent_find(values.begin(), values.end(), std::not_equal_to<>{}) == values.end();
}

std::vector<double> values_of(std::span<double const> seconds, std::uint64_t bytes_per_pass,
                              bool is_time) {
  if (seconds.empty()) throw measurement_error(failure::zero_elapsed, "no sample was taken");
  if (!is_time && bytes_per_pass == 0)
    throw usage_error("a pass is counted as 0 bytes; a probe's plan must set bytes_per_pass");
  std::vector<double> values;
  values.reserve(seconds.size());
  for (double const s : seconds) {
    double const value = is_time ? s : static_cast<double>(bytes_per_pass) / s;
    if (!(s > 0) || !std::isfinite(s) || !std::isfinite(value))
      throw measurement_error(failure::zero_elapsed,
                              "a sample's time per pass is not a number above zero");
    values.push_back(value);
  }
  return values;
}

}  // namespace

double median(std::span<double const> values) {
  return percentile(values, 0.5);
}

// R. J. Hyndman, Y. Fan: Sample quantiles in statistical packages, 1996, definition 7.
double percentile(std::span<double const> values, double p) {
  auto const ordered = sorted(values);
  double const rank = p * static_cast<double>(ordered.size() - 1);
  auto const below = static_cast<std::size_t>(rank);
  auto const above = std::min(below + 1, ordered.size() - 1);
  double const share = rank - static_cast<double>(below);
  return ordered[below] + share * (ordered[above] - ordered[below]);
}

std::optional<double> standard_deviation(std::span<double const> values) {
  if (values.size() < 2) return std::nullopt;
  double const centre = mean(values);
  double squares = 0;
  for (double const v : values) squares += (v - centre) * (v - centre);
  return std::sqrt(squares / static_cast<double>(values.size() - 1));
}

std::optional<trend> fit_trend(std::span<double const> values) {
  if (values.size() < 3) return std::nullopt;
  auto const n = static_cast<double>(values.size());
  double const middle = (n - 1) / 2;
  double const centre = mean(values);
  double sum_xx = 0, sum_xy = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    double const x = static_cast<double>(i) - middle;
    sum_xx += x * x;
    sum_xy += x * (values[i] - centre);
  }
  double const slope = sum_xy / sum_xx;
  double residuals = 0;
  for (std::size_t i = 0; i < values.size(); ++i) {
    double const x = static_cast<double>(i) - middle;
    double const off = values[i] - centre - slope * x;
    residuals += off * off;
  }
  double const span = (n - 1) / median(values);
  return trend{slope * span, std::sqrt(residuals / (n - 2) / sum_xx) * span};
}

bool is_unsettled(trend const& t) {
  return std::abs(t.change) > std::max(0.01, 5 * t.standard_error);
}

measurement summarize(std::span<double const> seconds_per_pass, std::uint64_t bytes_per_pass,
                      bool is_time) {
  auto values = values_of(seconds_per_pass, bytes_per_pass, is_time);
  measurement m;
  m.is_time = is_time;
  m.median = median(values);
  m.peak = is_time ? *std::min_element(values.begin(), values.end())
                   : *std::max_element(values.begin(), values.end());
  m.p05 = percentile(values, 0.05);
  m.p95 = percentile(values, 0.95);
  if (!all_equal(values)) m.sd = standard_deviation(values);
  if (m.sd) m.cv = *m.sd / mean(values);
  if (auto const t = fit_trend(values)) {
    m.slope = t->change;
    m.unsettled = is_unsettled(*t);
  }
  m.samples = std::move(values);
  return m;
}

}  // namespace bandgate
