// SPDX-License-Identifier: Apache-2.0
/// The state of a device in each part of a series, on a stub of NVML.
#include "backend/gpu/cuda_health.hpp"
#include "device/nvml.hpp"

#include <gmock/gmock.h>

#include <chrono>
#include <memory>
#include <string>
#include <thread>

namespace bandgate::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::IsEmpty;

std::string const stub = std::string(BANDGATE_NVML_STUBS) + "/current/libnvidia-ml.so.1";

device_identity card() {
  device_identity d;
  d.uuid = "GPU-1b1b1b1b-0000-0000-0000-000000000002";
  return d;
}

health_field number(double value) {
  return {health_field::state::ok, value, {}};
}

double value_of(health_snapshot const& state, char const* name) {
  auto const found = state.find(name);
  return found == state.end() ? -1 : std::get<double>(found->second.value);
}

/// Long enough for the first reading under load, whatever else the machine does.
void begin_sampling(cuda_health& health) {
  health.on_phase(phase::sampling);
  std::this_thread::sleep_for(150ms);
}

TEST(cuda_health, reads_the_state_in_the_middle_of_each_part) {
  auto const library = std::make_shared<nvml const>(stub);
  ASSERT_TRUE(library->available()) << library->why_not();
  cuda_health health(library, card());
  begin_sampling(health);
  for (int part = 0; part < 3; ++part) {
    health.part_begins(40ms);
    std::this_thread::sleep_for(400ms);
    auto const state = health.part_ends();
    EXPECT_GT(value_of(state, "sm_clock_mhz"), 0) << part;
    EXPECT_GT(value_of(state, "temperature_c"), 0) << part;
    EXPECT_GT(value_of(state, "power_w"), 0) << part;
  }
  health.on_phase(phase::verify_again);
  EXPECT_GT(value_of(health.report().load, "sm_clock_mhz"), 0);
}

TEST(cuda_health, never_waits_for_a_part_that_is_over_too_soon) {
  cuda_health health(std::make_shared<nvml const>(stub), card());
  begin_sampling(health);
  auto const start = std::chrono::steady_clock::now();
  for (int part = 0; part < 100; ++part) {
    health.part_begins(1h);
    EXPECT_THAT(health.part_ends(), IsEmpty());
  }
  health.on_phase(phase::verify_again);
  EXPECT_LT(std::chrono::steady_clock::now() - start, 5s);
}

TEST(cuda_health, reads_nothing_before_the_middle) {
  cuda_health health(std::make_shared<nvml const>(stub), card());
  begin_sampling(health);
  health.part_begins(1h);
  std::this_thread::sleep_for(200ms);
  EXPECT_THAT(health.part_ends(), IsEmpty());
}

TEST(cuda_health, keeps_what_it_read_in_one_part_out_of_the_next) {
  cuda_health health(std::make_shared<nvml const>(stub), card());
  begin_sampling(health);
  health.part_begins(1ms);
  std::this_thread::sleep_for(300ms);
  health.part_begins(1h);  // without asking for the first one's state
  EXPECT_THAT(health.part_ends(), IsEmpty());
  EXPECT_THAT(health.part_ends(), IsEmpty());
}

TEST(cuda_health, says_nothing_of_parts_without_a_sampling) {
  cuda_health health(std::make_shared<nvml const>(stub), card());
  health.part_begins(1ms);
  std::this_thread::sleep_for(20ms);
  EXPECT_THAT(health.part_ends(), IsEmpty());
}

TEST(under_load_so_far, is_the_later_state_with_the_events_of_both) {
  auto const state =
      under_load_so_far({{"clock_event_reasons", number(0x44)}, {"temperature_c", number(70)}},
                        {{"clock_event_reasons", number(0x20)}, {"temperature_c", number(84)}});
  EXPECT_EQ(value_of(state, "clock_event_reasons"), 0x64);
  EXPECT_EQ(value_of(state, "temperature_c"), 84);
}

TEST(under_load_so_far, keeps_events_where_the_later_reading_failed) {
  health_field const gone{health_field::state::unavailable, {}, "lost"};
  EXPECT_EQ(value_of(under_load_so_far({{"clock_event_reasons", number(0x40)}},
                                       {{"clock_event_reasons", gone}}),
                     "clock_event_reasons"),
            0x40);
  EXPECT_EQ(value_of(under_load_so_far({{"clock_event_reasons", gone}},
                                       {{"clock_event_reasons", number(4)}}),
                     "clock_event_reasons"),
            4);
  EXPECT_EQ(
      value_of(under_load_so_far({}, {{"clock_event_reasons", number(4)}}), "clock_event_reasons"),
      4);
}

}  // namespace
}  // namespace bandgate::testing
