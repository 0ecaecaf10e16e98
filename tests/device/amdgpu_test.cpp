// SPDX-License-Identifier: Apache-2.0
#include "device/amdgpu.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/fake_root.hpp"
#include "device/identity.hpp"
#include "device/presence.hpp"

namespace bandgate {
namespace {

using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

constexpr char const* chip_one = "0000:c1:00.0";
constexpr char const* chip_two = "0000:c6:00.0";

/// A node with the two chips of an MI250X card: two devices of the bus.
class two_chips : public ::testing::Test {
 protected:
  two_chips() {
    root.file("dev/kfd", "").file("dev/dri/renderD128", "").file("dev/dri/renderD129", "");
    add(chip_one, "renderD128");
    add(chip_two, "renderD129");
  }
  void add(char const* address, char const* node) {
    root.add({.address = address,
              .vendor = "0x1002",
              .device = "0x7408",
              .pci_class = "0x038000",
              .driver = "amdgpu",
              .minor = -1});
    root.folder(std::string("sys/bus/pci/devices/") + address + "/drm/" + node);
  }
  std::vector<std::string> missing(std::vector<std::string> const& listed,
                                   std::map<std::string, std::string> const& environment = {}) {
    std::vector<device_identity> devices;
    for (auto const& address : listed) {
      devices.emplace_back().backend = "hip";
      devices.back().pci_address = address;
    }
    std::vector<std::string> codes;
    messages.clear();
    for (auto const& p : missing_devices(look_for_gpus(root.path()), devices, environment, "hip")) {
      codes.push_back(p.code);
      messages += p.message;
    }
    return codes;
  }
  fake_root root;
  std::string messages;
};

TEST_F(two_chips, both_listed_is_no_problem) {
  EXPECT_THAT(missing({chip_one, chip_two}), IsEmpty());
}

TEST_F(two_chips, one_unlisted_is_missing_by_its_address) {
  EXPECT_THAT(missing({chip_one}), ElementsAre("device-missing"));
  EXPECT_THAT(messages, AllOf(HasSubstr("PCI 0000:c6:00.0 (1002:7408, kernel driver amdgpu)"),
                              HasSubstr("HIP_VISIBLE_DEVICES")));
}

TEST_F(two_chips, none_listed_is_a_driver_without_a_device) {
  EXPECT_THAT(missing({}), ElementsAre("driver-without-device"));
  EXPECT_THAT(messages, AllOf(HasSubstr("/dev/kfd"), HasSubstr("groups render and video")));
}

TEST_F(two_chips, variables_that_hip_heeds_hide_on_purpose) {
  for (char const* name : {"HIP_VISIBLE_DEVICES", "ROCR_VISIBLE_DEVICES", "CUDA_VISIBLE_DEVICES"}) {
    EXPECT_THAT(missing({}, {{name, ""}}), IsEmpty()) << name;
    EXPECT_THAT(missing({chip_one}, {{name, "0"}}), IsEmpty()) << name;
  }
  EXPECT_THAT(missing({}, {{"NVIDIA_VISIBLE_DEVICES", "none"}}),
              ElementsAre("driver-without-device"));
}

TEST_F(two_chips, a_card_without_its_node_was_not_handed_to_this_container) {
  std::filesystem::remove(root.path() / "dev/dri/renderD129");
  EXPECT_THAT(missing({chip_one}), IsEmpty());
}

TEST_F(two_chips, an_accelerator_without_a_display_counts_as_well) {
  root.file("sys/bus/pci/devices/0000:c6:00.0/class", "0x120000");
  EXPECT_THAT(missing({chip_one}), ElementsAre("device-missing"));
}

TEST(missing_from_hip, a_machine_of_the_other_vendor_is_no_host) {
  fake_root root;
  root.add_driver().add({});
  auto const problems = missing_devices(look_for_gpus(root.path()), {}, {}, "hip");
  ASSERT_EQ(problems.size(), 1U);
  EXPECT_EQ(problems[0].code, "driver-without-device");
  EXPECT_THAT(problems[0].message, HasSubstr("this build drives AMD GPUs"));
}

TEST(amdgpu, version_is_that_of_amds_package_or_of_the_kernel) {
  fake_root root;
  root.file("proc/sys/kernel/osrelease", "6.8.0-45-generic\n");
  EXPECT_EQ(amdgpu_version(root.path()), "");  // not loaded
  root.folder("sys/module/amdgpu");
  EXPECT_EQ(amdgpu_version(root.path()), "Linux 6.8.0-45-generic");
  root.file("sys/module/amdgpu/version", "6.10.5\n");
  EXPECT_EQ(amdgpu_version(root.path()), "6.10.5");
}

TEST(amdgpu, a_partition_is_named_and_a_whole_card_is_not) {
  fake_root root;
  auto const folder = std::string("sys/bus/pci/devices/") + chip_one + "/";
  EXPECT_EQ(amd_partition(chip_one, root.path()), "");
  root.file(folder + "current_compute_partition", "SPX\n");
  root.file(folder + "current_memory_partition", "NPS1\n");
  EXPECT_EQ(amd_partition(chip_one, root.path()), "");
  root.file(folder + "current_compute_partition", "CPX\n");
  EXPECT_EQ(amd_partition(chip_one, root.path()), "CPX/NPS1");
  root.file(folder + "current_memory_partition", "NPS4\n");
  EXPECT_EQ(amd_partition(chip_one, root.path()), "CPX/NPS4");
}

class kfd_topology : public ::testing::Test {
 protected:
  /// As the kernel writes it: the address in numbers, sizes in KiB.
  void node(int number, unsigned location) {
    root.file(at(number) + "properties",
              "cpu_cores_count 0\nlocation_id " + std::to_string(location) + "\ndomain 0\n");
  }
  void cache(int number, int which, int level, int kib) {
    root.file(at(number) + "caches/" + std::to_string(which) + "/properties",
              "level " + std::to_string(level) + "\nsize " + std::to_string(kib) + "\n");
  }
  static std::string at(int number) {
    return "sys/class/kfd/kfd/topology/nodes/" + std::to_string(number) + "/";
  }
  std::optional<std::uint64_t> seen(char const* address) {
    return kfd_last_level_cache(address, root.path());
  }
  fake_root root;
};

TEST_F(kfd_topology, last_level_is_infinity_cache_where_there_is_one) {
  node(0, 0);  // the processor
  cache(0, 0, 3, 999999);
  node(1, 0xc100);
  cache(1, 0, 1, 32);
  cache(1, 1, 2, 4096);
  cache(1, 2, 3, 262144);
  cache(1, 3, 2, 4096);
  EXPECT_EQ(seen(chip_one), 268435456U);
  EXPECT_EQ(seen(chip_two), std::nullopt);
}

TEST_F(kfd_topology, last_level_is_the_second_on_older_cards) {
  node(1, 0xc100);
  cache(1, 0, 1, 16);
  cache(1, 1, 2, 8192);
  EXPECT_EQ(seen(chip_one), 8388608U);
}

TEST_F(kfd_topology, a_first_level_is_none_and_garbage_is_no_cache) {
  node(1, 0xc100);
  cache(1, 0, 1, 16);
  root.file(at(1) + "caches/1/properties", "level two\nsize\n");
  EXPECT_EQ(seen(chip_one), std::nullopt);
  EXPECT_EQ(seen("no address"), std::nullopt);
}

TEST(peak, counts_four_transfers_a_clock_where_told) {
  EXPECT_EQ(peak_bandwidth(1300, 8192, 4), 5324.8e9);
  EXPECT_EQ(peak_bandwidth(1600, 4096), 1638.4e9);
}

}  // namespace
}  // namespace bandgate
