// SPDX-License-Identifier: Apache-2.0
#include <limits>

#include "records/baseline_fixture.hpp"

namespace bandgate::testing {
namespace {

using ::testing::HasSubstr;

TEST(make_entry, takes_the_median_of_the_cards_medians) {
  auto const entry = make_entry(seen({{4300, 4310, 4320}, {4100, 4101, 4999}, {4200, 4202}}),
                                std::nullopt, today());
  EXPECT_EQ(entry.probe, "read");
  EXPECT_EQ(entry.parameters, (parameters{{"size", std::string("auto")}}));
  EXPECT_EQ(entry.statistic, "median");
  EXPECT_EQ(entry.unit, unit::gib_per_s);
  EXPECT_EQ(entry.value, 4201);
  EXPECT_EQ(entry.card, "");
  EXPECT_EQ(entry.provenance.kind, "measured");
  EXPECT_EQ(entry.provenance.cards, 3U);
  EXPECT_EQ(entry.provenance.processes, 2U);
  EXPECT_EQ(entry.provenance.driver, "580.159.04");
}

TEST(make_entry, of_a_series_is_of_its_worst_window) {
  auto what = probe_named("read");
  what.procedure = procedure::series;
  auto values = seen({{4300, 4310, 4320}});
  values.what = &what;
  auto const entry = make_entry(values, std::nullopt, today());
  EXPECT_EQ(entry.statistic, "worst");
  EXPECT_EQ(entry.unit, unit::gib_per_s);
  EXPECT_EQ(entry.value, 4310);
  EXPECT_EQ(entry.upper, -entry.lower);
}

TEST(make_entry, of_a_map_is_the_slowest_slice_as_a_share_of_the_median) {
  auto what = probe_named("read");
  what.procedure = procedure::slices;
  auto values = seen({{4300}});
  values.what = &what;
  values.medians_by_card = {{0.9951, 0.9961234567, 0.9971}};
  auto const entry = make_entry(values, std::nullopt, today());
  EXPECT_EQ(entry.statistic, "worst");
  EXPECT_EQ(entry.relative_to, "median");
  EXPECT_EQ(entry.unit, std::nullopt);
  EXPECT_EQ(entry.value, 0.996123);
  EXPECT_EQ(entry.lower, -0.03);
  EXPECT_EQ(entry.upper, std::nullopt);
}

TEST(make_entry, rounds_to_six_digits) {
  EXPECT_EQ(make_entry(seen({{4302.5678}}), std::nullopt, today()).value, 4302.57);
  EXPECT_EQ(make_entry(seen({{12.3456789}}), std::nullopt, today()).value, 12.3457);
}

TEST(make_entry, leaves_room_for_other_cards_until_three_were_seen) {
  auto const lower = [](std::vector<std::vector<double>> medians) {
    return make_entry(seen(std::move(medians)), std::nullopt, today()).lower;
  };
  EXPECT_EQ(lower({{4300, 4300}}), -0.03);
  EXPECT_EQ(lower({{4300, 4300}, {4300, 4300}}), -0.03);
  EXPECT_EQ(lower({{4300, 4300}, {4300, 4300}, {4300, 4300}}), -0.01);
}

TEST(make_entry, leaves_less_room_within_one_board_part_but_not_for_links) {
  auto cards = seen({{4300, 4300}});
  cards.one_board_part = true;
  EXPECT_EQ(make_entry(cards, std::nullopt, today()).lower, -0.01);  // 1.5 x 2 % / 4 < 1 %
  auto wide = *cards.what;
  wide.expected_spread = 0.12;
  cards.what = &wide;
  EXPECT_EQ(make_entry(cards, std::nullopt, today()).lower, -0.045);
  wide.ceiling = ceiling::link;
  EXPECT_EQ(make_entry(cards, std::nullopt, today()).lower, -0.18);
}

TEST(make_entry, leaves_room_for_the_noise_of_the_worst_card) {
  // {990, 1000, 1010}: sd 10, 1 % of the median; six of them.
  auto const entry =
      make_entry(seen({{1000, 1000}, {990, 1000, 1010}, {2000, 2000}}), std::nullopt, today());
  EXPECT_EQ(entry.lower, -0.06);
  EXPECT_EQ(entry.upper, 0.06);
  // What differs between cards is not noise: each is constant here.
  EXPECT_EQ(make_entry(seen({{900, 900}, {1000, 1000}, {1100, 1100}}), std::nullopt, today()).lower,
            -0.01);
}

TEST(make_entry, rounds_a_tolerance_up) {
  // {999.7, 1000, 1000.3}: 6 x 0.03 % = 0.18 %; {998.3, 1000, 1001.7}: 6 x 0.17 % = 1.02 %.
  auto const one = [](double off) {
    return make_entry(seen({{1000 - off, 1000, 1000 + off}, {1000}, {1000}}), std::nullopt, today())
        .lower;
  };
  EXPECT_EQ(one(0.3), -0.01);
  EXPECT_EQ(one(1.7), -0.0102);
  EXPECT_EQ(one(1.701), -0.0103);
}

TEST(make_entry, holds_a_single_card_closer) {
  auto const all = seen({{4300, 4310}, {1000, 1001, 1002}, {4300}});
  auto const card = make_entry(all, 1, today());
  EXPECT_EQ(card.card, "GPU-1");
  EXPECT_EQ(card.value, 1001);
  EXPECT_EQ(card.lower, -0.006);  // 6 x 0.0999 %
  EXPECT_EQ(card.provenance.cards, 1U);
  EXPECT_EQ(card.provenance.processes, 3U);
  EXPECT_EQ(make_entry(all, 2, today()).lower, -0.005);
}

TEST(make_entry, records_a_time_in_microseconds) {
  auto const entry = make_entry(seen({{2, 2.1, 2.2}}, "launch"), std::nullopt, today());
  EXPECT_EQ(entry.unit, unit::microseconds);
  EXPECT_EQ(entry.value, 2.1);
  EXPECT_EQ(entry.upper, 0.2858);  // 6 x 0.1 / 2.1
  EXPECT_EQ(entry.lower, -0.2858);
}

TEST(make_entry, refuses_what_is_no_reference) {
  auto const refused = [](std::vector<std::vector<double>> medians) {
    return error_of([&] { make_entry(seen(std::move(medians)), std::nullopt, today()); });
  };
  EXPECT_EQ(refused({}), "read: nothing was measured that a baseline could be recorded from");
  EXPECT_EQ(refused({{4300}, {}}),
            "read: a card has no measurement; nothing is recorded for part of them");
  EXPECT_EQ(refused({{4300, 0}}), "read: 0 is no measurement that can be a reference");
  EXPECT_THAT(refused({{std::numeric_limits<double>::quiet_NaN()}}), HasSubstr("nan is no meas"));
  EXPECT_EQ(refused({{100, 200, 300}}),
            "read: the processes differ so much that the tolerance would be 300 %; find out what "
            "disturbs them and record again");
  EXPECT_THAT(error_of([] { make_entry(seen({{1}}), 1, today()); }), HasSubstr("nothing was meas"));
}

}  // namespace
}  // namespace bandgate::testing
