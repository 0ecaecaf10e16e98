// SPDX-License-Identifier: Apache-2.0
#include "measure/slices.hpp"

#include <gmock/gmock.h>

#include <array>

#include <bandgate/errors.hpp>
#include <bandgate/parts.hpp>

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
using ::testing::ElementsAre;
using ::testing::HasSubstr;

struct course final : observer {
  void on_phase(phase p) override { heard.emplace_back(to_string(p)); }
  void on_progress(std::uint64_t done, std::uint64_t all) override {
    heard.push_back(std::to_string(done) + "/" + std::to_string(all));
  }
  std::vector<std::string> heard;
};

/// Slices of 1000 bytes; the last one may be shorter.
work memory(std::uint64_t bytes) {
  work w;
  w.bytes_per_pass = 1000;
  w.slice_bytes = 1000;
  w.slices = (bytes + 999) / 1000;
  w.buffers = {{"data", {bytes}}};
  return w;
}

struct device {
  device() : what(time, [this](call const& c) { return answer(c); }) {}
  explicit device(scripted_subject::script script) : device() { answer = std::move(script); }
  measured_slices timed(std::uint64_t slices, bool proportional = true) {
    std::array<subject*, 1> const shapes{&what};
    return measure_slices(
        shapes, [this](std::uint64_t slice) { selected = slice; }, slices, time, heard,
        proportional);
  }
  virtual_clock time;
  course heard;
  std::uint64_t selected{99};
  scripted_subject::script answer;
  scripted_subject what;
};

TEST(slices, takes_five_short_samples_of_each) {
  device card(steady(1000));
  auto const m = card.timed(3);
  EXPECT_THAT(card.heard.heard, ElementsAre("warm-up", "sampling", "0/3", "1/3", "2/3", "3/3"));
  EXPECT_EQ(m.iterations, 5000u);  // 5 ms
  EXPECT_EQ(m.warm_up, 1us + 280ms + 60ms);
  EXPECT_EQ(card.what.counts.size(), 15u + 2u + 3u * 5u);
  EXPECT_THAT(m.seconds_per_pass, ElementsAre(DoubleEq(1e-6), DoubleEq(1e-6), DoubleEq(1e-6)));
  EXPECT_EQ(card.time.now() - m.warm_up, 3 * 25ms);
}

TEST(slices, maps_a_card_of_141_GB_within_seconds) {
  device card(steady(246000));  // a GiB at 4365 GB/s
  auto const m = card.timed(139);
  EXPECT_EQ(m.iterations, 21u);
  EXPECT_LT(card.time.now() - m.warm_up, 4s);
}

TEST(slices, finds_the_slow_one_and_its_addresses) {
  device card;
  card.answer = [&](call const& c) {
    return passes(c.iterations, card.selected == 2 ? 2000 : 1000);
  };
  auto const m = summarize(card.timed(5), memory(5000), false);
  EXPECT_THAT(m.samples, ElementsAre(DoubleEq(1e9), DoubleEq(1e9), DoubleEq(5e8), DoubleEq(1e9),
                                     DoubleEq(1e9)));
  EXPECT_DOUBLE_EQ(m.worst.value(), 5e8);
  EXPECT_DOUBLE_EQ(m.median, 1e9);
  EXPECT_EQ(m.drop, std::nullopt);
  EXPECT_EQ(m.series->axis, "address");
  EXPECT_EQ(m.series->step, 1000);
  EXPECT_EQ(m.series->points[2].at, 2000);
  EXPECT_EQ(part_text(*m.series, slowest_part(m)), "slice 3 of 5, 0x7d0 to 0xbb7");
}

TEST(slices, takes_the_median_so_that_one_disturbed_sample_decides_nothing) {
  device card;
  std::size_t sampled = 0;
  card.answer = [&](call const& c) {
    bool const sampling = card.heard.heard.back() != "warm-up";
    bool const disturbed = sampling && ++sampled % 5 <= 1;  // the last and the first of five
    return passes(c.iterations, disturbed ? 9000 : 1000);
  };
  EXPECT_THAT(card.timed(2).seconds_per_pass, ElementsAre(DoubleEq(1e-6), DoubleEq(1e-6)));
}

TEST(slices, a_shorter_last_one_is_as_fast_when_its_bytes_are) {
  device card;
  card.answer = [&](call const& c) {
    return passes(c.iterations, card.selected == 2 ? 250 : 1000);
  };
  auto const m = summarize(card.timed(3), memory(2250), false);
  EXPECT_THAT(m.samples, ElementsAre(DoubleEq(1e9), DoubleEq(1e9), DoubleEq(1e9)));
  EXPECT_EQ(part_text(*m.series, 2), "slice 3 of 3, from 0x7d0 on");
}

TEST(slices, a_trend_over_the_addresses_is_not_unsettled) {
  measured_slices m;
  for (int i = 0; i < 20; ++i) m.seconds_per_pass.push_back(1e-6 * (1 + 0.01 * i));
  auto const s = summarize(m, memory(20000), false);
  EXPECT_LT(s.slope.value(), -0.1);
  EXPECT_FALSE(s.unsettled);
}

TEST(slices, checks_proportionality_once) {
  device emptied([](call const&) { return fakes::reading{25ms, 25ms}; });
  try {
    emptied.timed(3);
    FAIL() << "no exception";
  } catch (measurement_error const& e) {
    EXPECT_EQ(e.code(), failure::not_proportional);
  }
  EXPECT_EQ(emptied.selected, 0u);
}

TEST(slices, a_sample_that_reads_nothing_names_its_slice) {
  device card;
  card.answer = [&](call const& c) {
    auto r = passes(c.iterations, 1000);
    if (card.selected == 1) r.elapsed = 0ns;
    return r;
  };
  try {
    card.timed(3);
    FAIL() << "no exception";
  } catch (measurement_error const& e) {
    EXPECT_EQ(e.code(), failure::zero_elapsed);
    EXPECT_THAT(e.what(), HasSubstr("a sample of slice 2 read 0 ns"));
  }
}

TEST(slices, refuses_nothing_to_do) {
  device card(steady(1000));
  EXPECT_THROW(card.timed(0), usage_error);
}

TEST(parts, of_a_work_are_its_buffers_cut_in_slices) {
  auto const w = memory(2250);
  EXPECT_EQ(bytes_of_slice(w, 0), 1000u);
  EXPECT_EQ(bytes_of_slice(w, 1), 1000u);
  EXPECT_EQ(bytes_of_slice(w, 2), 250u);
  EXPECT_EQ(bytes_of_slice(w, 3), 0u);
  EXPECT_EQ(slice_text(36, 139, 36ULL << 30, 37ULL << 30),
            "slice 37 of 139, 0x900000000 to 0x93fffffff");
}

}  // namespace
}  // namespace bandgate
