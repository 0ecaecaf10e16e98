// SPDX-License-Identifier: Apache-2.0
#include "measure/measure.hpp"

#include <gmock/gmock.h>

#include <array>

#include <bandgate/errors.hpp>

#include "fakes/recording_observer.hpp"
#include "fakes/scripted_subject.hpp"
#include "measure/statistics.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;
using fakes::always;
using fakes::call;
using fakes::passes;
using fakes::recording_observer;
using fakes::scripted_subject;
using fakes::steady;
using fakes::virtual_clock;
using ::testing::Each;
using ::testing::ElementsAre;

measured measure_one(scripted_subject& device, virtual_clock& time, bool proportional = true) {
  recording_observer listener;
  std::array<subject*, 1> const shapes{&device};
  return measure(shapes, time, listener, proportional);
}

std::optional<failure> failure_of(scripted_subject& device, virtual_clock& time,
                                  bool proportional) {
  try {
    measure_one(device, time, proportional);
  } catch (measurement_error const& e) {
    return e.code();
  }
  return std::nullopt;
}

TEST(measure, one_shape_is_warmed_up_and_sampled) {
  virtual_clock time;
  scripted_subject device(time, steady(1000));
  recording_observer listener;
  std::array<subject*, 1> const shapes{&device};
  measured const m = measure(shapes, time, listener, false);
  EXPECT_THAT(listener.phases, ElementsAre(phase::warm_up, phase::sampling));
  EXPECT_EQ(m.shape, 0u);
  EXPECT_EQ(m.iterations, 20000u);
  EXPECT_EQ(m.warm_up, 1us + 280ms);
  EXPECT_EQ(m.seconds_per_pass.size(), 10u);
  EXPECT_THAT(m.seconds_per_pass, Each(::testing::DoubleEq(1e-6)));
}

TEST(measure, the_doubling_check_costs_one_pair_before_the_sampling) {
  virtual_clock time;
  scripted_subject device(time, steady(1000));
  std::size_t before_sampling = 0;
  recording_observer listener([&](phase p) {
    if (p == phase::sampling) before_sampling = device.counts.size();
  });
  std::array<subject*, 1> const shapes{&device};
  measured const m = measure(shapes, time, listener, true);
  EXPECT_EQ(before_sampling, 15u + 2u);
  EXPECT_EQ(device.counts.size(), 15u + 2u + 10u);
  EXPECT_EQ(device.counts[16], 40000u);
  EXPECT_EQ(m.warm_up, 1us + 280ms + 60ms);
}

TEST(measure, a_device_slow_for_the_whole_measurement_reports_its_slow_rate) {
  virtual_clock time;
  scripted_subject device(time, steady(3000));
  double const us = median(measure_one(device, time).seconds_per_pass) * 1e6;
  EXPECT_GT(us, 2.9);
  EXPECT_LT(us, 3.1);
}

TEST(measure, several_shapes_are_ranked_and_the_winner_is_sampled_without_a_second_warm_up) {
  virtual_clock time;
  scripted_subject slow(time, steady(3000)), fast(time, steady(500)), middle(time, steady(1000));
  recording_observer listener;
  std::array<subject*, 3> const shapes{&slow, &fast, &middle};
  measured const m = measure(shapes, time, listener, false);
  EXPECT_THAT(listener.phases, ElementsAre(phase::warm_up, phase::ranking, phase::sampling));
  EXPECT_EQ(m.shape, 1u);
  EXPECT_EQ(m.iterations, 40000u);
  // Starts from the count that the shape before it ended with; then ten samples.
  EXPECT_THAT(fast.counts, ElementsAre(6667, 6667, 40000, 40000, 40000, 40000, 40000, 40000, 40000,
                                       40000, 40000, 40000, 40000, 40000, 40000));
  EXPECT_THAT(middle.counts, ElementsAre(40000, 40000, 20000, 20000, 20000));
}

TEST(measure, of_equal_shapes_the_first_wins) {
  virtual_clock time;
  scripted_subject a(time, steady(1000)), b(time, steady(1000));
  recording_observer listener;
  std::array<subject*, 2> const shapes{&a, &b};
  EXPECT_EQ(measure(shapes, time, listener, true).shape, 0u);
}

