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

TEST(catalog, holds_every_probe) {
  std::vector<std::string> names;
  for (auto const& p : registered_probes()) names.push_back(p.name);
  EXPECT_THAT(names,
              ElementsAre("copy", "d2h", "d2h_pageable", "gather", "h2d", "h2d_pageable",
                          "host_bidir", "l2_read", "launch", "memcpy_d2d", "memset", "p2p_bidir",
                          "p2p_read", "p2p_write", "read", "read_map", "read_seq", "read_unroll",
                          "read_window", "scatter", "sustained", "triad", "write"));
}

/// What a probe is held to; "-" is no suite.
struct declaration {
  char const* name;
  ceiling limit;
  load loads;
  bool on_host;
  double spread;
  std::vector<std::string> suites;
};

TEST(catalog, declares_what_baselines_and_suites_need) {
  using names = std::vector<std::string>;
  auto const dram = ceiling::dram;
  auto const link = ceiling::link;
  auto const none = ceiling::none;
  for (auto const& d : {
           declaration{"read", dram, load::dram, true, 0.02, names{"quick", "full"}},
           {"write", dram, load::dram, true, 0.02, {"quick", "full"}},
           {"copy", dram, load::dram, true, 0.02, {"quick", "full"}},
           {"triad", dram, load::dram, true, 0.02, {"full"}},
           {"memcpy_d2d", dram, load::dram, false, 0.02, {"full"}},
           {"memset", dram, load::dram, false, 0.02, {"full"}},
           {"read_seq", dram, load::dram, true, 0.04, {"full"}},
           {"read_unroll", dram, load::dram, true, 0.04, {"full"}},
           {"read_window", dram, load::dram, true, 0.04, {"full"}},
           {"gather", dram, load::dram, true, 0.12, {"full"}},
           {"scatter", dram, load::dram, true, 0.12, {"full"}},
           {"read_map", dram, load::dram, false, 0.02, {"full"}},
           {"sustained", dram, load::dram, true, 0.02, {"sustained"}},
           {"l2_read", none, load::cache, false, 0.04, {"full"}},
           {"launch", none, load::cache, false, 0.4, {"full"}},
           {"h2d", link, load::link, false, 0.04, {"quick", "full"}},
           {"d2h", link, load::link, false, 0.04, {"quick", "full"}},
           {"host_bidir", link, load::link, false, 0.04, {"full"}},
           {"h2d_pageable", link, load::link, false, 0.04, {}},
           {"d2h_pageable", link, load::link, false, 0.04, {}},
           {"p2p_read", link, load::peer, false, 0.04, {"quick", "full"}},
           {"p2p_write", link, load::peer, false, 0.04, {"full"}},
           {"p2p_bidir", link, load::peer, false, 0.04, {"full"}},
       }) {
    auto const& p = find_probe(d.name);
    EXPECT_EQ(p.ceiling, d.limit) << p.name;
    EXPECT_EQ(p.load, d.loads) << p.name;
    EXPECT_TRUE(p.on_gpu) << p.name;
    EXPECT_EQ(static_cast<bool>(p.on_host), d.on_host) << p.name;
    EXPECT_EQ(p.expected_spread, d.spread) << p.name;
    EXPECT_FALSE(p.summary.empty() || p.byte_rule.empty()) << p.name;
    for (auto const& parameter : p.parameters) EXPECT_FALSE(parameter.help.empty()) << p.name;
    std::vector<std::string> suites;
    for (auto const& member : p.suites)
      if (std::find(suites.begin(), suites.end(), member.suite) == suites.end())
        suites.push_back(member.suite);
    EXPECT_EQ(suites, d.suites) << p.name;
    EXPECT_FALSE(p.shapes(complete(p.parameters, {}), h200()).empty()) << p.name;
    EXPECT_FALSE(p.on_host && p.shapes(complete(p.parameters, {}), laptop()).empty()) << p.name;
  }
  EXPECT_EQ(find_probe("copy").byte_rule, "bytes read + bytes written");
  EXPECT_EQ(find_probe("write").byte_rule, "bytes written");
  EXPECT_EQ(find_probe("launch").direction, direction::lower_is_better);
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
  EXPECT_EQ(plan("read", {{"size", "20G"}}).bytes_per_pass, gib(20).count);
  EXPECT_EQ(plan("triad").bytes_per_pass, 3 * four_gib);
  for (auto const* name : {"memcpy_d2d", "memset"})
    EXPECT_EQ(plan(name).buffers.at("data").count, four_gib) << name;
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

TEST(catalog, takes_sizes_to_the_element) {
  for (std::uint64_t const elements : {(1ULL << 31) - 1, 1ULL << 31, (1ULL << 31) + 1})
    for (auto const* name : {"read", "write", "copy", "triad"})
      EXPECT_EQ(plan(name, {{"size", std::to_string(elements * 8)}}).buffers.at("data").count,
                elements * 8)
          << name;
  EXPECT_THAT(
      [] {
        plan("read", {{"size", "1000000004"}});
      },
      ThrowsMessage<usage_error>(
          HasSubstr("is not a multiple of 8 bytes; the next is 1000000008")));
  EXPECT_THAT(
      [] {
        plan("read", {{"size", "2000000008"}}, laptop());
      },
      ThrowsMessage<usage_error>(HasSubstr("is not a multiple of 64 bytes")));
  for (char const* bad : {"-1", "0", "1e30", "", "20X", "5 GiB x"})
    EXPECT_THROW(plan("read", {{"size", bad}}), usage_error) << bad;
}

TEST(cache_window, is_half_the_cache_and_never_more_than_it) {
  auto const w = plan("l2_read");
  EXPECT_EQ(w.bytes_per_pass, mib(30).count);
  EXPECT_EQ(w.min_iterations, 64U);
  EXPECT_THAT(
      [] {
        plan("l2_read", {{"window", "61MiB"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("does not stay in the cache of 60MiB")));
  auto unknown = h200();
  unknown.last_level_cache = {};
  EXPECT_THROW(plan("l2_read", {}, unknown), not_applicable);
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
    EXPECT_THAT(p.shapes(complete(p.parameters, {{"blocks", "64"}}), h200()),
                ElementsAre(launch_shape{{"blocks", 64}, {"threads", 512}}));
  }
}

}  // namespace
}  // namespace bandgate::testing
