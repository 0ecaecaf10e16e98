// SPDX-License-Identifier: Apache-2.0
/// The transfers between memories on emulated GPUs: what each moves, and whether its verification
/// notices copies and kernels that move less, elsewhere, something else or the other way.
#include <gmock/gmock.h>

#include <functional>

#include "catalog/emulated_gpu.hpp"

namespace bandgate::testing {
namespace {

using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::ThrowsMessage;

/// A size that no tile divides.
constexpr std::uint64_t odd_size = (1U << 20) + 48;

/// One direction of a probe: who carries it, and where it ends.
struct way {
  std::function<emulated_gpu&(emulated_gpu&)> carrier;
  std::function<emulated_gpu&(emulated_gpu&)> owner;  ///< of the memory named `target`
  char const* target;
};

emulated_gpu& itself(emulated_gpu& gpu) {
  return gpu;
}
emulated_gpu& its_side(emulated_gpu& gpu) {
  return gpu.side();
}
emulated_gpu& its_peer(emulated_gpu& gpu) {
  return gpu.peer("auto");
}

struct route {
  char const* name;
  std::vector<way> ways;
};

route const routes[] = {
    {"h2d", {{itself, itself, "device target"}}},
    {"d2h", {{itself, itself, "host target"}}},
    {"host_bidir", {{itself, itself, "device target"}, {its_side, itself, "host target"}}},
    {"h2d_pageable", {{itself, itself, "device target"}}},
    {"d2h_pageable", {{itself, itself, "host target"}}},
    {"p2p_read", {{itself, itself, "device target"}}},
    {"p2p_write", {{itself, its_peer, "peer target"}}},
    {"p2p_bidir", {{itself, its_peer, "peer target"}, {its_peer, itself, "device target"}}}};

work plan(std::string const& name, std::map<std::string, std::string> const& given = {}) {
  auto const& p = find_probe(name);
  return p.plan(complete(p.parameters, given), {});
}

struct prepared_transfer {
  prepared_transfer(emulated_gpu& gpu, std::string const& name,
                    std::map<std::string, std::string> given, std::uint64_t size = odd_size) {
    auto const& p = find_probe(name);
    given["size"] = std::to_string(size);
    auto const values = complete(p.parameters, given);
    planned = p.plan(values, gpu.facts());
    made = p.on_gpu(gpu, planned, values);
    shapes = p.shapes(values, gpu.facts());
    made->fill();
  }
  std::optional<std::string> verify(std::size_t shape = 0) {
    return made->verify(shapes.at(shape));
  }

