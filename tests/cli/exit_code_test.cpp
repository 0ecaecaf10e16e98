// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include "cli/exit_code.hpp"

namespace bandgate::cli {
namespace {

using enum status;

int code(std::vector<status> finals, bool strict = false) {
  return exit_code({.finals = std::move(finals), .strict = strict});
}

TEST(exit_code, of_one_result) {
  EXPECT_EQ(code({pass}), 0);
  EXPECT_EQ(code({improved}), 0);
  EXPECT_EQ(code({measured}), 0);
  EXPECT_EQ(code({regression}), 1);
  EXPECT_EQ(code({error}), 3);
  EXPECT_EQ(code({inconclusive}), 4);
  EXPECT_EQ(code({no_baseline}), 77);
  EXPECT_EQ(code({skipped}), 77);
}

TEST(exit_code, of_several_is_the_first_present_of_3_1_2_4_0) {
  EXPECT_EQ(code({pass, regression, error, inconclusive}), 3);
  EXPECT_EQ(code({pass, inconclusive, regression}), 1);
  EXPECT_EQ(code({inconclusive, pass}), 4);
  EXPECT_EQ(code({pass, skipped, no_baseline}), 0);
  EXPECT_EQ(code({skipped, no_baseline}), 77);
}

TEST(exit_code, nothing_judged_is_never_success_under_strict) {
  EXPECT_EQ(code({}), 77);
  EXPECT_EQ(code({}, true), 4);
  EXPECT_EQ(code({no_baseline}, true), 4);
  EXPECT_EQ(code({skipped}, true), 4);
  EXPECT_EQ(code({pass, no_baseline}, true), 4);
  EXPECT_EQ(code({pass, skipped}, true), 0);
}

TEST(exit_code, a_result_that_was_not_recorded_is_2_unless_worse) {
  EXPECT_EQ(exit_code({.finals = {pass}, .recording_failed = true}), 2);
  EXPECT_EQ(exit_code({.finals = {no_baseline}, .recording_failed = true}), 2);
  EXPECT_EQ(exit_code({.finals = {inconclusive}, .recording_failed = true}), 2);
  EXPECT_EQ(exit_code({.finals = {regression}, .recording_failed = true}), 1);
  EXPECT_EQ(exit_code({.finals = {error}, .recording_failed = true}), 3);
}

TEST(exit_code, a_missing_device_is_3_whatever_the_others_did) {
  EXPECT_EQ(exit_code({.finals = {pass, pass}, .device_problem = true}), 3);
  EXPECT_EQ(exit_code({.finals = {}, .device_problem = true}), 3);
  EXPECT_EQ(exit_code({.finals = {}, .configuration_problem = true}), 2);
}

}  // namespace
}  // namespace bandgate::cli
