// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <bandgate/probe.hpp>

namespace bandgate {
namespace {

device_facts h200() {
  return {.memory_total = gib(140),
          .memory_free = gib(139),
          .last_level_cache = mib(60),
          .processors = 132,
          .compute_capability = 90,
          .is_gpu = true};
}

std::uint64_t buffer(parameter_value const& asked, device_facts const& facts, unsigned streams) {
  std::vector<std::string> notes;
  return streaming_buffer(asked, facts, streams, notes).count;
}

parameter_value const automatic = std::string("auto");

TEST(streaming_buffer, on_a_gpu_is_the_larger_of_4_gib_and_40_caches) {
  EXPECT_EQ(buffer(automatic, h200(), 1), gib(4).count);
  auto big_cache = h200();
  big_cache.last_level_cache = mib(126);
  EXPECT_EQ(buffer(automatic, big_cache, 2), mib(5040).count);
}

TEST(streaming_buffer, on_the_host_is_4_caches_and_at_least_1_gib) {
  device_facts host{.memory_free = gib(64), .last_level_cache = mib(32)};
  EXPECT_EQ(buffer(automatic, host, 1), gib(1).count);
  host.last_level_cache = mib(384);
  EXPECT_EQ(buffer(automatic, host, 1), mib(1536).count);
}

TEST(streaming_buffer, is_cut_to_80_percent_of_free_memory_and_says_so) {
  auto small = h200();
  small.memory_free = gib(5);
  std::vector<std::string> notes;
  EXPECT_EQ(streaming_buffer(automatic, small, 2, notes).count, gib(2).count);
  EXPECT_THAT(notes, testing::ElementsAre(testing::HasSubstr("cut from 4GiB to 2GiB")));
}

TEST(streaming_buffer, that_would_measure_the_cache_is_refused) {
  EXPECT_THROW(buffer(mib(239).count, h200(), 1), usage_error);
  EXPECT_EQ(buffer(mib(240).count, h200(), 1), mib(240).count);
  auto starved = h200();
  starved.memory_free = mib(290);
  EXPECT_THROW(buffer(automatic, starved, 1), measurement_error);
}

TEST(streaming_buffer, that_does_not_fit_is_out_of_memory) {
  try {
    buffer(gib(120).count, h200(), 1);
    FAIL();
  } catch (measurement_error const& e) {
    EXPECT_EQ(e.code(), failure::out_of_memory);
    EXPECT_THAT(e.what(), testing::HasSubstr("size=120GiB does not fit"));
  }
  EXPECT_EQ(buffer(gib(100).count, h200(), 1), gib(100).count);
}

TEST(registry, without_a_probe_is_an_error) {
  EXPECT_THROW(registered_probes(), usage_error);
}

TEST(failure, spelling_survives_a_round_trip) {
  for (auto const f : {failure::wrong_result, failure::above_ceiling, failure::zero_elapsed,
                       failure::not_proportional, failure::device_lost, failure::device_missing,
                       failure::device_failed, failure::exclusively_held, failure::out_of_memory,
                       failure::timed_out, failure::crashed})
    EXPECT_EQ(failure_from(to_string(f)), f);
}

}  // namespace
}  // namespace bandgate
