// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include <bandgate/windows.hpp>
#include <set>

namespace bandgate::testing {
namespace {

TEST(sum_of_elements, adds_the_unsigned_elements_of_a_word) {
  constexpr std::uint64_t word = 0xfedcba9876543210ULL;
  EXPECT_EQ(sum_of_elements<8>(word), 0xfeU + 0xdc + 0xba + 0x98 + 0x76 + 0x54 + 0x32 + 0x10);
  EXPECT_EQ(sum_of_elements<16>(word), 0xfedcULL + 0xba98 + 0x7654 + 0x3210);
  EXPECT_EQ(sum_of_elements<32>(word), 0xfedcba98ULL + 0x76543210);
  EXPECT_EQ(sum_of_elements<64>(word), word);
}

TEST(sum_of_elements, does_not_overflow_between_elements) {
  constexpr std::uint64_t all = ~std::uint64_t{0};
  EXPECT_EQ(sum_of_elements<8>(all), 8U * 0xff);
  EXPECT_EQ(sum_of_elements<16>(all), 4U * 0xffff);
  EXPECT_EQ(sum_of_elements<32>(all), 2ULL * 0xffffffff);
}

TEST(data_word, flips_each_bit_of_one_word_once_in_eight) {
  constexpr unsigned words = 20000;
  std::set<std::uint64_t> seen;
  std::vector<unsigned> set(64);
  for (std::uint64_t i = 0; i < words; ++i) {
    auto const word = data_word(42, i);
    seen.insert(word);
    for (unsigned bit = 0; bit < 64; ++bit) set[bit] += (word >> bit & 1) != 0;
  }
  EXPECT_GT(seen.size(), words - 60);  // 26 equal pairs are expected of independent bits
  EXPECT_FALSE(seen.contains(0));
  unsigned ones = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    ones += set[bit] > words / 2;
    EXPECT_NEAR(std::min(set[bit], words - set[bit]), words / 8.0, 300) << bit;
  }
  EXPECT_GT(ones, 16U);
  EXPECT_LT(ones, 48U);
}

TEST(data_word, depends_on_the_seed) {
  unsigned equal = 0;
  for (std::uint64_t i = 0; i < 1000; ++i) equal += data_word(1, i) == data_word(2, i);
  EXPECT_EQ(equal, 0U);
}

/// How often the threads of a grid visit each place of the pool.
std::vector<unsigned> visits(window_walk const& walk, std::uint64_t threads) {
  std::vector<unsigned> count(walk.pool);
  for (std::uint64_t thread = 0; thread < threads; ++thread) {
    window_cursor cursor(walk, thread, threads);
    for (std::uint64_t left = cursor.total(); left != 0; --left) ++count.at(cursor.next());
  }
  return count;
}

TEST(window_cursor, visits_each_vector_of_each_window_once) {
  for (bool const blocked : {false, true})
    for (std::uint64_t const window : {1, 7, 64, 100, 499})
      for (std::uint64_t const threads : {1, 3, 64, 600}) {
        constexpr std::uint64_t pool = 1000;
        // As many windows as fit the pool, beginning so that one of them wraps.
        std::uint64_t const start = 1000 - window / 2 - 1;
        std::uint64_t const passes = pool / window;
        auto const count = visits({pool, window, start, passes, blocked}, threads);
        for (std::uint64_t i = 0; i < pool; ++i)
          ASSERT_EQ(count[(start + i) % pool], i < passes * window ? 1U : 0U)
              << window << " " << threads << " " << blocked << " " << i;
      }
}

TEST(window_cursor, goes_round_the_pool_again_and_again) {
  for (bool const blocked : {false, true})
    EXPECT_THAT(visits({12, 4, 8, 9, blocked}, 3), ::testing::Each(3U));
}

TEST(window_cursor, walks_neighbouring_or_own_vectors) {
  window_cursor coalesced({100, 12, 0, 1, false}, 1, 4);
  EXPECT_EQ(coalesced.total(), 3U);
  EXPECT_EQ(coalesced.next(), 1U);
  EXPECT_EQ(coalesced.next(), 5U);
  window_cursor blocked({100, 12, 0, 1, true}, 1, 4);
  EXPECT_EQ(blocked.next(), 3U);
  EXPECT_EQ(blocked.next(), 4U);
}

TEST(window_cursor, gives_a_thread_past_the_end_nothing) {
  EXPECT_EQ(window_cursor({100, 12, 0, 5, false}, 12, 64).total(), 0U);
  EXPECT_EQ(window_cursor({100, 12, 0, 5, true}, 12, 64).total(), 0U);
}

TEST(visit_window, splits_a_run_that_wraps) {
  std::vector<std::pair<std::uint64_t, std::uint64_t>> runs;
  auto const add = [&](std::uint64_t begin, std::uint64_t end) { runs.emplace_back(begin, end); };
  visit_window(65536, 16384, 57344, 0, 1, add);
  EXPECT_THAT(runs, ::testing::ElementsAre(std::pair(57344, 65536), std::pair(0, 8192)));
  runs.clear();
  visit_window(65536, 16384, 57344, 3, 4, add);
  EXPECT_THAT(runs, ::testing::ElementsAre(std::pair(4096, 8192)));
}

}  // namespace
}  // namespace bandgate::testing