  work planned;
  std::unique_ptr<kernel> made;
  std::vector<launch_shape> shapes;
};

class every_transfer : public ::testing::TestWithParam<route> {
 protected:
  std::string name() const { return GetParam().name; }
  /// Each way of the probe in turn, on GPUs of its own.
  template <class Body>
  void each_way(std::map<std::string, std::string> const& given, Body const& body) const {
    for (auto const& one : GetParam().ways) {
      emulated_gpu gpu;
      prepared_transfer probe(gpu, name(), given);
      SCOPED_TRACE(name() + " to " + one.target);
      body(one, gpu, probe);
    }
  }
};

TEST_P(every_transfer, verifies_and_again_after_passes) {
  each_way({}, [](way const&, emulated_gpu&, prepared_transfer& probe) {
    EXPECT_EQ(probe.verify(), std::nullopt);
    probe.made->run(probe.shapes[0], 3);
    EXPECT_EQ(probe.verify(), std::nullopt);
  });
}

TEST_P(every_transfer, notices_what_a_copy_engine_does_wrong_once) {
  for (auto const how : {copy_fault::nothing, copy_fault::tail_missing, copy_fault::one_word_off,
                         copy_fault::other_way})
    each_way({}, [&](way const& one, emulated_gpu& gpu, prepared_transfer& probe) {
      ASSERT_EQ(probe.verify(), std::nullopt);
      one.carrier(gpu).breaks_copies(how, 0);
      EXPECT_NE(probe.verify(), std::nullopt) << "fault " << static_cast<int>(how);
    });
}

TEST_P(every_transfer, notices_what_a_copy_engine_does_wrong_every_time) {
  for (auto const how : {copy_fault::nothing, copy_fault::tail_missing, copy_fault::one_word_off,
                         copy_fault::other_way})
    each_way({}, [&](way const& one, emulated_gpu& gpu, prepared_transfer& probe) {
      ASSERT_EQ(probe.verify(), std::nullopt);
      one.carrier(gpu).breaks_copies(how);
      EXPECT_NE(probe.verify(), std::nullopt) << "fault " << static_cast<int>(how);
    });
}

TEST_P(every_transfer, notices_a_flipped_bit_in_the_first_and_the_last_byte) {
  for (std::uint64_t const place : {std::uint64_t{0}, odd_size - 1})
    each_way({}, [&](way const& one, emulated_gpu& gpu, prepared_transfer& probe) {
      one.carrier(gpu).breaks_copies(copy_fault::one_bit, 0, place);
      EXPECT_THAT(probe.verify(), Optional(HasSubstr("at byte " + std::to_string(place / 8 * 8))));
    });
}

TEST_P(every_transfer, counts_each_direction_once) {
  auto const directions = GetParam().ways.size();
  EXPECT_EQ(plan(name(), {{"size", "64MiB"}}).bytes_per_pass, directions * mib(64).count);
  auto const& p = find_probe(name());
  EXPECT_EQ(p.directions, directions);
  EXPECT_EQ(p.byte_rule,
            directions == 1 ? "bytes transferred" : "bytes transferred, both directions summed");
  EXPECT_EQ(p.ceiling, ceiling::link);
  EXPECT_STREQ(to_string(p.load), "link");
  EXPECT_EQ(p.expected_spread, 0.04);
  EXPECT_FALSE(p.on_host);
}

TEST_P(every_transfer, refuses_sizes_that_are_none) {
  EXPECT_THAT(
      [&] {
        plan(name(), {{"size", "1048575"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("below the least, 1MiB")));
  EXPECT_THAT(
      [&] {
        plan(name(), {{"size", "1048584"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("not a multiple of 16")));
  EXPECT_NO_THROW(plan(name(), {{"size", "8GiB"}}));
  auto const& p = find_probe(name());
  EXPECT_EQ(p.more_time_s(complete(p.parameters, {{"size", "64MiB"}})), 0U);
  EXPECT_EQ(p.more_time_s(complete(p.parameters, {{"size", "8GiB"}})), 40U);
}

TEST_P(every_transfer, gives_the_rate_of_each_of_two_directions) {
  emulated_gpu gpu;
  prepared_transfer probe(gpu, name(), {}, 1 << 20);
  probe.made->run(probe.shapes[0], 5);
  auto const& ways = GetParam().ways;
  double seconds = 1;
  for (auto const& one : ways) one.carrier(gpu).timer_reads(seconds *= 2);
  auto const more = probe.made->more(0.1);
  if (ways.size() == 1) {
    EXPECT_THAT(more, IsEmpty());
    EXPECT_EQ(gpu.timers(), 0U);
    return;
  }
  ASSERT_EQ(more.size(), 2U);
  EXPECT_EQ(more[0].value, 5 * 1048576.0 / 2);
  EXPECT_EQ(more[1].value, 5 * 1048576.0 / 4);
  bool const host = name() == "host_bidir";
  EXPECT_EQ(more[0].name, host ? "host to device" : "to the peer");
  EXPECT_EQ(more[1].name, host ? "device to host" : "from the peer");
  EXPECT_EQ(more[0].unit, "B/s");
}

TEST_P(every_transfer, of_two_directions_begins_and_ends_both_with_what_is_timed) {
  if (GetParam().ways.size() == 1) return;
  emulated_gpu gpu;
  prepared_transfer probe(gpu, name(), {}, 1 << 20);
  probe.made->run(probe.shapes[0], 2);
  auto& other = GetParam().ways[1].carrier(gpu);
  EXPECT_THAT(other.waited_for(), ElementsAre(&gpu));
  EXPECT_THAT(gpu.waited_for(), ElementsAre(&other));
  EXPECT_EQ(gpu.timers(), 1U);
  EXPECT_EQ(other.timers(), 1U);
}

INSTANTIATE_TEST_SUITE_P(catalog, every_transfer, ::testing::ValuesIn(routes),
                         [](auto const& each) { return std::string(each.param.name); });

class every_kernel_transfer : public every_transfer {};

TEST_P(every_kernel_transfer, verifies_in_every_shape_sizes_round_the_tile) {
  for (std::uint64_t const more : {0, 16, 48, 4096, 16384 - 16, 65536 - 16, 65536, 65536 + 16}) {
    emulated_gpu gpu;
    prepared_transfer probe(gpu, name(), {{"engine", "sm"}}, (1U << 20) + more);
    ASSERT_EQ(probe.shapes.size(), 3U);
    for (std::size_t shape = 0; shape < probe.shapes.size(); ++shape)
      EXPECT_EQ(probe.verify(shape), std::nullopt) << more << ", shape " << shape;
  }
}

TEST_P(every_kernel_transfer, notices_blocks_that_are_missing_or_elsewhere) {
  for (auto const how : {fault::nothing_runs, fault::last_block_missing, fault::one_block_off,
                         fault::first_block_twice})
    each_way({{"engine", "sm"}}, [&](way const& one, emulated_gpu& gpu, prepared_transfer& probe) {
      for (std::size_t shape = 0; shape < probe.shapes.size(); ++shape) {
        one.carrier(gpu).breaks("transfer", fault::none);
        probe.made->fill();  // what was compared and found wrong is no source any more
        ASSERT_EQ(probe.verify(shape), std::nullopt);
        one.carrier(gpu).breaks("transfer", how);
        EXPECT_NE(probe.verify(shape), std::nullopt) << "fault " << static_cast<int>(how);
      }
    });
}

TEST_P(every_kernel_transfer, notices_one_missing_thread) {
  for (std::uint64_t const thread : {0, 1, 255})
    each_way({{"engine", "sm"}}, [&](way const& one, emulated_gpu& gpu, prepared_transfer& probe) {
      one.carrier(gpu).breaks("transfer", fault::one_thread_missing, 2, thread);
      EXPECT_NE(probe.verify(), std::nullopt) << "thread " << thread;
    });
}

TEST_P(every_kernel_transfer, notices_a_flipped_bit_in_the_first_and_the_last_byte) {
  for (std::uint64_t const place : {std::uint64_t{0}, odd_size - 1})
    each_way({{"engine", "sm"}}, [&](way const& one, emulated_gpu& gpu, prepared_transfer& probe) {
      one.carrier(gpu).after("transfer", [&] { one.owner(gpu).memory(one.target)[place] ^= 0x10; });
      EXPECT_THAT(probe.verify(), Optional(HasSubstr("at byte " + std::to_string(place / 8 * 8))));
    });
}

TEST_P(every_kernel_transfer, moves_nothing_with_a_copy_engine) {
  emulated_gpu gpu;
  prepared_transfer probe(gpu, name(), {{"engine", "sm"}}, 1 << 20);
  for (auto const& one : GetParam().ways) one.carrier(gpu).breaks_copies(copy_fault::nothing);
  for (auto const& one : GetParam().ways)
    std::memset(one.owner(gpu).memory(one.target), 0, 1 << 20);
  probe.made->run(probe.shapes[0], 1);
  for (auto const& one : GetParam().ways) {
    auto const* target = one.owner(gpu).memory(one.target);
    EXPECT_NE(std::count(target, target + (1 << 20), 0), 1 << 20) << one.target;
  }
}

INSTANTIATE_TEST_SUITE_P(catalog, every_kernel_transfer,
                         ::testing::Values(routes[0], routes[1], routes[2], routes[5], routes[6],
                                           routes[7]),
                         [](auto const& each) { return std::string(each.param.name); });

TEST(transfers, notice_a_source_that_changed) {
  emulated_gpu gpu;
  prepared_transfer down(gpu, "h2d", {});
  gpu.memory("host source")[77] ^= 1;
  EXPECT_THAT(down.verify(), Optional(HasSubstr("host to device: what arrived differs from what "
                                                "was sent in the 64-bit word at byte 72")));
  prepared_transfer across(gpu, "p2p_read", {});
  gpu.peer("auto").memory("peer source")[8] ^= 1;
  EXPECT_THAT(across.verify(), Optional(HasSubstr("from the peer: ")));
}

TEST(transfers, to_the_host_are_not_right_because_the_copy_back_is_wrong_too) {
  for (auto const how : {copy_fault::nothing, copy_fault::tail_missing, copy_fault::one_word_off}) {
    emulated_gpu gpu;
    prepared_transfer probe(gpu, "d2h", {});
    gpu.breaks_copies(how, 1);
    EXPECT_NE(probe.verify(), std::nullopt) << "fault " << static_cast<int>(how);
  }
}

TEST(transfers, between_gpus_are_left_out_where_there_is_no_access) {
  for (auto const* name : {"p2p_read", "p2p_write", "p2p_bidir"}) {
    emulated_gpu gpu;
    EXPECT_THROW(prepared_transfer(gpu, name, {{"peer", "none"}}), not_applicable) << name;
  }
}

TEST(transfers, of_two_directions_hold_other_data_in_each) {
  emulated_gpu gpu;
  prepared_transfer probe(gpu, "host_bidir", {}, 1 << 20);
  ASSERT_EQ(probe.verify(), std::nullopt);
  EXPECT_NE(std::memcmp(gpu.memory("host source"), gpu.memory("host target"), 64), 0);
}

TEST(transfers, are_in_the_suites_that_gate_a_node) {
  auto const in = [](char const* name, char const* suite) {
    std::vector<std::string> all;
    for (auto const& member : find_probe(name).suites) {
      std::string text;
      for (auto const& [key, value] : member.parameters) text += key + "=" + value;
      if (member.suite == suite) all.push_back(text);
    }
    return all;
  };
  for (auto const* name : {"h2d", "d2h"}) {
    EXPECT_THAT(in(name, "quick"), ElementsAre("")) << name;
    EXPECT_THAT(in(name, "full"), ElementsAre("", "size=64MiB", "size=1GiB", "engine=sm")) << name;
    EXPECT_EQ(plan(name).bytes_per_pass, mib(256).count);
    EXPECT_EQ(find_probe(name).load, load::link);
  }
  EXPECT_THAT(in("host_bidir", "full"), ElementsAre(""));
  EXPECT_THAT(in("p2p_read", "quick"), ElementsAre(""));
  for (auto const* name : {"p2p_read", "p2p_write", "p2p_bidir"}) {
    EXPECT_THAT(in(name, "full"), ElementsAre("peer=each")) << name;
    EXPECT_EQ(find_probe(name).load, load::peer);
    EXPECT_EQ(plan(name).bytes_per_pass, find_probe(name).directions * gib(1).count);
  }
  for (auto const* name : {"h2d_pageable", "d2h_pageable"})
    EXPECT_THAT(find_probe(name).suites, IsEmpty()) << name;
}

TEST(transfers, have_a_baseline_for_each_size_and_engine_and_for_every_pair) {
  auto const& p = find_probe("p2p_write");
  auto const of = [&](std::map<std::string, std::string> const& given) {
    return keyed(p.parameters, complete(p.parameters, given));
  };
  EXPECT_EQ(of({{"peer", "GPU-7"}}), of({}));
  EXPECT_NE(of({{"engine", "sm"}}), of({}));
  EXPECT_NE(of({{"size", "2GiB"}}), of({}));
}

}  // namespace
}  // namespace bandgate::testing
