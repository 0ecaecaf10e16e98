// SPDX-License-Identifier: Apache-2.0
#include "device/contention.hpp"

#include <gmock/gmock.h>

#include <vector>

#include "fakes/virtual_clock.hpp"

namespace bandgate {
namespace {

using namespace std::chrono_literals;
using testing::AllOf;
using testing::HasSubstr;

device_process process(std::uint64_t pid, std::string name, bool active) {
  return {pid, std::move(name), mib(64).count, active};
}

TEST(who_computes, names_pid_name_and_memory_where_they_are_known) {
  EXPECT_EQ(who_computes({{process(4711, "python3", true)}, 99}), "process 4711 (python3), 64 MiB");
  EXPECT_EQ(who_computes({{{31337, "", {}, true}}, {}}), "process 31337 (name not known)");
  EXPECT_EQ(
      who_computes({{process(1, "a", true), process(2, "b", false), process(3, "c", true)}, {}}),
      "process 1 (a), 64 MiB; process 3 (c), 64 MiB");
}

TEST(who_computes, is_nobody_where_nothing_is_known) {
  EXPECT_EQ(who_computes({}), "");
  EXPECT_EQ(who_computes({{}, 0}), "");
}

TEST(who_computes, leaves_idle_contexts_alone) {
  EXPECT_EQ(who_computes({{process(4711, "python3", false)}, 3}), "");
}

TEST(who_computes, believes_the_utilization_where_no_process_is_visible) {
  EXPECT_EQ(who_computes({{}, 10}), "");
  EXPECT_THAT(who_computes({{}, 11}), AllOf(HasSubstr("busy to 11 %"), HasSubstr("container")));
  EXPECT_THAT(who_computes({{process(7, "idle", false)}, 100}), HasSubstr("busy to 100 %"));
}

TEST(who_computes, holds_no_mps_server_for_its_clients) {
  auto const server = process(5, "/usr/bin/nvidia-cuda-mps-server", true);
  EXPECT_TRUE(is_mps_server(server));
  EXPECT_FALSE(is_mps_server(process(5, "nvidia-cuda-mps-server-watch", true)));
  EXPECT_EQ(who_computes({{server}, 0}), "");
  EXPECT_THAT(who_computes({{server}, 60}), HasSubstr("MPS server whose clients"));
}

TEST(occupancy_of, takes_only_a_utilization_that_was_read) {
  auto const of = [](health_field field) {
    return occupancy_of({{"gpu_utilization_percent", std::move(field)}}, {}).utilization_percent;
  };
  EXPECT_EQ(of({health_field::state::ok, 42.0, {}}), 42);
  EXPECT_EQ(of({health_field::state::unavailable, 42.0, "no NVML"}), std::nullopt);
  EXPECT_EQ(of({health_field::state::ok, std::string("42"), {}}), std::nullopt);
  EXPECT_EQ(occupancy_of({}, {}).utilization_percent, std::nullopt);
}

/// Waits for a device whose utilization is the next of `readings` at each look; the last repeats.
struct course {
  std::vector<double> readings;
  std::size_t looks{};
  std::vector<nanoseconds> pauses{};
  fakes::virtual_clock time{};

  waited wait(nanoseconds limit) {
    return wait_until_idle(
        [&] {
          auto const now = readings[std::min(looks, readings.size() - 1)];
          ++looks;
          return occupancy{{}, now};
        },
        time,
        [&](nanoseconds pause) {
          pauses.push_back(pause);
          time.advance(pause);
        },
        limit);
  }
};

TEST(wait_until_idle, goes_at_once_on_an_idle_device) {
  course idle{{0}};
  auto const end = idle.wait(5s);
  EXPECT_EQ(end.computing, "");
  EXPECT_EQ(end.time, 0s);
  EXPECT_EQ(idle.looks, 1U);
}

TEST(wait_until_idle, goes_as_soon_as_the_others_are_done) {
  course burn{{100, 100, 100, 0, 100}};
  auto const end = burn.wait(5s);
  EXPECT_EQ(end.computing, "");
  EXPECT_EQ(end.time, 600ms);
  EXPECT_EQ(burn.looks, 4U);
}

TEST(wait_until_idle, gives_up_after_its_limit_with_a_last_look_then) {
  course burn{{100}};
  auto const end = burn.wait(500ms);
  EXPECT_THAT(end.computing, HasSubstr("busy to 100 %"));
  EXPECT_EQ(end.time, 500ms);
  EXPECT_THAT(burn.pauses, testing::ElementsAre(200ms, 200ms, 100ms));
  EXPECT_EQ(burn.looks, 4U);
}

TEST(wait_until_idle, looks_once_where_it_is_not_to_wait) {
  course burn{{100}};
  EXPECT_NE(burn.wait(0s).computing, "");
  EXPECT_EQ(burn.looks, 1U);
  EXPECT_TRUE(burn.pauses.empty());
}

/// Two devices that others compute on until those times.
std::vector<std::string> waited_for(nanoseconds first, nanoseconds second, nanoseconds limit,
                                    bool allowed = false) {
  fakes::virtual_clock time;
  auto const start = time.now();
  auto const until = [&](nanoseconds end, std::uint64_t pid) {
    return [&time, start, end, pid] {
      device_process const burn{pid, "burn", {}, true};
      return time.now() - start < end ? occupancy{{burn}, {}} : occupancy{};
    };
  };
  return wait_for_others(
      {{"GPU-1 at 0000:1b:00.0", until(first, 7)}, {"GPU-2 at 0000:3d:00.0", until(second, 8)}},
      time, [&](nanoseconds pause) { time.advance(pause); }, limit, allowed);
}

std::string refusal(nanoseconds first, nanoseconds second, nanoseconds limit) {
  try {
    waited_for(first, second, limit);
  } catch (measurement_error const& e) {
    EXPECT_EQ(e.code(), failure::contended);
    return e.what();
  }
  return "none";
}

TEST(wait_for_others, says_who_how_long_and_what_to_do) {
  EXPECT_THAT(refusal(1h, 0s, 5200ms),
              AllOf(HasSubstr("GPU-1 at 0000:1b:00.0 is in use: process 7 (burn)"),
                    HasSubstr("measured after waiting 5.2 s"), HasSubstr("--wait-idle"),
                    HasSubstr("--allow-contention")));
  EXPECT_THAT(refusal(1h, 0s, 0s), HasSubstr("nothing was measured (--wait-idle"));
}

TEST(wait_for_others, waits_for_each_that_takes_part_within_one_limit) {
  EXPECT_EQ(refusal(2s, 4s, 5s), "none");
  EXPECT_THAT(refusal(2s, 6s, 5s),
              AllOf(HasSubstr("GPU-2 at 0000:3d:00.0 is in use: process 8 (burn)"),
                    HasSubstr("waiting 5 s")));
}

TEST(wait_for_others, notes_those_beside_whom_it_may_be_measured) {
  EXPECT_THAT(waited_for(1h, 1h, 1s, true),
              testing::ElementsAre("measured beside others: process 7 (burn)",
                                   "measured beside others: process 8 (burn)"));
  EXPECT_THAT(waited_for(1s, 0s, 1s, true), testing::IsEmpty());
}

}  // namespace
}  // namespace bandgate
