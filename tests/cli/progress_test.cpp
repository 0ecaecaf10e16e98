// SPDX-License-Identifier: Apache-2.0
#include "cli/progress.hpp"

#include <gmock/gmock.h>

namespace bandgate::cli {
namespace {

TEST(progress, is_a_phase_or_a_bar) {
  EXPECT_EQ(progress_text("warm-up", " s"), "warm-up");
  EXPECT_EQ(progress_text("sampling 0/30", " s"), "sampling [..........] 0/30 s");
  EXPECT_EQ(progress_text("sampling 3/30", " s"), "sampling [#.........] 3/30 s");
  EXPECT_EQ(progress_text("sampling 29/30", " s"), "sampling [#########.] 29/30 s");
  EXPECT_EQ(progress_text("verify again 140/140", ""), "verify again [##########] 140/140");
}

}  // namespace
}  // namespace bandgate::cli
