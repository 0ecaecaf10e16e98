// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <bandgate/probe.hpp>

#include "cli/print.hpp"

BANDGATE_PROBE(sample) {
  bandgate::probe p;
  p.name = "read";
  return p;
}

namespace bandgate::cli {
namespace {

checked judged(status s) {
  result r;
  r.probe.name = "read";
  r.measurement = measurement{};
  r.measurement->median = to_base(4302.5, unit::gib_per_s);
  r.measurement->peak = to_base(4310, unit::gib_per_s);
  r.measurement->samples = {1, 2, 3};
  r.verdict.status = s;
  applied_baseline b;
  b.kind = "measured";
  b.reference = to_base(4302, unit::gib_per_s);
  b.lower = to_base(4258.98, unit::gib_per_s);
  b.ratio = 4302.5 / 4302;
  r.verdict.baselines = {b};
  checked pair;
  pair.id = "gpu0";
  pair.attempts = {r};
  return pair;
}

TEST(print, a_pass_is_one_line) {
  EXPECT_EQ(verdict_text(judged(status::pass), unit::gib_per_s),
            "PASS         gpu0 read: 4302.5 GiB/s, bounds 4259.0 GiB/s .. none, 100.0 % of "
            "reference 4302.0 GiB/s (measured)\n");
}

TEST(print, anything_else_is_three_lines) {
  auto slow = judged(status::regression);
  slow.attempts[0].verdict.reasons = {{"no-cause", "no cause found"}};
  slow.attempts[0].verdict.next_step = "run bandgate doctor";
  EXPECT_THAT(verdict_text(slow, unit::gb_per_s),
              testing::EndsWith("  cause: no cause found\n  next:  run bandgate doctor\n"));
  EXPECT_THAT(verdict_text(slow, unit::gb_per_s), testing::HasSubstr("4619.8 GB/s"));
}

TEST(print, a_missing_number_is_never_a_zero) {
  auto lost = judged(status::error);
  lost.attempts[0].measurement.reset();
  lost.attempts[0].verdict.baselines.clear();
  EXPECT_THAT(verdict_text(lost, unit::gib_per_s),
              testing::StartsWith("ERROR        gpu0 read: no number\n"));
  EXPECT_EQ(ctest_text(lost.final(), unit::gib_per_s), "");
}

/// Three parts of which the second is the slowest.
checked in_parts(char const* axis, double step) {
  auto pair = judged(status::pass);
  auto& r = pair.attempts[0];
  auto& m = *r.measurement;
  m.series = series{axis, step, {}};
  for (int i = 0; i < 3; ++i)
    m.series->points.push_back(
        {step * i, to_base(i == 1 ? 4290.1 : 4302.5, unit::gib_per_s), {}, {}, {}});
  m.worst = to_base(4290.1, unit::gib_per_s);
  r.verdict.baselines[0].statistic = "worst";
  r.verdict.baselines[0].ratio = 4290.1 / 4302;
  return pair;
}

TEST(print, a_series_says_which_window_is_the_worst_and_how_far_it_fell) {
  auto pair = in_parts("time", 1);
  pair.attempts[0].measurement->drop = -0.0012;
  EXPECT_EQ(
      verdict_text(pair, unit::gib_per_s),
      "PASS         gpu0 read: 4290.1 GiB/s, worst window 2 of 3, at 1 s, first to last -0.12 "
      "%, bounds 4259.0 GiB/s .. none, 99.7 % of reference 4302.0 GiB/s (measured)\n");
  EXPECT_EQ(
      measurement_text(pair, unit::gib_per_s),
      "MEASURED     gpu0 read: median 4302.5 GiB/s, peak 4310.0 GiB/s, 3 windows, cv unknown, "
      "worst window 2 of 3, at 1 s, first to last -0.12 % (4290.1 GiB/s)\n");
}

TEST(print, a_map_says_where_its_slowest_slice_is) {
  auto const pair = in_parts("address", 1073741824.0);
  EXPECT_THAT(verdict_text(pair, unit::gib_per_s),
              testing::HasSubstr(
                  "4290.1 GiB/s, slowest slice 2 of 3, 0x40000000 to 0x7fffffff, bounds 4259.0"));
  EXPECT_THAT(measurement_text(pair, unit::gib_per_s),
              testing::HasSubstr("3 slices, cv unknown, slowest slice 2 of 3, 0x40000000 to "
                                 "0x7fffffff (4290.1 GiB/s)"));
}

TEST(print, control_characters_of_a_device_never_reach_the_terminal) {
  EXPECT_EQ(plain("GTX\x1b[31m\n970"), "GTX [31m 970");
  EXPECT_EQ(xml("a<b>&\"\x1b"), "a&lt;b&gt;&amp;&quot; ");
}

TEST(print, ctest_measurements_carry_their_unit) {
  EXPECT_THAT(ctest_text(judged(status::pass).final(), unit::gb_per_s),
              testing::HasSubstr("name=\"read GB/s\">4619.77"));
}

TEST(print, a_summary_counts_what_was_judged) {
  EXPECT_EQ(summary_text({judged(status::pass), judged(status::no_baseline)}),
            "judged 1 of 2: 1 no-baseline, 1 pass");
  EXPECT_EQ(summary_text({}), "judged 0 of 0");
}

}  // namespace
}  // namespace bandgate::cli
