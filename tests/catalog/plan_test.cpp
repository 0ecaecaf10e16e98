// SPDX-License-Identifier: Apache-2.0
/// What the probes declare and how they size their work.
#include <gmock/gmock.h>

#include <bandgate/probe.hpp>

namespace bandgate::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::ThrowsMessage;

device_facts h200() {
  device_facts facts;
  facts.memory_total = mib(143771);
  facts.memory_free = gib(139);
  facts.last_level_cache = mib(60);
  facts.processors = 132;
  facts.compute_capability = 90;
  facts.is_gpu = true;
  return facts;
}

device_facts laptop() {
  device_facts facts;
  facts.memory_total = gib(16);
  facts.memory_free = gib(8);
  facts.last_level_cache = mib(32);
  facts.processors = 8;
  return facts;
}

work plan(char const* name, std::map<std::string, std::string> const& given = {},
          device_facts const& facts = h200()) {
  auto const& p = find_probe(name);
  return p.plan(complete(p.parameters, given), facts);
}

TEST(catalog, holds_the_six_probes) {
  std::vector<std::string> names;
  for (auto const& p : registered_probes()) names.push_back(p.name);
  EXPECT_THAT(names,
              ElementsAre("copy", "read", "read_seq", "read_unroll", "read_window", "write"));
}

TEST(catalog, declares_what_baselines_and_suites_need) {
  for (auto const& p : registered_probes()) {
    EXPECT_EQ(p.ceiling, ceiling::dram) << p.name;
    EXPECT_EQ(p.load, load::dram) << p.name;
    EXPECT_TRUE(p.on_gpu && p.on_host) << p.name;
    EXPECT_FALSE(p.summary.empty()) << p.name;
    bool const naive = p.name.starts_with("read_");
    EXPECT_EQ(p.expected_spread, naive ? 0.04 : 0.02) << p.name;
    std::vector<std::string> suites;
    for (auto const& member : p.suites) suites.push_back(member.suite);
    EXPECT_EQ(suites, naive ? std::vector<std::string>{"full"}
                            : (std::vector<std::string>{"quick", "full"}))
        << p.name;
    for (auto const& facts : {h200(), laptop()})
      EXPECT_FALSE(p.shapes(complete(p.parameters, {}), facts).empty()) << p.name;
  }
  EXPECT_EQ(find_probe("copy").byte_rule, "bytes read + bytes written");
  EXPECT_EQ(find_probe("write").byte_rule, "bytes written");
}

TEST(catalog, counts_each_byte_by_its_rule) {
  auto const four_gib = gib(4).count;
  for (auto const* name : {"read", "read_seq", "read_unroll", "write"}) {
    EXPECT_EQ(plan(name).bytes_per_pass, four_gib) << name;
    EXPECT_EQ(plan(name).buffers.at("data").count, four_gib) << name;
    EXPECT_EQ(plan(name).min_iterations, 1U) << name;
  }
  EXPECT_EQ(plan("copy").bytes_per_pass, 2 * four_gib);
  EXPECT_EQ(plan("copy").buffers.at("data").count, four_gib);
  EXPECT_EQ(plan("read", {{"size", "20GiB"}}).bytes_per_pass, gib(20).count);
  EXPECT_EQ(plan("read", {}, laptop()).bytes_per_pass, gib(1).count);
}

TEST(catalog, refuses_a_buffer_that_measures_the_cache) {
  for (auto const* name : {"read", "read_seq", "read_unroll", "write", "copy"})
    EXPECT_THAT(
        [&] {
          plan(name, {{"size", "64MiB"}});
        },
        ThrowsMessage<usage_error>(HasSubstr("would measure the cache")))
        << name;
}

