// SPDX-License-Identifier: Apache-2.0
/// Host memory on a NUMA node, on whatever machine and in whatever container this runs: what cannot
/// be had there is a note, and the memory is there all the same.
#include <gmock/gmock.h>

#include "backend/gpu/node_memory.hpp"

namespace bandgate::testing {
namespace {

using ::testing::AnyOf;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr std::uint64_t huge_page = 2U << 20;

void expect_usable(node_memory const& host, std::uint64_t size) {
  EXPECT_EQ(host.memory.size().count, size);
  EXPECT_GE(host.mapped.count, size);
  EXPECT_EQ(host.mapped.count % huge_page, 0U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(host.memory.as<void>()) % huge_page, 0U);
  auto* const data = host.memory.as<unsigned char>();
  data[0] = 1;
  data[size - 1] = 2;
  EXPECT_EQ(data[0] + data[size - 1], size == 1 ? 4 : 3);
}

TEST(node_memory, of_any_size_is_whole_huge_pages) {
  for (std::uint64_t const size : {std::uint64_t{1}, huge_page - 1, huge_page, 3 * huge_page + 16})
    expect_usable(map_on_node({size}, std::nullopt, "test"), size);
}

TEST(node_memory, says_where_it_lies_or_why_not_where_it_was_to) {
  auto const host = map_on_node({huge_page}, 0, "test");
  expect_usable(host, huge_page);
  EXPECT_THAT(host.note, AnyOf(StartsWith("host memory on NUMA node 0, the GPU's"),
                               StartsWith("host memory bound to NUMA node 0, the GPU's, of which"),
                               StartsWith("host memory not bound to NUMA node 0, the GPU's: ")));
}

TEST(node_memory, of_a_node_that_is_not_known_says_so) {
  EXPECT_EQ(map_on_node({huge_page}, std::nullopt, "test").note,
            "host memory not bound to a NUMA node: that of the GPU is not known");
}

TEST(node_memory, of_a_node_that_cannot_be_had_is_memory_with_a_note) {
  for (int const node : {900, 5000, -1}) {
    auto const host = map_on_node({huge_page}, node, "test");
    expect_usable(host, huge_page);
    EXPECT_THAT(host.note, StartsWith("host memory not bound to NUMA node " + std::to_string(node) +
                                      ", the GPU's: "));
  }
}

TEST(node_memory, that_does_not_fit_is_named_with_its_size) {
  try {
    map_on_node({std::uint64_t{1} << 60}, std::nullopt, "host source");
    FAIL();
  } catch (measurement_error const& e) {
    EXPECT_EQ(e.code(), failure::out_of_memory);
    EXPECT_THAT(e.what(), HasSubstr("'host source' of 1152921504606846976 bytes"));
  }
  EXPECT_THROW(map_on_node({UINT64_MAX}, std::nullopt, "test"), measurement_error);
}

}  // namespace
}  // namespace bandgate::testing
