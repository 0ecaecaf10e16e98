// SPDX-License-Identifier: Apache-2.0
#include "runner/announcement.hpp"

#include <gmock/gmock.h>

namespace bandgate {
namespace {

std::string place(char const* line) {
  return place_of(announcement_from_text(line));
}

TEST(announcement, is_a_phase_or_a_phase_and_its_parts) {
  EXPECT_EQ(to_text({"sampling", 0, 0}), "sampling");
  EXPECT_EQ(to_text({"sampling", 3, 30}), "sampling 3/30");
  for (char const* line : {"sampling", "verify again", "sampling 3/30", "verify again 0/140"})
    EXPECT_EQ(to_text(announcement_from_text(line)), line);
  auto const said = announcement_from_text("verify again 139/140");
  EXPECT_EQ(said.phase, "verify again");
  EXPECT_EQ(said.done, 139u);
  EXPECT_EQ(said.all, 140u);
}

TEST(announcement, that_is_none_is_a_phase_of_that_name) {
  for (char const* line :
       {"", "3/30", "sampling 3", "sampling /30", "sampling 3/", "sampling 31/30", "sampling -1/30",
        "sampling 3/30 ", "sampling 3/30s", "a/b 3", "sampling 99999999999999999999/30"}) {
    auto const said = announcement_from_text(line);
    EXPECT_EQ(said.phase, line);
    EXPECT_EQ(said.all, 0u) << line;
  }
}

TEST(announcement, says_where_a_worker_is) {
  EXPECT_EQ(place("warm-up"), "in phase warm-up");
  EXPECT_EQ(place("asking the driver"), "while asking the driver");
  EXPECT_EQ(place("looking at GPU-1 at 0000:1b:00.0"), "while looking at GPU-1 at 0000:1b:00.0");
  EXPECT_EQ(place("waiting for others"), "while waiting for others");
  EXPECT_EQ(place("sampling 0/30"), "in phase sampling, part 1 of 30");
  EXPECT_EQ(place("sampling 29/30"), "in phase sampling, part 30 of 30");
  EXPECT_EQ(place("sampling 30/30"), "in phase sampling, after all of its 30 parts");
}

}  // namespace
}  // namespace bandgate
