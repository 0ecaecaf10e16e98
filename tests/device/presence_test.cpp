// SPDX-License-Identifier: Apache-2.0
#include "device/presence.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "device/fake_root.hpp"

namespace bandgate {
namespace {

using ::testing::ElementsAre;
using ::testing::IsEmpty;

std::vector<std::string> addresses(gpu_presence const& machine) {
  std::vector<std::string> all;
  for (auto const& gpu : machine.gpus) all.push_back(gpu.pci_address);
  return all;
}

TEST(presence, an_empty_machine_has_nothing) {
  fake_root const root;
  auto const machine = look_for_gpus(root.path());
  EXPECT_FALSE(machine.any());
  EXPECT_THAT(machine.gpus, IsEmpty());
}

TEST(presence, a_root_that_is_not_there_is_an_empty_machine) {
  EXPECT_FALSE(look_for_gpus("/no/such/folder").any());
}

TEST(presence, reads_a_card_its_driver_and_its_node) {
  fake_root root;
  root.add_driver().add({.address = "0000:1b:00.0", .minor = 3});
  auto const machine = look_for_gpus(root.path());
  ASSERT_EQ(machine.gpus.size(), 1U);
  auto const& gpu = machine.gpus[0];
  EXPECT_EQ(gpu.pci_address, "0000:1b:00.0");
  EXPECT_EQ(gpu.pci_device, "10de:2335");
  EXPECT_EQ(gpu.pci_subsystem, "10de:18bf");
  EXPECT_EQ(gpu.pci_class, "0x0302");
  EXPECT_EQ(gpu.kernel_driver, "nvidia");
  EXPECT_TRUE(gpu.node_present);
  EXPECT_FALSE(gpu.set_aside);
  EXPECT_THAT(machine.nodes, ElementsAre("/dev/nvidia3", "/dev/nvidiactl"));
  EXPECT_EQ(machine.driver_library, "/usr/lib/x86_64-linux-gnu/libcuda.so.1");
  EXPECT_EQ(machine.driver_version, "580.159.04");
  EXPECT_EQ(machine.module_flavour, "open");
  EXPECT_EQ(describe(gpu), "PCI 0000:1b:00.0 (10de:2335, kernel driver nvidia)");
}

TEST(presence, cards_come_in_bus_order) {
  fake_root root;
  root.add({.address = "10000:01:00.0", .minor = 2}).add({.address = "2345:01:00.0", .minor = 3});
  root.add({.address = "0000:c1:00.0", .minor = 0});
  root.add({.address = "0000:1b:00.0", .minor = 1});
  EXPECT_THAT(addresses(look_for_gpus(root.path())),
              ElementsAre("0000:1b:00.0", "0000:c1:00.0", "2345:01:00.0", "10000:01:00.0"));
}

TEST(presence, other_devices_are_no_gpus) {
  fake_root root;
  root.add({.address = "0000:00:02.0", .vendor = "0x8086", .pci_class = "0x030000"});
  root.add({.address = "0000:1b:00.1", .pci_class = "0x040300"});  // the card's sound
  root.add({.address = "0000:05:00.0", .pci_class = "0x068000"});  // NVSwitch
  root.add({.address = "0000:1b:00.4"}).folder("sys/bus/pci/devices/0000:1b:00.4/physfn");
  root.file("sys/bus/pci/devices/0000:99:00.0/class", "0x030200");  // no vendor to read
  root.add({.address = "not an address"});
  EXPECT_THAT(addresses(look_for_gpus(root.path())), IsEmpty());
}

TEST(presence, a_container_has_the_nodes_of_its_own_cards_only) {
  fake_root root;
  root.add_driver().add({.address = "0000:1b:00.0", .minor = 0});
  root.add({.address = "0000:3a:00.0", .minor = 1, .node = false});
  root.add({.address = "0000:5c:00.0", .minor = -1});  // masked in /proc as well
  auto const machine = look_for_gpus(root.path());
  ASSERT_EQ(machine.gpus.size(), 3U);
  EXPECT_TRUE(machine.gpus[0].node_present);
  EXPECT_FALSE(machine.gpus[1].node_present);
  EXPECT_FALSE(machine.gpus[2].node_present);
}

TEST(presence, without_minors_the_number_of_nodes_must_do) {
  fake_root root;
  root.add({.address = "0000:1b:00.0", .minor = -1}).add({.address = "0000:3a:00.0", .minor = -1});
  root.file("dev/nvidia0", "");
  EXPECT_FALSE(look_for_gpus(root.path()).gpus[0].node_present);
  root.file("dev/nvidia1", "");
  EXPECT_TRUE(look_for_gpus(root.path()).gpus[0].node_present);
}

TEST(presence, excluded_and_split_cards_are_set_aside) {
  fake_root root;
  root.add({.address = "0000:1b:00.0", .minor = 0}).add({.address = "0000:3a:00.0", .minor = 1});
  root.file("proc/driver/nvidia/gpus/0000:1b:00.0/information",
            "Device Minor: \t 0\nGPU Excluded:\t Yes\n");
  root.folder("proc/driver/nvidia/capabilities/gpu1/mig/gi2");
  auto const machine = look_for_gpus(root.path());
  EXPECT_TRUE(machine.gpus[0].set_aside);
  EXPECT_TRUE(machine.gpus[1].set_aside);
}

TEST(presence, only_device_nodes_of_drivers_count) {
  fake_root root;
  root.file("dev/nvidia-uvm", "").file("dev/nvidia-caps/nvidia-cap1", "").file("dev/nvidiax", "");
  EXPECT_FALSE(look_for_gpus(root.path()).any());
  root.file("dev/kfd", "").file("dev/nvidia12", "");
  EXPECT_THAT(look_for_gpus(root.path()).nodes, ElementsAre("/dev/kfd", "/dev/nvidia12"));
}

TEST(presence, the_proprietary_module_and_an_unreadable_one) {
  fake_root root;
  root.file("proc/driver/nvidia/version",
            "NVRM version: NVIDIA UNIX x86_64 Kernel Module  535.129.03  Thu Oct 19 2023\n");
  EXPECT_EQ(look_for_gpus(root.path()).driver_version, "535.129.03");
  EXPECT_EQ(look_for_gpus(root.path()).module_flavour, "proprietary");
  root.file("proc/driver/nvidia/version", "");
  EXPECT_EQ(look_for_gpus(root.path()).driver_version, "unknown");
  EXPECT_TRUE(look_for_gpus(root.path()).any());
}

class driver_library : public ::testing::TestWithParam<char const*> {};
TEST_P(driver_library, is_found_in) {
  fake_root root;
  root.file(std::string(GetParam()).substr(1), "");
  EXPECT_EQ(look_for_gpus(root.path()).driver_library, GetParam());
}
INSTANTIATE_TEST_SUITE_P(usual_folders, driver_library,
                         ::testing::Values("/usr/lib/x86_64-linux-gnu/libcuda.so.1",
                                           "/usr/lib/aarch64-linux-gnu/libcuda.so.1",
                                           "/usr/lib64/libcuda.so.1", "/usr/lib/libcuda.so.1",
                                           "/usr/local/nvidia/lib64/libcuda.so.1",
                                           "/run/opengl-driver/lib/libcuda.so.1",
                                           "/usr/lib/wsl/lib/libcuda.so.1"));

TEST(driver_library, is_found_where_the_loader_looks) {
  fake_root root;
  root.file("opt/gpu/lib/libcuda.so.1", "").file("site/libcuda.so.1", "");
  EXPECT_EQ(look_for_gpus(root.path()).driver_library, "");
  root.file("etc/ld.so.conf", "include /etc/ld.so.conf.d/*.conf\n");
  root.file("etc/ld.so.conf.d/gpu.conf", "# drivers\n  /opt/gpu/lib   # 64 bit\n");
  EXPECT_EQ(look_for_gpus(root.path()).driver_library, "/opt/gpu/lib/libcuda.so.1");
  EXPECT_EQ(look_for_gpus(root.path(), "::lib:/none:/site").driver_library, "/site/libcuda.so.1");
}

TEST(driver_library, a_stub_of_the_toolkit_is_none) {
  fake_root root;
  root.file("usr/local/cuda/lib64/stubs/libcuda.so.1", "");
  root.file("etc/ld.so.conf.d/cuda.conf", "/usr/local/cuda/lib64/stubs\n");
  EXPECT_EQ(look_for_gpus(root.path()).driver_library, "");
  root.link("usr/lib/x86_64-linux-gnu/libcuda.so.1", "../../local/cuda/lib64/stubs/libcuda.so.1");
  EXPECT_EQ(look_for_gpus(root.path()).driver_library, "");
}

TEST(driver_library, a_dangling_link_is_a_broken_driver) {
  fake_root root;
  root.link("usr/lib/x86_64-linux-gnu/libcuda.so.1", "libcuda.so.580.159.04");
  EXPECT_TRUE(look_for_gpus(root.path()).any());
}

}  // namespace
}  // namespace bandgate
