// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/fake_root.hpp"
#include "device/presence.hpp"

namespace bandgate {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

using variables = std::map<std::string, std::string>;

device_identity cuda(std::string address) {
  device_identity device;
  device.backend = "cuda";
  device.uuid = "GPU-" + address;
  device.pci_address = std::move(address);
  return device;
}

std::vector<std::string> codes(std::vector<device_problem> const& problems) {
  std::vector<std::string> all;
  for (auto const& problem : problems) all.push_back(problem.code);
  return all;
}

class two_cards : public ::testing::Test {
 protected:
  two_cards() {
    root.add_driver().add({.address = "0000:1b:00.0", .minor = 0});
    root.add({.address = "0000:c1:00.0", .minor = 1});
  }
  std::vector<device_problem> missing(std::vector<device_identity> const& listed,
                                      variables const& environment = {}) {
    return missing_devices(look_for_gpus(root.path()), listed, environment);
  }
  fake_root root;
};

TEST_F(two_cards, both_listed_in_any_spelling_is_no_problem) {
  EXPECT_THAT(missing({cuda("0000:1B:00.0"), cuda("00000000:C1:00.0")}), IsEmpty());
}

TEST_F(two_cards, one_unlisted_is_missing_by_its_address_and_versions) {
  auto const problems = missing({cuda("0000:1b:00.0")});
  ASSERT_THAT(codes(problems), ElementsAre("device-missing"));
  EXPECT_THAT(
      problems[0].message,
      AllOf(HasSubstr("PCI 0000:c1:00.0 (10de:2335, kernel driver nvidia)"),
            HasSubstr("580.159.04 (open)"), HasSubstr("Remedy:"), Not(HasSubstr("0000:1b:00.0"))));
  EXPECT_FALSE(problems[0].usage);
}

TEST_F(two_cards, none_listed_is_a_driver_without_a_device) {
  auto const problems = missing({});
  ASSERT_THAT(codes(problems), ElementsAre("driver-without-device"));
  EXPECT_THAT(problems[0].message,
              AllOf(HasSubstr("0000:1b:00.0"), HasSubstr("0000:c1:00.0"), HasSubstr("/dev/nvidia0"),
                    HasSubstr("/usr/lib/x86_64-linux-gnu/libcuda.so.1"), HasSubstr("580.159.04"),
                    HasSubstr("--backend host")));
  EXPECT_FALSE(problems[0].usage);
}

TEST_F(two_cards, a_variable_that_names_some_hides_the_others) {
  EXPECT_THAT(missing({cuda("0000:1b:00.0")}, {{"CUDA_VISIBLE_DEVICES", "0"}}), IsEmpty());
  EXPECT_THAT(missing({cuda("0000:1b:00.0")}, {{"NVIDIA_VISIBLE_DEVICES", "GPU-1"}}), IsEmpty());
}

TEST_F(two_cards, a_variable_that_names_some_and_none_is_listed_is_a_problem) {
  auto const problems = missing({}, {{"CUDA_VISIBLE_DEVICES", "5"}});
  ASSERT_THAT(codes(problems), ElementsAre("driver-without-device"));
  EXPECT_THAT(problems[0].message, HasSubstr("CUDA_VISIBLE_DEVICES=5"));
}

TEST_F(two_cards, a_variable_that_names_none_hides_all_on_purpose) {
  for (char const* value : {"", " ", "-1", "-1,0", "none", "NoDevFiles"})
    EXPECT_THAT(missing({}, {{"CUDA_VISIBLE_DEVICES", value}}), IsEmpty()) << value;
}

TEST_F(two_cards, a_typing_error_hides_nothing_on_purpose) {
  EXPECT_THAT(codes(missing({}, {{"CUDA_VISIBLE_DEVICES", "gpu0"}})),
              ElementsAre("driver-without-device"));
}

TEST_F(two_cards, the_value_that_every_toolkit_image_carries_hides_nothing) {
  variables const all{{"NVIDIA_VISIBLE_DEVICES", "all"}};
  EXPECT_THAT(codes(missing({cuda("0000:1b:00.0")}, all)), ElementsAre("device-missing"));
  EXPECT_THAT(codes(missing({}, all)), ElementsAre("driver-without-device"));
}

TEST_F(two_cards, a_container_that_says_void_and_has_nodes_was_given_gpus) {
  EXPECT_THAT(codes(missing({}, {{"NVIDIA_VISIBLE_DEVICES", "void"}})),
              ElementsAre("driver-without-device"));
}

TEST_F(two_cards, the_other_vendors_variable_hides_nothing) {
  EXPECT_THAT(codes(missing({}, {{"HIP_VISIBLE_DEVICES", "-1"}})),
              ElementsAre("driver-without-device"));
}

TEST_F(two_cards, a_driver_without_addresses_cannot_be_compared) {
  auto device = cuda("");
  EXPECT_THAT(missing({device}), IsEmpty());
}

TEST_F(two_cards, a_host_is_no_gpu) {
  device_identity host;
  host.backend = "host";
  EXPECT_THAT(codes(missing({host})), ElementsAre("driver-without-device"));
}

TEST_F(two_cards, cards_that_are_not_for_us_are_not_missing) {
  root.add({.address = "0000:d1:00.0", .driver = "vfio-pci", .minor = -1});
  root.add({.address = "0000:d2:00.0", .pci_class = "0x030000", .driver = "nouveau", .minor = -1});
  root.add({.address = "0000:d3:00.0", .pci_class = "0x030000", .driver = "", .minor = -1});
  root.add({.address = "0000:d4:00.0", .vendor = "0x1002", .driver = "amdgpu", .minor = -1});
  EXPECT_THAT(missing({cuda("0000:1b:00.0"), cuda("0000:c1:00.0")}), IsEmpty());
}

TEST_F(two_cards, a_card_without_a_node_here_is_hidden) {
  root.add({.address = "0000:d5:00.0", .minor = 5, .node = false});
  EXPECT_THAT(missing({cuda("0000:1b:00.0"), cuda("0000:c1:00.0")}), IsEmpty());
}

TEST_F(two_cards, a_card_that_the_driver_refused_is_missing) {
  root.add({.address = "0000:d1:00.0", .driver = "", .minor = -1});
  auto const problems = missing({cuda("0000:1b:00.0"), cuda("0000:c1:00.0")});
  ASSERT_THAT(codes(problems), ElementsAre("device-missing"));
  EXPECT_THAT(problems[0].message, HasSubstr("0000:d1:00.0 (10de:2335, kernel driver none)"));
}

TEST_F(two_cards, beside_hidden_cards_an_unbound_one_may_be_hidden_too) {
  root.add({.address = "0000:d1:00.0", .driver = "", .minor = -1});
  root.add({.address = "0000:d2:00.0", .minor = 7, .node = false});
  EXPECT_THAT(missing({cuda("0000:1b:00.0"), cuda("0000:c1:00.0")}), IsEmpty());
}

TEST(missing_devices, a_machine_without_anything_has_no_problem) {
  EXPECT_THAT(missing_devices({}, {}, {}), IsEmpty());
}

TEST(missing_devices, a_card_without_a_driver_is_no_gpu_machine) {
  fake_root root;
  root.add({.driver = "", .minor = -1});
  EXPECT_THAT(missing_devices(look_for_gpus(root.path()), {}, {}), IsEmpty());
}

TEST(missing_devices, a_library_alone_is_a_problem_with_its_remedy) {
  fake_root root;
  root.file("usr/lib/x86_64-linux-gnu/libcuda.so.1", "");
  auto const machine = look_for_gpus(root.path());
  auto const problems = missing_devices(machine, {}, {});
  ASSERT_THAT(codes(problems), ElementsAre("driver-without-device"));
  EXPECT_THAT(problems[0].message, HasSubstr("docker run --gpus all"));
  for (char const* value : {"", "none", "void"})
    EXPECT_THAT(missing_devices(machine, {}, {{"NVIDIA_VISIBLE_DEVICES", value}}), IsEmpty());
}

TEST(missing_devices, an_amd_node_alone_is_a_problem_unless_hidden) {
  fake_root root;
  root.file("dev/kfd", "");
  auto const machine = look_for_gpus(root.path());
  EXPECT_THAT(codes(missing_devices(machine, {}, {})), ElementsAre("driver-without-device"));
  EXPECT_THAT(missing_devices(machine, {}, {{"ROCR_VISIBLE_DEVICES", ""}}), IsEmpty());
}

TEST(expected_devices, fewer_are_a_problem_that_names_who_is_there_and_who_is_not) {
  fake_root root;
  root.add_driver().add({.address = "0000:1b:00.0", .minor = 0});
  root.add({.address = "0000:c1:00.0", .minor = 1, .node = false});
  auto const machine = look_for_gpus(root.path());
  auto const problems =
      missing_devices(machine, {cuda("0000:1b:00.0")}, {{"BANDGATE_EXPECT_DEVICES", "2"}});
  ASSERT_THAT(codes(problems), ElementsAre("fewer-devices-than-expected"));
  EXPECT_THAT(problems[0].message,
              AllOf(HasSubstr("asks for 2 devices, and 1 are listed: PCI 0000:1b:00.0"),
                    HasSubstr("not listed: PCI 0000:c1:00.0"), HasSubstr("580.159.04")));
  EXPECT_FALSE(problems[0].usage);
}

TEST(expected_devices, as_many_or_more_are_fine) {
  for (char const* count : {"0", "1", "2"})
    EXPECT_THAT(missing_devices({}, {cuda("0000:1b:00.0"), cuda("0000:c1:00.0")},
                                {{"BANDGATE_EXPECT_DEVICES", count}}),
                IsEmpty());
}

TEST(expected_devices, counts_scripted_devices_and_never_the_host) {
  device_identity scripted, host;
  scripted.backend = "scripted";
  scripted.uuid = "GPU-fire-drill";
  host.backend = "host";
  auto const problems = missing_devices({}, {scripted, host}, {{"BANDGATE_EXPECT_DEVICES", "2"}});
  ASSERT_THAT(codes(problems), ElementsAre("fewer-devices-than-expected"));
  EXPECT_THAT(problems[0].message, HasSubstr("1 are listed: GPU-fire-drill"));
  EXPECT_THAT(missing_devices({}, {scripted}, {{"BANDGATE_EXPECT_DEVICES", "1"}}), IsEmpty());
}

TEST(expected_devices, are_demanded_of_hidden_devices_too) {
  auto const problems =
      missing_devices({}, {}, {{"BANDGATE_EXPECT_DEVICES", "1"}, {"CUDA_VISIBLE_DEVICES", "-1"}});
  ASSERT_THAT(codes(problems), ElementsAre("fewer-devices-than-expected"));
  EXPECT_THAT(problems[0].message, HasSubstr("CUDA_VISIBLE_DEVICES=-1 hides devices"));
}

TEST(expected_devices, must_be_a_whole_number) {
  for (char const* bad : {"", " ", "eight", "-1", "8.0", "0x8", "+8", "8 ", "99999999999999999999"})
    EXPECT_THROW(missing_devices({}, {}, {{"BANDGATE_EXPECT_DEVICES", bad}}), usage_error) << bad;
}

}  // namespace
}  // namespace bandgate
