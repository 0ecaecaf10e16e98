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