TEST(windows, walk_a_pool_of_16_GiB_with_enough_passes_to_stay_cold) {
  auto const w = plan("read_window");
  EXPECT_EQ(w.bytes_per_pass, mib(64).count);
  EXPECT_EQ(w.buffers.at("data").count, gib(16).count);
  EXPECT_EQ(w.min_iterations, 256U);
  EXPECT_EQ(plan("read_window", {{"window", "1MiB"}}).min_iterations, 16384U);
  EXPECT_EQ(plan("read_window", {{"window", "3MiB"}}).min_iterations, 5462U);  // 5461.3
  EXPECT_EQ(plan("read_window", {{"window", "8GiB"}}).min_iterations, 2U);
}

TEST(windows, take_at_most_60_percent_of_free_memory) {
  auto facts = h200();
  facts.memory_free = gib(10);
  EXPECT_EQ(plan("read_window", {}, facts).buffers.at("data").count, gib(6).count);
  EXPECT_EQ(plan("read_window", {{"window", "3GiB"}}, facts).min_iterations, 2U);
  EXPECT_THAT(
      [&] {
        plan("read_window", {{"window", "4GiB"}}, facts);
      },
      ThrowsMessage<not_applicable>(HasSubstr("window=4GiB is above half the pool of 6GiB")));
  facts.memory_free = mib(390);
  EXPECT_THAT([&] { plan("read_window", {}, facts); },
              ThrowsMessage<usage_error>(HasSubstr("would measure the cache")));
}

TEST(windows, of_a_copy_share_the_pool_between_source_and_target) {
  auto const w = plan("copy", {{"window", "64MiB"}});
  EXPECT_EQ(w.bytes_per_pass, mib(128).count);
  EXPECT_EQ(w.buffers.at("data").count, gib(8).count);
  EXPECT_EQ(w.min_iterations, 128U);
  EXPECT_THAT(
      [] {
        plan("copy", {{"window", "8GiB"}});
      },
      ThrowsMessage<not_applicable>(HasSubstr("above half the pool of 8GiB")));
  EXPECT_THAT(
      [] {
        plan("copy", {{"window", "64MiB"}, {"size", "4GiB"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("leave size or window")));
}

TEST(windows, on_the_host_walk_the_default_buffer) {
  auto const w = plan("read_window", {}, laptop());
  EXPECT_EQ(w.buffers.at("data").count, gib(1).count);
  EXPECT_EQ(w.min_iterations, 16U);
  EXPECT_THAT(
      [] {
        plan("read_window", {{"dtype", "f64"}}, laptop());
      },
      ThrowsMessage<not_applicable>(HasSubstr("leave dtype at its default")));
}

TEST(window_vectors, are_refused_where_they_cannot_be_loaded) {
  EXPECT_THAT(
      [] {
        plan("read_window", {{"vector", "3"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("vector=3")));
  EXPECT_THAT(
      [] {
        plan("read_window", {{"vector", "16"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("64 bytes are no vector")));
  EXPECT_THAT(
      [] {
        plan("read_window", {{"vector", "8"}});
      },
      ThrowsMessage<not_applicable>(HasSubstr("compute capability 10.0; this device has 9.0")));
  auto blackwell = h200();
  blackwell.compute_capability = 100;
  EXPECT_EQ(plan("read_window", {{"vector", "8"}}, blackwell).bytes_per_pass, mib(64).count);
  EXPECT_THAT(
      [] {
        plan("read_window", {{"window", "1048580"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("whole number of 16-byte vectors")));
}

TEST(sweeps, try_8_to_8192_blocks_largest_first) {
  for (auto const* name : {"read_seq", "read_unroll"}) {
    auto const& p = find_probe(name);
    auto const shapes = p.shapes(complete(p.parameters, {}), h200());
    ASSERT_EQ(shapes.size(), 11U);
    EXPECT_EQ(shapes.front(), (launch_shape{{"blocks", 8192}, {"threads", 512}}));
    EXPECT_EQ(shapes.back(), (launch_shape{{"blocks", 8}, {"threads", 512}}));
  }
}

}  // namespace
}  // namespace bandgate::testing
