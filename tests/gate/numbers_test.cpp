// SPDX-License-Identifier: Apache-2.0
#include "gate/numbers.hpp"

#include <gtest/gtest.h>

namespace bandgate {
namespace {

TEST(numbers, values_keep_four_digits_or_more) {
  constexpr double gibps = 1073741824.0;
  EXPECT_EQ(value_text(4302 * gibps, false), "4302.0 GiB/s");
  EXPECT_EQ(value_text(833.067 * gibps, false), "833.07 GiB/s");
  EXPECT_EQ(value_text(14.2e9, false), "13.225 GiB/s");
  EXPECT_EQ(value_text(12.5e-6, true), "12.500 us");
}

TEST(numbers, shares_and_memory) {
  EXPECT_EQ(percent_text(0.008), "0.80 %");
  EXPECT_EQ(memory_text(3ULL << 29), "1.5 GiB");
}

}  // namespace
}  // namespace bandgate
