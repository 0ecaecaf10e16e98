// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "device/peer.hpp"

namespace bandgate::testing {
namespace {

using ::testing::AllOf;
using ::testing::HasSubstr;
using ::testing::ThrowsMessage;

std::vector<device_identity> machine(std::size_t count) {
  std::vector<device_identity> all(count);
  for (std::size_t i = 0; i < count; ++i) {
    all[i].uuid = "GPU-" + std::string(1, static_cast<char>('a' + i));
    all[i].pci_address = "0000:" + std::to_string(10 + i) + ":00.0";
  }
  return all;
}

TEST(find_peer, takes_a_uuid_an_address_or_an_index) {
  for (auto const* selector : {"GPU-c", "0000:12:00.0", "2"})
    EXPECT_EQ(find_peer(machine(3), 0, selector), 2U) << selector;
}

TEST(find_peer, takes_the_next_one_round_the_machine_for_auto) {
  EXPECT_EQ(find_peer(machine(3), 0, "auto"), 1U);
  EXPECT_EQ(find_peer(machine(3), 1, "auto"), 2U);
  EXPECT_EQ(find_peer(machine(3), 2, "auto"), 0U);
}

TEST(find_peer, refuses_the_device_itself) {
  for (auto const* selector : {"GPU-b", "0000:11:00.0", "1"})
    EXPECT_THAT([&] { find_peer(machine(2), 1, selector); },
                ThrowsMessage<usage_error>(HasSubstr("is the device itself (0000:11:00.0)")))
        << selector;
}

TEST(find_peer, refuses_what_names_no_device_and_says_what_there_is) {
  for (auto const* selector : {"7", "", "each", "GPU-", "01", "-1"})
    EXPECT_THAT([&] { find_peer(machine(2), 0, selector); },
                ThrowsMessage<usage_error>(
                    AllOf(HasSubstr("names no device"), HasSubstr("there are 1 (GPU-b)"))))
        << selector;
}

TEST(find_peer, has_none_to_offer_on_a_machine_with_one) {
  for (auto const* selector : {"auto", "0", "7"})
    EXPECT_THAT([&] { find_peer(machine(1), 0, selector); },
                ThrowsMessage<not_applicable>(HasSubstr("only the one at 0000:10:00.0")))
        << selector;
}

TEST(find_peer, takes_no_missing_uuid_for_one) {
  auto all = machine(2);
  all[1].uuid.clear();
  EXPECT_THROW(find_peer(all, 0, ""), usage_error);
}

}  // namespace
}  // namespace bandgate::testing
