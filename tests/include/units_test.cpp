// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bandgate/backend.hpp>
#include <bandgate/units.hpp>

namespace bandgate {
namespace {

TEST(units, are_spelt_exactly) {
  EXPECT_EQ(parse_unit("GiB/s"), unit::gib_per_s);
  EXPECT_EQ(parse_unit("GB/s"), unit::gb_per_s);
  for (auto const* text : {"GB", "gb/s", "GiB", "Gb/s", "", "GB/s ", "peak"})
    EXPECT_EQ(parse_unit(text), std::nullopt) << text;
}

TEST(units, convert_by_their_own_factor) {
  // 3667 MiB/s is 3.845 GB/s, not 3.667.
  EXPECT_NEAR(from_base(to_base(3667, unit::mib_per_s), unit::gb_per_s), 3.845128192, 1e-12);
  EXPECT_DOUBLE_EQ(to_base(4302, unit::gib_per_s), 4302.0 * 1073741824.0);
  EXPECT_DOUBLE_EQ(from_base(4.5e-6, unit::microseconds), 4.5);
  EXPECT_FALSE(same_dimension(unit::microseconds, unit::gb_per_s));
}

TEST(slices, cover_everything_once) {
  for (unsigned threads : {1U, 2U, 3U, 7U, 64U}) {
    std::uint64_t next = 0;
    for (unsigned t = 0; t < threads; ++t) {
      auto const run = slice(10 * 4096 + 64, t, threads);
      EXPECT_EQ(run.begin, next);
      next = run.end;
    }
    EXPECT_EQ(next, 10U * 4096U + 64U);
  }
}

TEST(random_word, is_splitmix64) {
  // The first outputs of the reference implementation seeded with 1234567.
  EXPECT_EQ(random_word(1234567, 0), 6457827717110365317ULL);
  EXPECT_EQ(random_word(1234567, 1), 3203168211198807973ULL);
  EXPECT_EQ(random_word(1234567, 2), 9817491932198370423ULL);
}

}  // namespace
}  // namespace bandgate
