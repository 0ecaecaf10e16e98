// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <algorithm>

#include "fakes/scripted_subject.hpp"
#include "measure/measure.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;
using fakes::always;
using fakes::call;
using fakes::passes;
using fakes::scripted_subject;
using fakes::steady;
using fakes::virtual_clock;
using ::testing::ElementsAre;

TEST(warm_up, a_timer_that_reads_zero_never_climbs_above_the_blind_ceiling) {
  virtual_clock time;
  scripted_subject blind(time, always(0ns, 1us));
  EXPECT_EQ(warm_up(blind, time, {}), 1024u);
  EXPECT_THAT(blind.counts, ElementsAre(1, 2, 4, 8, 16, 32, 64, 128, 256, 512, 1024));
}

TEST(warm_up, a_blind_timer_never_falls_below_the_passes_a_shape_needs) {
  virtual_clock time;
  scripted_subject blind(time, always(0ns, 1us), 1u << 20);
  EXPECT_EQ(warm_up(blind, time, {}), 1u << 20);
  EXPECT_THAT(blind.counts, ElementsAre(1u << 20));
}

TEST(warm_up, one_nanosecond_reads_as_nothing_and_two_read_as_a_time) {
  virtual_clock time;
  scripted_subject one(time, always(1ns, 1us));
  scripted_subject two(time, always(2ns, 1us));
  EXPECT_EQ(warm_up(one, time, {}), 1u << 10);
  EXPECT_EQ(warm_up(two, time, {}), 1u << 24);
}

TEST(warm_up, a_needed_count_raises_the_ceiling) {
  virtual_clock time;
  scripted_subject needy(time, always(1us, 1us), 1u << 25);
  EXPECT_EQ(warm_up(needy, time, {}), 1u << 25);
}

TEST(warm_up, growing_stops_on_the_budget) {
  virtual_clock time;
  scripted_subject coarse(time, always(1ms, 5ms));
  protocol rules;
  rules.warm_up_budget = 12ms;
  EXPECT_EQ(warm_up(coarse, time, rules), 400u);
  EXPECT_THAT(coarse.counts, ElementsAre(1, 20, 400));
}

TEST(warm_up, the_budget_does_not_cut_the_plateau_short) {
  virtual_clock time;
  scripted_subject device(time, steady(1000));
  protocol rules;
  rules.warm_up_budget = 12ms;
  warm_up(device, time, rules);
  EXPECT_GE(time.now(), 20ms + 250ms);
}

TEST(warm_up, one_microsecond_a_pass_settles_at_exactly_20000) {
  virtual_clock time;
  scripted_subject device(time, steady(1000));
  EXPECT_EQ(warm_up(device, time, {}), 20000u);
}

TEST(warm_up, a_steady_device_pays_the_floor_and_at_most_20_samples) {
  virtual_clock time;
  scripted_subject device(time, steady(1000));
  warm_up(device, time, {});
  // 1 to grow, 1 that begins the plateau, 13 of 20 ms to cover 250 ms.
  EXPECT_EQ(device.counts.size(), 15u);
  EXPECT_EQ(time.now(), 1us + 280ms);
}

TEST(warm_up, a_clock_that_lifts_is_waited_for) {
  virtual_clock time;
  scripted_subject device(
      time, [](call const& c) { return passes(c.iterations, c.now < 100ms ? 3000 : 1000); });
  EXPECT_EQ(warm_up(device, time, {}), 20000u);
  EXPECT_GE(time.now(), 100ms + 250ms);
  // 3 us + 5 x 20.001 ms slow, 6.667 ms that grow, 20 ms that begin the plateau, 13 x 20 ms.
  EXPECT_EQ(time.now(), 386675us);
}

TEST(warm_up, a_step_below_the_tolerance_does_not_restart_the_plateau) {
  virtual_clock time;
  // 400 passes are needed, so no sample is short: only the plateau is at work.
  auto after = [&](double faster) {
    virtual_clock own;
    scripted_subject device(
        own,
        [=](call const& c) { return passes(c.iterations, c.now < 200ms ? 1e5 : 1e5 * faster); },
        400);
    warm_up(device, own, {});
    return device.counts.size();
  };
  EXPECT_EQ(after(0.98), 8u);   // 40 ms a sample: 1 + ceil(250 / 40)
  EXPECT_EQ(after(0.96), 13u);  // the sixth begins a new plateau; 7 x 38.4 ms cover 250 ms
}

TEST(warm_up, growing_restarts_the_plateau) {
  virtual_clock time;
  // 2 % faster at 200 ms: within the tolerance, but the samples are short of the target again.
  scripted_subject device(
      time, [](call const& c) { return passes(c.iterations, c.now < 200ms ? 1000 : 980); });
  EXPECT_EQ(warm_up(device, time, {}), 20409u);
  EXPECT_GE(time.now(), 200ms + 250ms);
}

TEST(warm_up, the_best_stays_the_minimum_seen) {
  virtual_clock time;
  // 40 ms, then 2 % less in each of two rounds: each is within 3 % of the one before.
  scripted_subject device(
      time,
      [](call const& c) {
        return passes(c.iterations,
                      1e5 * (1 - 0.02 * static_cast<double>(std::min<std::size_t>(c.number, 2))));
      },
      400);
  warm_up(device, time, {});
  EXPECT_EQ(device.counts.size(), 8u) << "1 + 7 of about 39 ms that cover 250 ms";
}

TEST(warm_up, long_samples_must_be_patient_too) {
  virtual_clock time;
  scripted_subject device(time, steady(1e9));
  warm_up(device, time, {});
  EXPECT_EQ(device.counts.size(), 4u) << "3 stable rounds, although one covers the floor";
}

TEST(warm_up, never_takes_more_than_50_rounds) {
  virtual_clock time;
  // Every sample is a little short of the target, however many passes: the count creeps for ever.
  scripted_subject device(time, always(19999us, 1us));
  warm_up(device, time, {});
  EXPECT_EQ(device.counts.size(), 50u);
  EXPECT_TRUE(std::is_sorted(device.counts.begin(), device.counts.end(), std::less_equal<>{}))
      << "growth is at least one pass a round";
}

TEST(warm_up, a_timer_of_2_us_steps_leads_to_longer_batches) {
  virtual_clock time;
  scripted_subject device(time, [](call const& c) {
    auto r = passes(c.iterations, 10);
    r.elapsed = r.elapsed / 2000 * 2000;
    return r;
  });
  std::uint64_t const count = warm_up(device, time, {});
  EXPECT_GE(count * 10, 20'000'000u);
  EXPECT_LE(count * 10, 30'000'000u);
}

}  // namespace
}  // namespace bandgate
