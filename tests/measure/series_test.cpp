// SPDX-License-Identifier: Apache-2.0
#include "measure/series.hpp"

#include <gmock/gmock.h>

#include <array>
#include <string>

#include <bandgate/errors.hpp>
#include <bandgate/parts.hpp>

#include "fakes/recording_observer.hpp"
#include "fakes/scripted_subject.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;
using fakes::call;
using fakes::passes;
using fakes::scripted_subject;
using fakes::steady;
using fakes::virtual_clock;
using ::testing::DoubleEq;
using ::testing::DoubleNear;
using ::testing::Each;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

/// Remembers phases and progress as one list, and when the sampling began.
struct course final : observer {
  explicit course(virtual_clock& clock) : time(clock) {}
  void on_phase(phase p) override {
    heard.emplace_back(to_string(p));
    sampling = p == phase::sampling;
    if (sampling) began = time.now();
  }
  void on_progress(std::uint64_t done, std::uint64_t all) override {
    heard.push_back(std::to_string(done) + "/" + std::to_string(all));
  }
  virtual_clock& time;
  std::vector<std::string> heard;
  bool sampling{};
  nanoseconds began{};
};

/// Says in part i that its clock is 1000 - i MHz, and which lengths it was told to expect.
struct states final : health_monitor {
  bandgate::health report() override { return {}; }
  void part_begins(nanoseconds expected) override {
    begun.push_back(expected);
    EXPECT_EQ(begun.size(), ended + 1) << "a part begins when the one before it has ended";
  }
  health_snapshot part_ends() override {
    ++ended;
    health_snapshot s;
    s["sm_clock_mhz"] = {health_field::state::ok, 1001.0 - static_cast<double>(ended), {}};
    s["temperature_c"] = {health_field::state::not_supported, {}, {}};
    s["power_w"] = {health_field::state::unavailable, {}, "no answer"};
    return s;
  }
  std::vector<nanoseconds> begun;
  std::size_t ended{};
};

measured_series timed(subject& device, virtual_clock& time, std::uint64_t windows, course& heard,
                      states& health) {
  std::array<subject*, 1> const shapes{&device};
  return measure_series(shapes, time, heard, health, true, windows);
}

measured_series timed(subject& device, virtual_clock& time, std::uint64_t windows) {
  course heard(time);
  states health;
  return timed(device, time, windows, heard, health);
}

TEST(series, fills_each_window_with_one_second_of_passes) {
  virtual_clock time;
  scripted_subject device(time, steady(1000));
  course heard(time);
  states health;
  auto const m = timed(device, time, 3, heard, health);
  EXPECT_THAT(heard.heard, ElementsAre("warm-up", "sampling", "0/3", "1/3", "2/3", "3/3"));
  EXPECT_EQ(m.iterations, 20000u);
  EXPECT_EQ(m.warm_up, 1us + 280ms + 60ms);
  ASSERT_EQ(m.windows.size(), 3u);
  // Fifteen calls of the warm-up, two of the doubling, fifty samples of 20 ms a window.
  EXPECT_EQ(device.counts.size(), 15u + 2u + 3u * 50u);
  for (std::size_t i = 0; i < 3; ++i) {
    EXPECT_DOUBLE_EQ(m.windows[i].at, static_cast<double>(i));
    EXPECT_DOUBLE_EQ(m.windows[i].seconds_per_pass, 1e-6);
  }
  EXPECT_THAT(health.begun, ElementsAre(1s, 1s, 1s));
  EXPECT_EQ(health.ended, 3u);
}

TEST(series, spends_the_seconds_that_were_asked_for_and_at_most_a_sample_more_each) {
  virtual_clock time;
  scripted_subject device(time, steady(7000));  // 2858 passes, 20.006 ms: fifty are 1.0003 s
  course heard(time);
  states health;
  auto const m = timed(device, time, 10, heard, health);
  EXPECT_EQ(time.now() - heard.began, 10 * 50 * 20006us);
  EXPECT_DOUBLE_EQ(m.windows[9].at, 9 * 1.0003);
}

TEST(series, finds_the_slow_window_and_loses_it_in_no_average) {
  virtual_clock time;
  course heard(time);
  states health;
  scripted_subject device(time, [&](call const& c) {
    auto const late = c.now - heard.began;
    bool const slow = heard.sampling && late >= 4s && late < 5s;
    return passes(c.iterations, slow ? 1250 : 1000);
  });
  auto const m = summarize(timed(device, time, 10, heard, health), 1000, false);
  ASSERT_EQ(m.samples.size(), 10u);
  EXPECT_DOUBLE_EQ(m.median, 1e9);
  EXPECT_DOUBLE_EQ(m.worst.value(), 8e8);
  EXPECT_EQ(slowest_part(m), 4u);
  EXPECT_EQ(part_text(*m.series, 4), "window 5 of 10, at 4 s");
  EXPECT_NEAR(m.drop.value(), 0, 1e-12);
  EXPECT_FALSE(m.unsettled);
}

