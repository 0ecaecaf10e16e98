// SPDX-License-Identifier: Apache-2.0
#include "measure/statistics.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>
#include <vector>

#include <bandgate/errors.hpp>

namespace bandgate {
namespace {

using values = std::vector<double>;
using ::testing::DoubleEq;
using ::testing::ElementsAre;

TEST(statistics, median_of_odd_even_and_one) {
  EXPECT_EQ(median(values{3, 1, 2}), 2.0);
  EXPECT_EQ(median(values{4, 1, 3, 2}), 2.5);
  EXPECT_EQ(median(values{7}), 7.0);
}

TEST(statistics, percentiles_interpolate_between_closest_ranks) {
  values const five{50, 10, 40, 20, 30};
  EXPECT_DOUBLE_EQ(percentile(five, 0), 10.0);
  EXPECT_DOUBLE_EQ(percentile(five, 0.05), 12.0);
  EXPECT_DOUBLE_EQ(percentile(five, 0.95), 48.0);
  EXPECT_DOUBLE_EQ(percentile(five, 1), 50.0);
}

TEST(statistics, variance_of_large_close_values_is_not_zero) {
  double const sd = standard_deviation(values{1e9 + 0.1, 1e9 + 0.2, 1e9 + 0.3}).value();
  EXPECT_NEAR(sd * sd, 0.01, 1e-7);
}

TEST(statistics, one_sample_has_no_spread) {
  EXPECT_EQ(standard_deviation(values{5}), std::nullopt);
  EXPECT_EQ(standard_deviation(values{}), std::nullopt);
  EXPECT_DOUBLE_EQ(standard_deviation(values{1, 3}).value(), std::sqrt(2.0));
}

TEST(statistics, trend_of_a_straight_line_is_exact) {
  // 100 down to 85: -15 % of the start, -15 / 92.5 of the median.
  values line;
  for (int i = 0; i < 11; ++i) line.push_back(100 - 1.5 * i);
  trend const t = fit_trend(line).value();
  EXPECT_NEAR(t.change, -15 / 92.5, 1e-12);
  EXPECT_NEAR(t.standard_error, 0, 1e-12);
  EXPECT_TRUE(is_unsettled(t));
}

TEST(statistics, trend_and_its_error_of_a_known_fit) {
  // By hand: fitted 1.4 + 0.4 i.
  trend const t = fit_trend(values{1, 2, 3, 2}).value();
  EXPECT_DOUBLE_EQ(t.change, 0.4 * 3 / 2);
  // Residuals -0.4, 0.2, 0.8, -0.6: squares 1.2, by 2 degrees of freedom, by Sxx = 5.
  EXPECT_DOUBLE_EQ(t.standard_error, std::sqrt(1.2 / 2 / 5) * 3 / 2);
}

TEST(statistics, fewer_than_three_have_no_trend) {
  EXPECT_FALSE(fit_trend(values{1, 2}).has_value());
}

TEST(statistics, unsettled_is_above_one_percent_and_above_five_standard_errors) {
  EXPECT_FALSE(is_unsettled({0.0099, 0}));
  EXPECT_TRUE(is_unsettled({0.0101, 0}));
  EXPECT_TRUE(is_unsettled({-0.0101, 0}));
  EXPECT_FALSE(is_unsettled({0.049, 0.01}));
  EXPECT_TRUE(is_unsettled({0.051, 0.01}));
}

TEST(summarize, rates_from_times_per_pass) {
  auto const m = summarize(values{0.5, 0.25, 1.0}, 100, false);
  EXPECT_FALSE(m.is_time);
  EXPECT_THAT(m.samples, ElementsAre(DoubleEq(200), DoubleEq(400), DoubleEq(100)));
  EXPECT_EQ(m.median, 200.0);
  EXPECT_EQ(m.peak, 400.0);
  EXPECT_DOUBLE_EQ(m.p05, 110.0);
  EXPECT_DOUBLE_EQ(m.p95, 380.0);
  EXPECT_DOUBLE_EQ(m.sd.value(), std::sqrt(70000.0 / 3));
  EXPECT_DOUBLE_EQ(m.cv.value(), std::sqrt(70000.0 / 3) / (700.0 / 3));
  EXPECT_DOUBLE_EQ(m.slope.value(), -50.0 * 2 / 200);
}

TEST(summarize, times_stay_times_and_the_fastest_is_the_least) {
  auto const m = summarize(values{3e-6, 1e-6, 2e-6}, 0, true);
  EXPECT_TRUE(m.is_time);
  EXPECT_EQ(m.median, 2e-6);
  EXPECT_EQ(m.peak, 1e-6);
}

TEST(summarize, one_sample_has_no_spread_and_no_slope) {
  auto const m = summarize(values{0.5}, 100, false);
  EXPECT_EQ(m.median, 200.0);
  EXPECT_EQ(m.sd, std::nullopt);
  EXPECT_EQ(m.cv, std::nullopt);
  EXPECT_EQ(m.slope, std::nullopt);
  EXPECT_FALSE(m.unsettled);
}

TEST(summarize, identical_samples_say_nothing_of_the_spread) {
  for (std::size_t n : {2u, 3u, 10u}) {
    auto const m = summarize(values(n, 0.1), 100, false);
    EXPECT_EQ(m.sd, std::nullopt) << n;
    EXPECT_EQ(m.cv, std::nullopt) << n;
    EXPECT_FALSE(m.unsettled) << n;
  }
}

TEST(summarize, ten_times_that_keep_falling_are_unsettled) {
  values linear, geometric;
  for (int i = 0; i < 10; ++i) {
    linear.push_back(0.0433 + (0.007 - 0.0433) * i / 9);
    geometric.push_back(0.0433 * std::pow(0.007 / 0.0433, i / 9.0));
  }
  EXPECT_TRUE(summarize(linear, 0, true).unsettled);
  EXPECT_TRUE(summarize(geometric, 0, true).unsettled);
  EXPECT_TRUE(summarize(geometric, 1000, false).unsettled);
}

TEST(summarize, a_slope_of_minus_15_percent_is_reported) {
  values seconds;
  for (int i = 0; i < 10; ++i) seconds.push_back(1 / (100 * (1 - 0.15 * i / 9)));
  auto const m = summarize(seconds, 1, false);
  EXPECT_NEAR(m.slope.value(), -15 / 92.5, 1e-9);
  EXPECT_TRUE(m.unsettled);
}

TEST(summarize, noise_without_a_trend_is_settled) {
  EXPECT_FALSE(summarize(values{1, 1.05, 0.95, 1.02, 0.98, 1.04, 0.96, 1}, 1, false).unsettled);
}

TEST(summarize, refuses_what_cannot_be_a_rate) {
  EXPECT_THROW(summarize(values{}, 100, false), measurement_error);
  for (double const bad : {0.0, -1.0, std::numeric_limits<double>::quiet_NaN(),
                           std::numeric_limits<double>::infinity(), 1e-320}) {
    EXPECT_THROW(summarize(values{0.5, bad}, 100, false), measurement_error) << bad;
  }
  EXPECT_THROW(summarize(values{0.5}, 0, false), usage_error);
}

}  // namespace
}  // namespace bandgate
