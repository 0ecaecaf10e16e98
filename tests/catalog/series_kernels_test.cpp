// SPDX-License-Identifier: Apache-2.0
/// The probes that measure in parts: how they size their work, and what the map of a memory
/// notices.
#include <gmock/gmock.h>

#include <bandgate/parts.hpp>

#include "catalog/emulated_gpu.hpp"
#include "catalog/fake_host.hpp"

namespace bandgate::testing {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Optional;
using ::testing::ThrowsMessage;

using words = std::map<std::string, std::string>;

device_facts h200() {
  device_facts facts;
  facts.memory_total = mib(143771);
  facts.memory_free = mib(143200);
  facts.last_level_cache = mib(60);
  facts.processors = 132;
  facts.compute_capability = 90;
  facts.is_gpu = true;
  return facts;
}

work plan(char const* name, words const& given = {}, device_facts const& facts = h200()) {
  auto const& p = find_probe(name);
  return p.plan(complete(p.parameters, given), facts);
}

TEST(sustained, is_read_for_as_many_windows_as_seconds) {
  auto const& p = find_probe("sustained");
  EXPECT_EQ(p.procedure, procedure::series);
  EXPECT_EQ(p.ceiling, ceiling::dram);
  ASSERT_EQ(p.suites.size(), 1U);
  EXPECT_EQ(p.suites[0].suite, "sustained");
  EXPECT_EQ(plan("sustained").windows, 30U);
  EXPECT_EQ(plan("sustained", {{"seconds", "2"}}).windows, 2U);
  EXPECT_EQ(plan("sustained").buffers, plan("read").buffers);
  EXPECT_EQ(plan("sustained").bytes_per_pass, plan("read").bytes_per_pass);
  for (char const* bad : {"1", "3601", "-1", "ten"})
    EXPECT_THROW(plan("sustained", {{"seconds", bad}}), usage_error) << bad;
}

TEST(sustained, has_more_time_for_more_seconds) {
  auto const& p = find_probe("sustained");
  auto const more = [&](words const& given) {
    return p.more_time_s(complete(p.parameters, given));
  };
  EXPECT_EQ(more({}), 31U);
  EXPECT_EQ(more({{"seconds", "3600"}}), 3780U);
}

TEST(sustained, is_judged_the_same_however_many_seconds_it_takes) {
  auto const& p = find_probe("sustained");
  EXPECT_EQ(keyed(p.parameters, complete(p.parameters, {{"seconds", "10"}})),
            complete(p.parameters, {}));
}

TEST(sustained, verifies_on_a_gpu_and_on_a_host) {
  auto const& p = find_probe("sustained");
  auto const values = complete(p.parameters, {});
  work w;
  w.buffers = {{"data", {(1U << 20) + 48}}};
  emulated_gpu gpu;
  auto const on_gpu = p.on_gpu(gpu, w, values);
  auto const shapes = p.shapes(values, gpu.facts());
  on_gpu->fill();
  for (auto const& shape : shapes) {
    on_gpu->run(shape, 2);
    EXPECT_EQ(on_gpu->verify(shape), std::nullopt);
  }
  gpu.breaks("read", fault::one_thread_missing, 0, 3);
  EXPECT_NE(on_gpu->verify(shapes[0]), std::nullopt);
  gpu.breaks("read", fault::last_block_missing);
  EXPECT_NE(on_gpu->verify(shapes[0]), std::nullopt);

  fake_host host;
  auto const on_host = p.on_host(host, w, values);
  auto const shape = p.shapes(values, host.facts()).at(0);
  on_host->fill();
  EXPECT_EQ(on_host->verify(shape), std::nullopt);
  host.first_buffer()[4711] ^= 1;
  EXPECT_NE(on_host->verify(shape), std::nullopt);
}

TEST(read_map_plan, takes_all_free_memory_but_a_reserve) {
  auto const w = plan("read_map");
  // 143200 MiB less 256 are 139 GiB and 608 MiB, which are more than 4 x the cache of 60 MiB.
  EXPECT_EQ(w.slices, 140U);
  EXPECT_EQ(w.slice_bytes, gib(1).count);
  EXPECT_EQ(w.bytes_per_pass, gib(1).count);
  EXPECT_EQ(w.buffers.at("data").count, mib(142944).count);
  EXPECT_EQ(bytes_of_slice(w, 0), gib(1).count);
  EXPECT_EQ(bytes_of_slice(w, 139), mib(608).count);
  EXPECT_THAT(w.notes, IsEmpty());
  EXPECT_EQ(find_probe("read_map").procedure, procedure::slices);
  EXPECT_FALSE(find_probe("read_map").on_host);
}

TEST(read_map_plan, leaves_out_a_rest_that_the_cache_would_hold_and_says_so) {
  auto facts = h200();
  facts.memory_free = mib(10 * 1024 + 256 + 239);
  auto const w = plan("read_map", {}, facts);
  EXPECT_EQ(w.slices, 10U);
  EXPECT_EQ(w.buffers.at("data").count, gib(10).count);
  EXPECT_THAT(w.notes, ElementsAre(HasSubstr("the last 239MiB are left out")));
  facts.memory_free = mib(10 * 1024 + 256 + 240);
  EXPECT_EQ(plan("read_map", {}, facts).slices, 11U);
}

TEST(read_map_plan, takes_the_size_that_is_asked_for) {
  auto const w = plan("read_map", {{"size", "2GiB"}, {"slice", "256MiB"}});
  EXPECT_EQ(w.slices, 8U);
  EXPECT_EQ(w.slice_bytes, mib(256).count);
  EXPECT_EQ(w.buffers.at("data").count, gib(2).count);
  EXPECT_THAT(
      [] {
        plan("read_map", {{"size", "140GiB"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("size=140GiB does not fit: 143200MiB are free")));
}

TEST(read_map_plan, refuses_slices_that_would_measure_the_cache) {
  EXPECT_THAT(
      [] {
        plan("read_map", {{"slice", "239MiB"}});
      },
      ThrowsMessage<usage_error>(AllOf(HasSubstr("slice=239MiB would measure the cache"),
                                       HasSubstr("at least 240MiB"), HasSubstr("60MiB"))));
  EXPECT_EQ(plan("read_map", {{"slice", "240MiB"}}).slice_bytes, mib(240).count);
}

TEST(read_map_plan, needs_two_slices) {
  auto facts = h200();
  facts.memory_free = mib(2048 + 256);
  EXPECT_EQ(plan("read_map", {}, facts).slices, 2U);
  facts.memory_free = mib(2048 + 255);
  EXPECT_THROW(plan("read_map", {}, facts), not_applicable);
  facts.memory_free = mib(1023 + 256);
  EXPECT_THAT(
      [&] { plan("read_map", {}, facts); },
      ThrowsMessage<not_applicable>(AllOf(HasSubstr("1023MiB of free memory are less than two"),
                                          HasSubstr("ask for a smaller slice"))));
  facts.memory_free = mib(100);
  EXPECT_THROW(plan("read_map", {}, facts), not_applicable);
  EXPECT_THAT(
      [] {
        plan("read_map", {{"size", "1GiB"}});
      },
      ThrowsMessage<usage_error>(HasSubstr("1GiB are less than two slices of 1GiB")));
}

/// A map of five slices of 64 KiB, of which the last is shorter and no tile divides it.
class read_map_on_gpu : public ::testing::Test {
 protected:
  read_map_on_gpu() {
    planned_.slice_bytes = planned_.bytes_per_pass = slice;
    planned_.slices = 5;
    planned_.buffers = {{"data", {4 * slice + 8208}}};
    made_ = what_.on_gpu(gpu_, planned_, values_);
    shapes_ = what_.shapes(values_, gpu_.facts());
  }
  void fill_all() {
    for (std::uint64_t i = 0; i < planned_.slices; ++i) {
      filling_ = i;
      made_->select(i);
      made_->fill();
    }
  }
  /// What the verification finds in each slice.
  std::vector<std::optional<std::string>> verify_all(std::size_t shape = 0) {
    std::vector<std::optional<std::string>> found;
    for (std::uint64_t i = 0; i < planned_.slices; ++i) {
      made_->select(i);
      found.push_back(made_->verify(shapes_.at(shape)));
    }
    return found;
  }
  /// The numbers, from 0 on, of the slices that are wrong.
  std::vector<std::size_t> wrong(std::size_t shape = 0) {
    std::vector<std::size_t> numbers;
    auto const found = verify_all(shape);
    for (std::size_t i = 0; i < found.size(); ++i)
      if (found[i]) numbers.push_back(i);
    return numbers;
  }
  unsigned char* memory() const { return gpu_.first_buffer(); }

  static constexpr std::uint64_t slice = 64 << 10;
  emulated_gpu gpu_;
  probe const& what_{find_probe("read_map")};
  parameters values_{complete(what_.parameters, {})};
  work planned_;
  std::unique_ptr<kernel> made_;
  std::vector<launch_shape> shapes_;
  std::uint64_t filling_{};
};

TEST_F(read_map_on_gpu, verifies_every_slice_in_every_shape) {
  fill_all();
  for (std::size_t shape = 0; shape < shapes_.size(); ++shape) {
    EXPECT_THAT(wrong(shape), IsEmpty()) << shape;
    made_->run(shapes_[shape], 2);
  }
  EXPECT_THAT(wrong(), IsEmpty());
}

TEST_F(read_map_on_gpu, writes_other_words_at_the_same_place_of_every_slice) {
  fill_all();
  auto const* const all = reinterpret_cast<std::uint64_t const*>(memory());
  constexpr auto in_a_slice = slice / sizeof *all;
  for (std::uint64_t a = 0; a < 4; ++a)
    for (std::uint64_t b = a + 1; b < 4; ++b)
      for (std::uint64_t i = 0; i < in_a_slice; ++i)
        ASSERT_NE(all[a * in_a_slice + i], all[b * in_a_slice + i]) << a << " " << b << " " << i;
}

TEST_F(read_map_on_gpu, says_which_word_is_wrong_and_how) {
  fill_all();
  memory()[2 * slice + 0x123] ^= 0x10;
  EXPECT_THAT(wrong(), ElementsAre(2));
  auto const found = verify_all()[2].value();
  EXPECT_THAT(found, AllOf(HasSubstr("the word at 0x20120 is 0x"), HasSubstr("was written as 0x")));
  memory()[2 * slice + 0x123] ^= 0x10;
  EXPECT_THAT(wrong(), IsEmpty());
}

TEST_F(read_map_on_gpu, looks_at_the_first_and_the_last_byte_of_every_slice) {
  fill_all();
  for (std::uint64_t i = 0; i < planned_.slices; ++i)
    for (auto const place : {std::uint64_t{0}, bytes_of_slice(planned_, i) - 1}) {
      memory()[i * slice + place] ^= 0x80;
      EXPECT_THAT(wrong(), ElementsAre(i)) << place;
      memory()[i * slice + place] ^= 0x80;
    }
}

TEST_F(read_map_on_gpu, notices_two_slices_that_share_their_memory) {
  // As where an address line is dead: what is written to one appears in the other.
  gpu_.after("fill with random data", [&] {
    if (filling_ == 3) std::memcpy(memory() + slice, memory() + 3 * slice, slice);
  });
  fill_all();
  EXPECT_THAT(wrong(), ElementsAre(1));
}

TEST_F(read_map_on_gpu, notices_a_slice_that_was_never_filled) {
  fill_all();
  std::memset(memory() + 2 * slice, 0, slice);
  EXPECT_THAT(wrong(), ElementsAre(2));
}

TEST_F(read_map_on_gpu, notices_a_fill_that_left_out_its_tail) {
  gpu_.breaks("fill with random data", fault::last_block_missing);
  fill_all();
  EXPECT_EQ(wrong().size(), 5U);
}

TEST_F(read_map_on_gpu, notices_threads_and_tiles_that_are_not_read) {
  fill_all();
  for (auto const how : {fault::nothing_runs, fault::one_thread_missing, fault::last_block_missing,
                         fault::first_block_twice, fault::one_block_off}) {
    gpu_.breaks("read", how, 0, 17);
    // In the last shape every slice has several tiles, but for the last one.
    EXPECT_EQ(verify_all(shapes_.size() - 1)[1].has_value(), true) << static_cast<int>(how);
  }
  gpu_.breaks("read", fault::none);
  EXPECT_THAT(wrong(shapes_.size() - 1), IsEmpty());
}

}  // namespace
}  // namespace bandgate::testing