TEST(series, states_the_drop_from_the_first_to_the_last_window) {
  virtual_clock time;
  course heard(time);
  states health;
  scripted_subject device(time, [&](call const& c) {  // 10 ns more in each window
    return passes(c.iterations, 1000 + 10 * static_cast<double>(health.ended));
  });
  auto const m = summarize(timed(device, time, 5, heard, health), 1000, false);
  EXPECT_DOUBLE_EQ(m.worst.value(), 1e12 / 1040);
  EXPECT_NEAR(m.drop.value(), 1 / 1.04 - 1, 1e-12);
  EXPECT_TRUE(m.unsettled) << "a sloping series is a finding";
}

TEST(series, carries_what_the_device_said_in_each_window_and_nothing_that_it_did_not) {
  virtual_clock time;
  scripted_subject device(time, steady(1000));
  auto const m = summarize(timed(device, time, 2), 1000, false);
  EXPECT_EQ(m.series->axis, "time");
  EXPECT_EQ(m.series->step, 1);
  ASSERT_EQ(m.series->points.size(), 2u);
  auto const& second = m.series->points[1];
  EXPECT_EQ(second.at, 1);
  EXPECT_DOUBLE_EQ(second.value, 1e9);
  EXPECT_EQ(second.sm_clock_mhz, 999);
  EXPECT_EQ(second.temperature_c, std::nullopt);
  EXPECT_EQ(second.power_w, std::nullopt);
}

TEST(series, of_times_has_the_longest_as_its_worst) {
  measured_series s;
  s.windows = {{0, 2e-6, {}}, {1, 3e-6, {}}, {2, 1e-6, {}}};
  auto const m = summarize(s, 0, true);
  EXPECT_DOUBLE_EQ(m.worst.value(), 3e-6);
  EXPECT_EQ(slowest_part(m), 1u);
  EXPECT_DOUBLE_EQ(m.drop.value(), -0.5);
}

TEST(series, a_stall_costs_its_own_window_alone) {
  virtual_clock time;
  course heard(time);
  states health;
  std::size_t samples = 0;
  scripted_subject device(time, [&](call const& c) {
    auto r = passes(c.iterations, 1000);
    if (heard.sampling && ++samples == 60) r.cost += 5s;  // the host stands still, no device does
    return r;
  });
  auto const m = timed(device, time, 3, heard, health);
  EXPECT_DOUBLE_EQ(m.windows[1].seconds_per_pass, 1e-6);
  EXPECT_DOUBLE_EQ(m.windows[2].at, 1 + 5.2);
  EXPECT_EQ(samples, 50u + 10u + 50u);
}

TEST(series, a_sample_longer_than_a_window_is_one_window) {
  virtual_clock time;
  scripted_subject device(time, steady(3e9));
  std::array<subject*, 1> const shapes{&device};
  course heard(time);
  states health;
  auto const m = measure_series(shapes, time, heard, health, false, 2);
  ASSERT_EQ(m.windows.size(), 2u);
  EXPECT_DOUBLE_EQ(m.windows[1].at, 3);
  EXPECT_DOUBLE_EQ(m.windows[1].seconds_per_pass, 3);
}

TEST(series, ranks_shapes_first) {
  virtual_clock time;
  scripted_subject slow(time, steady(3000)), fast(time, steady(500));
  std::array<subject*, 2> const shapes{&slow, &fast};
  course heard(time);
  states health;
  auto const m = measure_series(shapes, time, heard, health, true, 2);
  EXPECT_EQ(m.shape, 1u);
  EXPECT_DOUBLE_EQ(m.windows[0].seconds_per_pass, 5e-7);
  EXPECT_THAT(heard.heard, ElementsAre("warm-up", "ranking", "sampling", "0/2", "1/2", "2/2"));
}

TEST(series, a_sample_that_reads_nothing_names_its_window) {
  virtual_clock time;
  scripted_subject device(time, [&](call const& c) {
    auto r = passes(c.iterations, 1000);
    if (c.number == 15 + 2 + 73) r.elapsed = 0ns;
    return r;
  });
  try {
    timed(device, time, 3);
    FAIL() << "no exception";
  } catch (measurement_error const& e) {
    EXPECT_EQ(e.code(), failure::zero_elapsed);
    EXPECT_THAT(e.what(), HasSubstr("a sample of window 2 read 0 ns"));
  }
}

TEST(series, refuses_nothing_to_do) {
  virtual_clock time;
  scripted_subject device(time, steady(1000));
  EXPECT_THROW(timed(device, time, 0), usage_error);
}

}  // namespace
}  // namespace bandgate
