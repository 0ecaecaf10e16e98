// SPDX-License-Identifier: Apache-2.0
#include "gate/since.hpp"

#include <gmock/gmock.h>

#include <cmath>

#include "gate/examples.hpp"

namespace bandgate {
namespace {

using namespace examples;
using ::testing::AnyOf;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr double second = 1e9;

health_snapshot quiet() {
  health_snapshot all;
  for (auto const* name :
       {"clock_event_hw_thermal_ns", "clock_event_sw_thermal_ns", "clock_event_power_brake_ns",
        "clock_event_sw_power_cap_ns", "clock_event_sync_boost_ns", "clock_event_reliability_ns",
        "clock_event_board_limit_ns"})
    all[name] = ok(1000 * second);
  for (auto const* name : {"pcie_replays", "nvlink_errors", "ecc_corrected_volatile",
                           "ecc_uncorrected_volatile", "ecc_uncorrected_aggregate"})
    all[name] = ok(10);
  for (auto const* name :
       {"row_remap_pending", "row_remap_failure", "page_retirement_pending", "repair_pending"})
    all[name] = ok_flag(false);
  return all;
}

std::vector<std::string> texts(changes const& all) {
  std::vector<std::string> found;
  for (auto const& c : all.found) found.push_back(c.what);
  return found;
}

TEST(changes_between, nothing_happened) {
  auto const all = changes_between(quiet(), quiet(), 1200);
  EXPECT_THAT(all.found, IsEmpty());
  EXPECT_THAT(all.unread, IsEmpty());
  EXPECT_EQ(all.compared, 16u);
  EXPECT_EQ(all.not_comparable, std::nullopt);
}

TEST(changes_between, says_how_many_counters_it_compared) {
  auto before = quiet(), after = quiet();
  before.erase("nvlink_errors");
  after["pcie_replays"] = {health_field::state::unavailable, {}, "no permission"};
  after["ecc_corrected_volatile"] = {health_field::state::not_supported, {}, {}};
  EXPECT_EQ(changes_between(before, after, 1200).compared, 13u);
  EXPECT_EQ(changes_between({}, quiet(), 1200).compared, 0u);
  EXPECT_EQ(changes_between(quiet(), {}, 1200).compared, 0u);
  EXPECT_EQ(changes_between(quiet(), quiet(), 0).compared, 0u) << "not comparable";
}

TEST(changes_between, says_how_long_the_clocks_were_held_down) {
  auto after = quiet();
  after["clock_event_hw_thermal_ns"] = ok(1412 * second);
  after["pcie_replays"] = ok(13);
  auto const all = changes_between(quiet(), after, 1200);
  EXPECT_THAT(texts(all),
              ElementsAre("412 s of hardware thermal slowdown (34 % of 1200 s)", "3 PCIe replays"));
  for (auto const& c : all.found) {
    EXPECT_TRUE(c.harmful) << c.code;
    EXPECT_NE(c.remedy, "") << c.code;
  }
}

struct advance {
  char const* field;
  health_field after;
  char const* code;
  char const* what;
  bool harmful;
};

TEST(changes_between, each_counter) {
  for (auto const& a : std::vector<advance>{
           {"clock_event_hw_thermal_ns", ok(1100 * second), "hw-thermal",
            "100 s of hardware thermal slowdown (10 % of 1000 s)", true},
           {"clock_event_sw_thermal_ns", ok(1100 * second), "sw-thermal",
            "100 s of software thermal slowdown (10 % of 1000 s)", true},
           {"clock_event_power_brake_ns", ok(1100 * second), "power-brake",
            "100 s of power brake slowdown (10 % of 1000 s)", true},
           {"clock_event_sw_power_cap_ns", ok(1900 * second), "power-cap",
            "900 s of power cap (90 % of 1000 s)", false},
           {"clock_event_sync_boost_ns", ok(1100 * second), "sync-boost",
            "100 s of sync boost (10 % of 1000 s)", false},
           {"clock_event_reliability_ns", ok(1100 * second), "reliability-limit",
            "100 s of voltage reliability limit (10 % of 1000 s)", false},
           {"clock_event_board_limit_ns", ok(1100 * second), "board-limit",
            "100 s of board limit (10 % of 1000 s)", false},
           {"pcie_replays", ok(11), "pcie-replays", "1 PCIe replay", true},
           {"nvlink_errors", ok(15), "nvlink-errors", "5 NVLink errors", true},
           {"ecc_corrected_volatile", ok(11), "ecc-corrected", "1 corrected ECC error", true},
           {"ecc_uncorrected_volatile", ok(12), "ecc-uncorrected", "2 uncorrected ECC errors",
            true},
           {"ecc_uncorrected_aggregate", ok(11), "ecc-uncorrected",
            "1 uncorrected ECC error in the card's lifetime", true},
           {"row_remap_pending", ok_flag(true), "row-remap-pending",
            "a remapping of memory rows became pending", true},
           {"row_remap_failure", ok_flag(true), "row-remap-failure",
            "a remapping of memory rows failed", true},
           {"page_retirement_pending", ok_flag(true), "page-retirement-pending",
            "a retirement of memory pages became pending", true},
           {"repair_pending", ok_flag(true), "repair-pending", "a repair became pending", true},
       }) {
    auto after = quiet();
    after[a.field] = a.after;
    auto const all = changes_between(quiet(), after, 1000);
    ASSERT_EQ(all.found.size(), 1u) << a.field;
    EXPECT_EQ(all.found.front().code, a.code);
    EXPECT_EQ(all.found.front().what, a.what);
    EXPECT_EQ(all.found.front().harmful, a.harmful) << a.field;
    EXPECT_NE(all.found.front().remedy, "") << a.field;
  }
}

TEST(changes_between, leaves_out_what_is_under_one_percent_of_the_span) {
  auto after = quiet();
  after["clock_event_hw_thermal_ns"] = ok(1011.9 * second);
  EXPECT_THAT(changes_between(quiet(), after, 1200).found, IsEmpty());
  after["clock_event_hw_thermal_ns"] = ok(1012 * second);
  EXPECT_THAT(texts(changes_between(quiet(), after, 1200)),
              ElementsAre("12 s of hardware thermal slowdown (1 % of 1200 s)"));
  EXPECT_THAT(texts(changes_between(quiet(), after, 2)),
              ElementsAre("12 s of hardware thermal slowdown (100 % of 2.0 s)"));
}

TEST(changes_between, the_same_errors_are_not_counted_twice) {
  auto after = quiet();
  after["ecc_uncorrected_volatile"] = ok(11);
  after["ecc_uncorrected_aggregate"] = ok(11);
  EXPECT_THAT(texts(changes_between(quiet(), after, 10)), ElementsAre("1 uncorrected ECC error"));
}

TEST(changes_between, a_counter_that_went_backwards_means_a_restart) {
  auto after = quiet();
  after["clock_event_hw_thermal_ns"] = ok(1500 * second);
  after["pcie_replays"] = ok(0);
  auto const all = changes_between(quiet(), after, 1200);
  EXPECT_THAT(all.found, IsEmpty());
  EXPECT_EQ(all.not_comparable,
            "the driver was restarted or the device reset in between: pcie_replays went from 10 to "
            "0");
}

TEST(changes_between, a_repair_that_was_carried_out_is_not_a_restart) {
  auto before = quiet();
  before["row_remap_pending"] = ok_flag(true);
  auto const all = changes_between(before, quiet(), 1200);
  EXPECT_EQ(all.not_comparable, std::nullopt);
  EXPECT_THAT(all.found, IsEmpty());
}

TEST(changes_between, a_span_that_is_none) {
  for (double const span : {0.0, -1.0, std::nan("")})
    EXPECT_THAT(changes_between(quiet(), quiet(), span).not_comparable.value_or(""),
                HasSubstr("not later"));
}

TEST(changes_between, what_one_look_could_not_read_is_named) {
  auto after = quiet();
  after["pcie_replays"] = {health_field::state::unavailable, 99.0, "timed out"};
  after["clock_event_hw_thermal_ns"] = {health_field::state::ok, std::string("9"), {}};
  after.erase("row_remap_pending");
  auto const all = changes_between(quiet(), after, 1200);
  EXPECT_THAT(all.found, IsEmpty());
  EXPECT_THAT(all.unread,
              ElementsAre("hardware thermal slowdown", "row remap pending", "PCIe replays"));
}

TEST(changes_between, what_a_device_has_not_is_not_unread_unless_it_has_nothing) {
  auto with = quiet();
  with["nvlink_errors"] = {health_field::state::not_supported, {}, {}};
  EXPECT_THAT(changes_between(with, with, 1200).unread, IsEmpty());
  for (auto& [name, field] : with) field = {health_field::state::not_supported, {}, {}};
  EXPECT_EQ(changes_between(with, with, 1200).unread.size(), 16u);
  EXPECT_EQ(changes_between({}, {}, 1200).unread.size(), 16u);
}

TEST(changes_between, a_counter_below_nothing_is_not_read) {
  health_snapshot const before{{"pcie_replays", ok(-0.4)}}, after{{"pcie_replays", ok(0)}};
  auto const all = changes_between(before, after, 1200);
  EXPECT_THAT(all.found, IsEmpty());
  EXPECT_EQ(all.compared, 0u);
  EXPECT_THAT(all.unread, Contains("PCIe replays"));
}

}  // namespace
}  // namespace bandgate
