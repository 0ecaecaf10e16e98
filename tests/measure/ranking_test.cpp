// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "fakes/scripted_subject.hpp"
#include "measure/measure.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;
using fakes::always;
using fakes::call;
using fakes::passes;
using fakes::reading;
using fakes::scripted_subject;
using fakes::steady;
using fakes::virtual_clock;
using ::testing::ElementsAre;

TEST(ranking, a_slow_shape_ranks_below_a_fast_one) {
  virtual_clock time;
  scripted_subject slow(time, steady(3000)), fast(time, steady(1000));
  EXPECT_DOUBLE_EQ(rank(slow, 1, {}).seconds_per_pass, 20001e-6 / 6667);
  EXPECT_DOUBLE_EQ(rank(fast, 1, {}).seconds_per_pass, 1e-6);
}

TEST(ranking, takes_one_launch_to_throw_away_one_to_target_and_three_to_rank) {
  virtual_clock time;
  scripted_subject device(time, steady(1000));
  EXPECT_EQ(rank(device, 5000, {}).iterations, 20000u);
  EXPECT_THAT(device.counts, ElementsAre(5000, 5000, 20000, 20000, 20000));
}

TEST(ranking, the_count_settles_where_a_sample_lasts_the_target) {
  virtual_clock time;
  scripted_subject slower(time, steady(1000)), faster(time, steady(100));
  std::uint64_t const first = rank(slower, 1, {}).iterations;
  EXPECT_EQ(first, 20000u);
  EXPECT_EQ(rank(faster, first, {}).iterations, 200000u);
  scripted_subject back(time, steady(1000));
  EXPECT_EQ(rank(back, 200000, {}).iterations, 20000u);
}

TEST(ranking, a_first_launch_100_times_slower_does_not_disturb_the_count) {
  virtual_clock time;
  scripted_subject device(
      time, [](call const& c) { return passes(c.iterations, c.number == 0 ? 1e5 : 1e3); });
  EXPECT_EQ(rank(device, 20000, {}).iterations, 20000u);
}

TEST(ranking, a_shape_that_needs_64_passes_never_gets_fewer) {
  virtual_clock time;
  scripted_subject device(time, steady(5e6), 64);
  EXPECT_EQ(rank(device, 1, {}).iterations, 64u);
  EXPECT_THAT(device.counts, ElementsAre(64, 64, 64, 64, 64));
}

TEST(ranking, the_count_stays_capped) {
  virtual_clock time;
  scripted_subject device(time, always(20us, 20us));
  EXPECT_EQ(rank(device, 1u << 24, {}).iterations, 1u << 24);
}

TEST(ranking, a_needed_count_raises_the_cap) {
  virtual_clock time;
  scripted_subject device(time, always(20us, 20us), 1u << 25);
  EXPECT_EQ(rank(device, 1u << 24, {}).iterations, 1u << 25);
}

TEST(ranking, the_count_is_at_least_one) {
  virtual_clock time;
  scripted_subject device(time, steady(1e9));
  EXPECT_EQ(rank(device, 4, {}).iterations, 1u);
}

TEST(ranking, a_reading_of_zero_leaves_the_count_unchanged) {
  virtual_clock time;
  scripted_subject blind(time, always(0ns, 1us));
  ranked const r = rank(blind, 777, {});
  EXPECT_EQ(r.iterations, 777u);
  EXPECT_EQ(r.seconds_per_pass, 0.0);
}

TEST(ranking, the_fastest_of_three_counts_and_one_failed_reading_does_not) {
  virtual_clock time;
  scripted_subject device(time, [](call const& c) {
    constexpr nanoseconds readings[] = {20ms, 20ms, 25ms, 0ns, 30ms};
    return reading{readings[c.number], 20ms};
  });
  EXPECT_DOUBLE_EQ(rank(device, 1000, {}).seconds_per_pass, 25e-6);
}

}  // namespace
}  // namespace bandgate
