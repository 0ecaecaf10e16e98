// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "gate/examples.hpp"
#include "gate/judge.hpp"

namespace bandgate {
namespace {

using namespace examples;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

verdict of(status s) {
  verdict v;
  v.status = s;
  v.reasons = {{"second", "the second's own reason"}};
  return v;
}

verdict low() {
  return judge(h200(3800), model());
}

constexpr status all_statuses[] = {status::pass,    status::improved,     status::regression,
                                   status::error,   status::inconclusive, status::no_baseline,
                                   status::skipped, status::measured};

verdict unsettled() {
  auto measured = h200(4001);
  measured.measurement->unsettled = true;
  measured.measurement->slope = -0.015;
  return judge(measured, model());
}

TEST(confirm, what_is_low_or_unsettled_is_measured_again) {
  for (auto const s : all_statuses)
    EXPECT_EQ(needs_confirmation(of(s)), s == status::regression) << to_string(s);
  EXPECT_TRUE(needs_confirmation(unsettled()));
}

TEST(confirm, unsettled_once_and_fine_in_a_fresh_process_is_an_unstable_pass) {
  auto const v = confirm(unsettled(), judge(h200(4001), model()));
  EXPECT_EQ(v.status, status::pass);
  EXPECT_TRUE(v.unstable);
  EXPECT_EQ(v.reasons.front().sentence,
            "unsettled once and fine in a fresh process; the first: the samples did not settle: "
            "they fell by 1.50 % along their trend");
  EXPECT_NE(v.next_step, "");
}

TEST(confirm, unsettled_twice_cannot_be_judged) {
  auto const v = confirm(unsettled(), unsettled());
  EXPECT_EQ(v.status, status::inconclusive);
  EXPECT_FALSE(v.unstable);
  EXPECT_THAT(codes(v), ElementsAre("unsettled", "confirmed"));
}

TEST(confirm, one_low_and_one_unsettled_cannot_be_judged) {
  auto const sank = confirm(unsettled(), low());
  EXPECT_EQ(sank.status, status::inconclusive);
  EXPECT_THAT(codes(sank), ElementsAre("below-bound", "no-cause-found", "not-confirmed"));
  EXPECT_THAT(sentence(sank, "not-confirmed"), HasSubstr("the first attempt was unsettled"));
  auto const rose = confirm(low(), unsettled());
  EXPECT_EQ(rose.status, status::inconclusive);
  EXPECT_THAT(codes(rose), ElementsAre("unsettled", "not-confirmed"));
  EXPECT_THAT(sentence(rose, "not-confirmed"), HasSubstr("the first attempt was low"));
}

TEST(confirm, low_twice_is_a_regression) {
  auto const v = confirm(low(), judge(h200(3810), model()));
  EXPECT_EQ(v.status, status::regression);
  EXPECT_FALSE(v.unstable);
  EXPECT_THAT(codes(v), ElementsAre("below-bound", "no-cause-found", "confirmed"));
  EXPECT_THAT(v.reasons.front().sentence, HasSubstr("3810.0 GiB/s"));
  EXPECT_THAT(sentence(v, "confirmed"), HasSubstr("3800.0 GiB/s"));
}

TEST(confirm, low_once_and_fine_in_a_fresh_process_is_an_unstable_pass) {
  auto const v = confirm(low(), judge(h200(4001), model()));
  EXPECT_EQ(v.status, status::pass);
  EXPECT_TRUE(v.unstable);
  EXPECT_EQ(v.reasons.front().code, "unstable");
  EXPECT_EQ(v.reasons.front().sentence,
            "low once and fine in a fresh process; the first: 3800.0 GiB/s is 5.00 % below the "
            "reference 4000.0 GiB/s, bound 3960.0 GiB/s (nvidia-h200.json)");
  EXPECT_NE(v.next_step, "");
  EXPECT_DOUBLE_EQ(v.baselines.front().ratio, 4001.0 / 4000);
}

TEST(confirm, low_once_and_improved_is_improved_and_unstable) {
  auto const v = confirm(low(), judge(h200(4100), model()));
  EXPECT_EQ(v.status, status::improved);
  EXPECT_TRUE(v.unstable);
}

TEST(confirm, a_second_that_fails_or_cannot_tell_is_what_counts) {
  for (auto const s : {status::error, status::inconclusive}) {
    auto const v = confirm(low(), of(s));
    EXPECT_EQ(v.status, s);
    EXPECT_FALSE(v.unstable);
    EXPECT_THAT(codes(v), ElementsAre("second", "not-confirmed"));
    EXPECT_THAT(sentence(v, "not-confirmed"), HasSubstr("3800.0 GiB/s"));
  }
}

TEST(confirm, a_second_that_judges_nothing_does_not_turn_a_loss_into_a_skip) {
  for (auto const s : {status::skipped, status::no_baseline, status::measured})
    EXPECT_EQ(confirm(low(), of(s)).status, status::inconclusive) << to_string(s);
}

TEST(confirm, a_first_that_was_not_low_stays) {
  EXPECT_EQ(confirm(of(status::pass), of(status::regression)).status, status::pass);
}

TEST(worst, is_the_first_present_of_error_regression_inconclusive_judged) {
  using s = status;
  EXPECT_EQ(worst({s::pass, s::inconclusive, s::regression, s::error}), s::error);
  EXPECT_EQ(worst({s::pass, s::inconclusive, s::regression}), s::regression);
  EXPECT_EQ(worst({s::pass, s::inconclusive, s::improved}), s::inconclusive);
  EXPECT_EQ(worst({s::skipped, s::pass, s::improved}), s::improved);
  EXPECT_EQ(worst({s::skipped, s::pass, s::no_baseline}), s::pass);
  EXPECT_EQ(worst({s::skipped, s::measured}), s::measured);
  EXPECT_EQ(worst({s::skipped, s::no_baseline}), s::no_baseline);
  EXPECT_EQ(worst({s::skipped, s::skipped}), s::skipped);
  EXPECT_EQ(worst({}), s::error) << "nothing was done";
}

}  // namespace
}  // namespace bandgate
