// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <string>
#include <vector>

#include "backend/host/loops.hpp"

namespace bandgate {
namespace {

using testing::ElementsAre;

std::vector<std::string> names(cpu_features const& cpu) {
  std::vector<std::string> all;
  for (auto const* loops : loops_for(cpu)) all.emplace_back(loops->name);
  return all;
}

TEST(ChooseLoops, OnlyWhatTheCpuHasNarrowestFirst) {
  EXPECT_THAT(names({}), ElementsAre("plain"));
  EXPECT_THAT(names({.avx2 = true}), ElementsAre("plain", "avx2"));
  EXPECT_THAT(names({.avx2 = true, .avx512f = true}), ElementsAre("plain", "avx2", "avx512"));
}

}  // namespace
}  // namespace bandgate
