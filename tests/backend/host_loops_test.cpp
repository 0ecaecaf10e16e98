// SPDX-License-Identifier: Apache-2.0
#include <gtest/gtest.h>

#include <bandgate/backend.hpp>
#include <cstring>
#include <string>
#include <vector>

#include "backend/host/huge_pages.hpp"
#include "backend/host/loops.hpp"

namespace bandgate {
namespace {

TEST(ChooseLoops, PlainIsThereOnEveryCpu) {
  EXPECT_STREQ(loops_for({}).back()->name, "plain");
  EXPECT_STREQ(loops_for(this_cpu()).front()->name, "plain");
}

/// Around the block that is under test lie lines which nobody may touch.
constexpr std::uint64_t guard = 64;
constexpr unsigned char untouched = 0xa5;

/// One line, the unrolled steps and their neighbours, four pages and theirs, an odd count of MiB.
std::vector<std::uint64_t> const sizes{64,    128,        448,          512,    576,
                                       4096,  16320,      16384,        16448,  65536,
                                       81984, 1ULL << 20, 3145728 + 64, 4194304};

class EveryVariant : public testing::TestWithParam<host_loops const*> {
 protected:
  host_loops const& loops() const { return *GetParam(); }

  /// `size` random bytes, 64-byte but not 128-byte aligned, between guards.
  static std::uint64_t* random_data(buffer const& memory, std::uint64_t size) {
    std::memset(memory.as<void>(), untouched, size + 2 * guard);
    auto* const words = memory.as<std::uint64_t>() + guard / 8;
    for (std::uint64_t i = 0; i < size / 8; ++i) words[i] = random_word(size, i);
    return words;
  }

  static bool guards_hold(buffer const& memory, std::uint64_t size) {
    auto const* at = memory.as<unsigned char>();
    for (std::uint64_t i = 0; i < guard; ++i)
      if (at[i] != untouched || at[guard + size + i] != untouched) return false;
    return true;
  }
};

TEST_P(EveryVariant, SumsEvery64BitWord) {
  for (auto const size : sizes) {
    auto const memory = map_huge_pages({size + 2 * guard}, "data");
    auto const* const words = random_data(memory, size);
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < size / 8; ++i) expected += words[i];
    EXPECT_EQ(loops().sum64(words, size), expected) << size;
  }
}

TEST_P(EveryVariant, SumsEvery32BitWord) {
  for (auto const size : sizes) {
    auto const memory = map_huge_pages({size + 2 * guard}, "data");
    auto const* const words = random_data(memory, size);
    std::uint64_t expected = 0;
    for (std::uint64_t i = 0; i < size / 8; ++i) expected += (words[i] >> 32) + (words[i] & ~0U);
    EXPECT_EQ(loops().sum32_seq(words, size), expected) << size;
    EXPECT_EQ(loops().sum32_by4(words, size), expected) << size;
  }
}

TEST_P(EveryVariant, StoresTheWordEverywhereAndNowhereElse) {
  constexpr std::uint64_t word = 0x0123456789abcdef;
  for (auto const size : sizes) {
    auto const memory = map_huge_pages({size + 2 * guard}, "data");
    auto* const words = random_data(memory, size);
    loops().store64(words, size, word);
    std::uint64_t right = 0;
    for (std::uint64_t i = 0; i < size / 8; ++i) right += words[i] == word;
    EXPECT_EQ(right, size / 8) << size;
    EXPECT_TRUE(guards_hold(memory, size)) << size;
  }
}

TEST_P(EveryVariant, CopiesEveryByteAndNothingElse) {
  for (auto const size : sizes) {
    auto const from = map_huge_pages({size + 2 * guard}, "from");
    auto const to = map_huge_pages({size + 2 * guard}, "to");
    auto const* const source = random_data(from, size);
    std::memset(to.as<void>(), untouched, size + 2 * guard);
    auto* const target = to.as<char>() + guard;
    loops().copy(target, source, size);
    EXPECT_EQ(std::memcmp(target, source, size), 0) << size;
    EXPECT_TRUE(guards_hold(to, size)) << size;
  }
}

INSTANTIATE_TEST_SUITE_P(OfThisCpu, EveryVariant, testing::ValuesIn(loops_for(this_cpu())),
                         [](auto const& variant) { return std::string(variant.param->name); });

}  // namespace
}  // namespace bandgate
