// SPDX-License-Identifier: Apache-2.0
/// Pure statistics of samples; every formula is tested on literals.
#pragma once

#include <optional>
#include <span>

#include <bandgate/result.hpp>

namespace bandgate {

/// Median; the mean of the middle two for even counts. Precondition: not empty.
double median(std::span<double const> values);
/// Linear interpolation between closest ranks (Hyndman-Fan type 7), 0 <= p <= 1.
double percentile(std::span<double const> values, double p);
/// n - 1, two passes. None for fewer than two.
std::optional<double> standard_deviation(std::span<double const> values);

struct trend {
  double change;          ///< fitted over the whole span of samples, as a share of the median
  double standard_error;  ///< of `change`
};
/// Least squares over the sample index. None for fewer than three.
std::optional<trend> fit_trend(std::span<double const> values);

/// |change| > max(1 %, 5 standard errors).
bool is_unsettled(trend const& t);

/// Statistics of rates (bytes per second) from times per pass, or of the times themselves where
/// `is_time`. Fills all of measurement but iterations, bytes_per_pass, warm_up_s, verified, more.
/// Throws measurement_error(zero_elapsed) for an empty list or a value that is not above zero.
measurement summarize(std::span<double const> seconds_per_pass, std::uint64_t bytes_per_pass,
                      bool is_time);

}  // namespace bandgate
