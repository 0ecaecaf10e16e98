// SPDX-License-Identifier: Apache-2.0
/// Verdicts of measurements in parts: the worst part, and the way from the first to the last.
#include "gate/series.hpp"

#include <gmock/gmock.h>

#include <algorithm>

#include "gate/examples.hpp"
#include "gate/judge.hpp"

namespace bandgate {
namespace {

using namespace examples;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

/// A measurement whose parts have these values, GiB/s.
result in_parts(std::vector<double> const& values, char const* axis, double step) {
  auto r = h200(4000);
  auto& m = *r.measurement;
  m.samples.clear();
  series parts{axis, step, {}};
  for (double const v : values) {
    parts.points.push_back({step * static_cast<double>(m.samples.size()), v * gibps, {}, {}, {}});
    m.samples.push_back(v * gibps);
  }
  auto sorted = m.samples;
  std::sort(sorted.begin(), sorted.end());
  m.median = sorted[sorted.size() / 2];
  m.peak = sorted.back();
  m.worst = sorted.front();
  if (parts.axis == "time") m.drop = m.samples.back() / m.samples.front() - 1;
  m.series = std::move(parts);
  return r;
}

result sustained(std::vector<double> const& values) {
  auto r = in_parts(values, "time", 1);
  r.probe.name = "sustained";
  return r;
}

result map(std::vector<double> const& values) {
  auto r = in_parts(values, "address", 1073741824.0);
  r.probe.name = "read_map";
  return r;
}

/// The worst window at 4000 GiB/s, -3 %: bound 3880.
baseline_entry worst_entry() {
  auto e = entry(4000, -0.03, 0.03);
  e.statistic = "worst";
  return e;
}

/// The slowest slice against their median, -5 %.
baseline_entry relative_entry() {
  auto e = entry(1, -0.05, std::nullopt);
  e.unit.reset();
  e.statistic = "worst";
  e.relative_to = "median";
  e.generic = true;
  return e;
}

struct series_case {
  char const* name;
  std::vector<double> windows;
  status expected;
  std::vector<std::string> codes;  ///< the first ones
};

void PrintTo(series_case const& c, std::ostream* out) {
  *out << c.name;
}

std::vector<series_case> const table{
    {"steady", {4000, 4001, 3999, 4000}, status::pass, {}},
    {"worst_on_the_bound", {4000, 3880, 4000, 4000}, status::pass, {}},
    {"worst_just_below",
     {4000, 3879, 4000, 4000},
     status::regression,
     {"below-bound", "slowest-part", "no-cause-found"}},
    {"one_bad_second_of_many",
     {4000, 4000, 4000, 3000, 4000, 4000, 4000},
     status::regression,
     {"below-bound", "slowest-part"}},
    {"drop_just_within", {4096, 4000, 4000, 4096 * 0.9701}, status::pass, {}},
    {"drop_beyond_with_every_window_above_the_bound",
     {4110, 4000, 4000, 3970},
     status::regression,
     {"dropped", "no-cause-found"}},
    {"both",
     {4000, 3900, 3800, 3700},
     status::regression,
     {"below-bound", "slowest-part", "dropped", "no-cause-found"}},
    {"a_rise_is_no_drop", {3900, 4000, 4000, 4100}, status::pass, {}},
    {"fell_and_recovered", {4000, 3900, 3900, 4000}, status::pass, {}},
    {"above_upper", {4300, 4300, 4300, 4300}, status::improved, {"above-upper"}},
    {"two_windows", {4000, 3900}, status::pass, {}},
};

class sustained_verdict : public ::testing::TestWithParam<series_case> {};

TEST_P(sustained_verdict, is) {
  auto const& c = GetParam();
  auto const v = judge(sustained(c.windows), model(worst_entry()));
  EXPECT_EQ(v.status, c.expected);
  auto found = codes(v);
  ASSERT_GE(found.size(), c.codes.size());
  found.resize(c.codes.size());
  EXPECT_EQ(found, c.codes);
}

INSTANTIATE_TEST_SUITE_P(gate, sustained_verdict, ::testing::ValuesIn(table),
                         [](auto const& each) { return std::string(each.param.name); });

TEST(series_verdict, says_how_far_it_dropped) {
  auto const v = judge(sustained({4110, 4000, 4000, 3945.6}), model(worst_entry()));
  EXPECT_EQ(sentence(v, "dropped"),
            "the last of 4 windows, 3945.6 GiB/s, is 4.00 % below the first, 4110.0 GiB/s; the "
            "tolerance is 3.00 % (nvidia-h200.json)");
  EXPECT_TRUE(needs_confirmation(v));
}

TEST(series_verdict, of_two_entries_the_tighter_one_finds_the_drop) {
  auto const measured = sustained({4020, 4000, 4000, 3980});
  EXPECT_EQ(judge(measured, model(worst_entry())).status, status::pass);
  auto own = card_entry(4000);
  own.statistic = "worst";
  auto const v = judge(measured, both(worst_entry(), own));
  EXPECT_EQ(v.status, status::regression);
  EXPECT_THAT(sentence(v, "dropped"), HasSubstr("the tolerance is 0.50 % (site/nvidia-h200.json)"));
  EXPECT_THAT(
      sentence(judge(sustained({4110, 4000, 4000, 3950}), both(worst_entry(), own)), "dropped"),
      HasSubstr("the tolerance is 0.50 %"));
}

TEST(series_verdict, names_the_throttling_first_among_the_causes) {
  auto r = sustained({4110, 4000, 3990, 3900});
  r.health.load["clock_event_reasons"] = ok(0x40);
  auto const v = judge(r, model(worst_entry()));
  EXPECT_THAT(codes(v), ElementsAre("dropped", "hw-thermal"));
  EXPECT_THAT(v.next_step, StartsWith("Check the cooling"));
}

TEST(series_verdict, unsettled_within_its_bounds_is_inconclusive) {
  auto r = sustained({4050, 4030, 4010, 3990});
  r.measurement->unsettled = true;
  r.measurement->slope = -0.0150;
  auto const v = judge(r, model(worst_entry()));
  EXPECT_EQ(v.status, status::inconclusive);
  EXPECT_THAT(codes(v), ElementsAre("unsettled"));
}

TEST(series_verdict, contention_outweighs_a_drop) {
  auto r = sustained({4110, 4000, 4000, 3900});
  r.health.processes = {{4242, "python3", 3ULL << 30, true}};
  EXPECT_EQ(judge(r, model(worst_entry())).status, status::inconclusive);
}

TEST(series_verdict, an_entry_of_the_median_finds_the_drop_too) {
  EXPECT_EQ(judge(sustained({4030, 4000, 4000, 3970}), model(entry(4000))).status,
            status::regression);
}

TEST(series_verdict, of_times_a_longer_last_window_is_the_loss) {
  auto r = sustained({1, 1, 1});
  auto& m = *r.measurement;
  r.probe.lower_is_better = m.is_time = true;
  m.samples = {4e-6, 4e-6, 4.2e-6};
  for (std::size_t i = 0; i < 3; ++i) m.series->points[i].value = m.samples[i];
  m.median = m.peak = 4e-6;
  m.worst = 4.2e-6;
  m.drop = 0.05;
  auto e = entry(4, -0.5, 0.1);
  e.unit = unit::microseconds;
  e.statistic = "worst";
  EXPECT_EQ(judge(r, model(e)).status, status::pass);
  e.upper = 0.04;
  auto const v = judge(r, model(e));
  EXPECT_THAT(codes(v), ElementsAre("above-bound", "slowest-part", "dropped", "no-cause-found"));
  EXPECT_THAT(sentence(v, "dropped"), HasSubstr("5.00 % above the first"));
}

TEST(map_verdict, holds_the_slowest_slice_against_their_median) {
  auto const fine = judge(map({4000, 3950, 4010, 3900, 4000}), model(relative_entry()));
  EXPECT_EQ(fine.status, status::pass);
  EXPECT_THAT(codes(fine), ElementsAre()) << "a ratio is no generic floor of the model's";
  auto const v = judge(map({4000, 3700, 4010, 3500, 4000}), model(relative_entry()));
  EXPECT_EQ(v.status, status::regression);
  EXPECT_EQ(sentence(v, "below-bound"),
            "the worst of 3500.0 GiB/s is 12.50 % below the reference 4000.0 GiB/s that follows "
            "from median, bound 3800.0 GiB/s (nvidia-h200.json)");
  EXPECT_EQ(
      sentence(v, "slowest-part"),
      "the slowest is slice 4 of 5, 0xc0000000 to 0xffffffff (3500.0 GiB/s); 2 are beyond the "
      "bound");
  EXPECT_THAT(v.next_step, StartsWith("Map the memory again"));
}

TEST(map_verdict, does_not_care_how_fast_the_card_is_or_which_way_it_slopes) {
  EXPECT_EQ(judge(map({400, 395, 401}), model(relative_entry())).status, status::pass);
  EXPECT_EQ(judge(map({4100, 4000, 3900}), model(relative_entry())).status, status::pass);
}

}  // namespace
}  // namespace bandgate