TEST(measure, ranking_two_shapes_costs_less_than_one_full_measurement) {
  virtual_clock one_time;
  scripted_subject one(one_time, steady(1000));
  measure_one(one, one_time, false);

  virtual_clock time;
  scripted_subject a(time, steady(1000)), b(time, steady(3000));
  nanoseconds ranking_began{}, sampling_began{};
  recording_observer listener([&](phase p) {
    if (p == phase::ranking) ranking_began = time.now();
    if (p == phase::sampling) sampling_began = time.now();
  });
  std::array<subject*, 2> const shapes{&a, &b};
  measure(shapes, time, listener, false);
  EXPECT_LT(sampling_began - ranking_began, one_time.now());
  EXPECT_EQ(sampling_began - ranking_began, 5 * 20ms + 2 * 60ms + 3 * 20001us);
  EXPECT_EQ(one_time.now(), 1us + 280ms + 200ms);
}

TEST(measure, a_blind_timer_is_an_error_at_the_ceiling) {
  virtual_clock time;
  scripted_subject on_gpu(time, always(0ns, 1us)), on_host(time, always(0ns, 1us));
  EXPECT_EQ(failure_of(on_gpu, time, true), failure::zero_elapsed);
  EXPECT_EQ(failure_of(on_host, time, false), failure::zero_elapsed);
}

TEST(measure, one_sample_that_reads_zero_is_an_error_never_an_infinite_rate) {
  virtual_clock time;
  scripted_subject device(time, [](call const& c) {
    auto r = passes(c.iterations, 1000);
    if (c.number == 20) r.elapsed = 0ns;
    return r;
  });
  EXPECT_EQ(failure_of(device, time, false), failure::zero_elapsed);
}

TEST(measure, a_blind_shape_does_not_hide_behind_one_that_can_be_timed) {
  virtual_clock time;
  scripted_subject good(time, steady(1000)), blind(time, always(0ns, 1us));
  recording_observer listener;
  std::array<subject*, 2> const shapes{&good, &blind};
  EXPECT_THROW(measure(shapes, time, listener, false), measurement_error);
}

TEST(measure, an_emptied_kernel_is_an_error) {
  virtual_clock time;
  scripted_subject device(time, always(20us, 20us));
  EXPECT_EQ(failure_of(device, time, true), failure::not_proportional);
}

TEST(measure, a_slow_first_sample_is_warm_up_and_not_noise) {
  // 1000 bytes a pass: 93.1, then 211.7 GB/s for ever.
  virtual_clock time;
  scripted_subject device(time, [](call const& c) {
    return passes(c.iterations, 1e12 / (c.number == 0 ? 93.1e9 : 211.7e9));
  });
  auto const m = summarize(measure_one(device, time).seconds_per_pass, 1000, false);
  EXPECT_NEAR(m.median, 211.7e9, 1e4);
  EXPECT_NEAR(m.peak, 211.7e9, 1e4);
  EXPECT_FALSE(m.unsettled);
}

TEST(measure, a_device_that_slows_while_sampled_is_unsettled) {
  virtual_clock time;
  bool sampling = false;
  nanoseconds began{};
  scripted_subject device(time, [&](call const& c) {
    double const late = sampling ? static_cast<double>((c.now - began).count()) / 2e8 : 0;
    return passes(c.iterations, 1000 * (1 + 0.15 * late));
  });
  recording_observer listener([&](phase p) {
    sampling = p == phase::sampling;
    began = time.now();
  });
  std::array<subject*, 1> const shapes{&device};
  auto const m = summarize(measure(shapes, time, listener, true).seconds_per_pass, 1000, false);
  EXPECT_TRUE(m.unsettled);
  EXPECT_LT(m.slope.value(), -0.10);
  EXPECT_EQ(m.samples.size(), 10u) << "slow samples stay";
}

TEST(measure, no_shape_is_refused) {
  virtual_clock time;
  recording_observer listener;
  EXPECT_THROW(measure({}, time, listener, true), usage_error);
}

TEST(measure, an_error_of_the_device_ends_it) {
  virtual_clock time;
  scripted_subject device(time, [](call const& c) {
    if (c.number == 18) throw measurement_error(failure::device_lost, "GPU lost");
    return passes(c.iterations, 1000);
  });
  EXPECT_EQ(failure_of(device, time, true), failure::device_lost);
}

}  // namespace
}  // namespace bandgate
