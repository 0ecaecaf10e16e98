// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <cmath>

#include "fakes/scripted_subject.hpp"
#include "measure/measure.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;
using fakes::always;
using fakes::call;
using fakes::reading;
using fakes::scripted_subject;
using fakes::virtual_clock;

std::size_t samples_of(scripted_subject::script script) {
  virtual_clock time;
  scripted_subject device(time, std::move(script));
  return sample(device, time, 100, {}).size();
}

TEST(sampling, ends_after_12_samples_without_improvement) {
  EXPECT_EQ(samples_of(always(20ms, 1us)), 13u);
}

TEST(sampling, a_timer_that_reads_zero_ends_it_too) {
  virtual_clock time;
  scripted_subject blind(time, always(0ns, 0ns), 1u << 20);
  EXPECT_EQ(sample(blind, time, 1u << 20, {}).size(), 13u);
  EXPECT_EQ(blind.counts.back(), 1u << 20);
}

TEST(sampling, ends_after_200_ms_of_wall_clock_whatever_the_timer_reads) {
  EXPECT_EQ(samples_of(always(20ms, 20ms)), 10u);
  EXPECT_EQ(samples_of(always(0ns, 25ms)), 8u);
}

TEST(sampling, takes_at_least_5_whatever_the_budget) {
  EXPECT_EQ(samples_of(always(3s, 3s)), 5u);
}

TEST(sampling, takes_at_most_200) {
  auto ever_faster = [](call const& c) {
    return reading{nanoseconds{std::llround(1e12 * std::pow(0.98, double(c.number)))}, 1us};
  };
  EXPECT_EQ(samples_of(ever_faster), 200u);
}

TEST(sampling, an_improvement_starts_the_patience_again) {
  // The sixth sample is 1 % faster: 5 before it, 12 after it.
  auto once = [](double faster) {
    return [=](call const& c) {
      return reading{nanoseconds{std::llround(c.number == 5 ? 2e7 * faster : 2e7)}, 1us};
    };
  };
  EXPECT_EQ(samples_of(once(0.99)), 18u);
  EXPECT_EQ(samples_of(once(0.991)), 13u);
}

TEST(sampling, a_slow_creep_adds_up_to_an_improvement) {
  // 0.5 % a sample up to the 21st: every third beats the reference by 1 %, last the 19th.
  auto creep = [](call const& c) {
    double const n = std::min<double>(20, static_cast<double>(c.number));
    return reading{nanoseconds{std::llround(2e7 * std::pow(0.995, n))}, 1us};
  };
  EXPECT_EQ(samples_of(creep), 31u);
}

TEST(sampling, keeps_every_sample_in_order) {
  virtual_clock time;
  scripted_subject device(time, [](call const& c) {
    return reading{20ms + nanoseconds{c.number}, 50ms};
  });
  EXPECT_THAT(sample(device, time, 7, {}),
              ::testing::ElementsAre(20000000ns, 20000001ns, 20000002ns, 20000003ns, 20000004ns));
  EXPECT_THAT(device.counts, ::testing::Each(7u));
}

}  // namespace
}  // namespace bandgate
