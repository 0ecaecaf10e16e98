// SPDX-License-Identifier: Apache-2.0
/// What NVML says beside the health table: lost cards, slices, processes; and the stub's own
/// tricks.
#include <gmock/gmock.h>
#include <unistd.h>

#include <csignal>

#include "device/nvml.hpp"
#include "device/stub_support.hpp"

namespace bandgate {
namespace {

using ::testing::IsEmpty;
using ::testing::SizeIs;

device_identity card_1b() {
  device_identity d;
  d.uuid = "GPU-1b1b1b1b-0000-0000-0000-000000000002";
  return d;
}

// What tests of whole programs rehearse with.
TEST(nvml_stub, plays_a_card_that_changes_and_is_another) {
  setting const set("NVML_STUB",
                    "healthy,uuid=GPU-99999999-0000-0000-0000-000000000009,pci=0000:09:00.0,"
                    "pcie-gen=1>5,sw-thermal=50%,own");
  nvml const management(BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
  device_identity card;
  card.uuid = "GPU-99999999-0000-0000-0000-000000000009";
  auto const first = management.snapshot(card);
  auto const second = management.snapshot(card);
  EXPECT_EQ(number(first, "pcie_generation"), 1);
  EXPECT_EQ(number(second, "pcie_generation"), 5);
  EXPECT_GT(number(first, "clock_event_sw_thermal_ns"), 0);
  EXPECT_GT(number(second, "clock_event_sw_thermal_ns"),
            number(first, "clock_event_sw_thermal_ns"));
  auto const own = static_cast<std::uint64_t>(::getpid());
  EXPECT_EQ(management.processes(card, {}).at(0).pid, own);
  EXPECT_THAT(management.processes(card, {own}), IsEmpty());
}

TEST(nvml_stub, can_hang) {
  auto const ask = [](char const* words) {
    setting const set("NVML_STUB", words);
    alarm(1);
    nvml const management(BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
    management.snapshot(card_1b());
  };
  EXPECT_EXIT(ask("hang"), ::testing::KilledBySignal(SIGALRM), "");
  EXPECT_EXIT(ask("hang-after=10"), ::testing::KilledBySignal(SIGALRM), "");
}

TEST(nvml_lost, says_so_where_the_library_does) {
  for (auto const& [words, said] :
       {std::pair{"lost-after=0", "nvmlDeviceGetTemperature: the GPU is lost (15)"},
        std::pair{"reset-after=0", "nvmlDeviceGetTemperature: the GPU must be reset (16)"},
        std::pair{"lost-after=1", "nvmlDeviceGetPowerUsage: the GPU is lost (15)"}}) {
    setting const set("NVML_STUB", words);
    nvml const management(BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
    EXPECT_EQ(management.lost(card_1b()), said) << words;
  }
}

TEST(nvml_lost, says_nothing_of_a_card_that_is_there_or_a_library_that_is_not) {
  for (auto const* words : {"", "not-supported", "fail-after=0", "init=999"}) {
    setting const set("NVML_STUB", words);
    nvml const management(BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
    EXPECT_EQ(management.lost(card_1b()), std::nullopt) << words;
    EXPECT_EQ(management.lost({}), std::nullopt) << words;
  }
}

TEST(nvml_instances, lists_the_slices_of_a_card) {
  nvml const management(BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
  device_identity card;
  card.backend = "cuda";
  card.pci_address = "0000:3a:00.0";
  card.processors = 132;
  card.peak_bytes_per_second = 4.8e12;
  auto const slices = management.instances(card);
  ASSERT_THAT(slices, SizeIs(2));
  EXPECT_EQ(slices[0].uuid, "MIG-12345678-0000-0000-0000-000000000004");
  EXPECT_EQ(slices[0].mig_profile, "1g.18gb");
  EXPECT_EQ(slices[1].uuid, "MIG-12345678-0000-0000-0000-000000000005");
  EXPECT_EQ(slices[1].mig_profile, "3g.71gb");
  for (auto const& slice : slices) {
    EXPECT_EQ(slice.backend, "cuda");
    EXPECT_EQ(slice.mig_parent, "GPU-3a3a3a3a-0000-0000-0000-000000000003");
    EXPECT_EQ(slice.pci_address, "0000:3a:00.0");
    EXPECT_EQ(slice.pci_device, "10de:2335");
    EXPECT_EQ(slice.pci_subsystem, "10de:18bf");
    EXPECT_EQ(slice.board_part, "692-2G520-0282-001");
    EXPECT_EQ(slice.memory_bytes, 141ULL * (1ULL << 30) / 8);
    EXPECT_EQ(slice.processors, 16U);
    EXPECT_EQ(slice.peak_bytes_per_second, std::nullopt);
  }
}

TEST(nvml_instances, are_none_of_a_whole_card) {
  nvml const management(BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
  EXPECT_THAT(management.instances(card_1b()), IsEmpty());
  EXPECT_THAT(management.instances({}), IsEmpty());
  nvml const old(BANDGATE_NVML_STUBS "/old/libnvidia-ml.so.1");
  EXPECT_THAT(old.instances(card_1b()), IsEmpty());
}

TEST(nvml_instances, have_their_own_memory_and_their_cards_health) {
  nvml const management(BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
  device_identity slice;
  slice.uuid = "MIG-12345678-0000-0000-0000-000000000004";
  auto const fields = management.snapshot(slice);
  EXPECT_EQ(number(fields, "memory_clock_mhz"), 3203);
  EXPECT_EQ(number(fields, "memory_used_bytes"), 268435456);
  EXPECT_TRUE(flag(fields, "mig_enabled"));
  EXPECT_EQ(number(fields, "nvlink_links"), 18);
}

std::vector<device_process> others(char const* words) {
  setting const set("NVML_STUB", words);
  nvml const management(BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
  return management.processes(card_1b(), {77});
}

TEST(nvml_processes, clients_of_an_mps_server_are_listed_once_and_the_server_never_computes) {
  auto const listed = others("healthy,processes=4100+4101,mps=4101+4102,active=4100+4102");
  ASSERT_THAT(listed, SizeIs(3));
  EXPECT_EQ(listed[0].pid, 4100U);
  EXPECT_EQ(listed[0].name, "/usr/bin/nvidia-cuda-mps-server");
  EXPECT_FALSE(listed[0].active);
  EXPECT_EQ(listed[1].pid, 4101U);
  EXPECT_FALSE(listed[1].active);
  EXPECT_EQ(listed[2].pid, 4102U);
  EXPECT_TRUE(listed[2].active);
}

TEST(nvml_processes, load_without_samples_is_not_held_against_an_mps_server) {
  auto const listed = others("healthy,processes=4100,utilization=97,no-samples");
  ASSERT_THAT(listed, SizeIs(1));
  EXPECT_FALSE(listed[0].active);
}

TEST(nvml_processes, one_that_ends_is_no_longer_listed) {
  setting const set("NVML_STUB", "active-for=2");
  nvml const management(BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
  EXPECT_TRUE(management.processes(card_1b(), {77}).at(0).active);
  EXPECT_TRUE(management.processes(card_1b(), {77}).at(0).active);
  auto const later = management.processes(card_1b(), {77});
  ASSERT_THAT(later, SizeIs(1));
  EXPECT_EQ(later[0].pid, 4002U);
  EXPECT_EQ(number(management.snapshot(card_1b()), "gpu_utilization_percent"), 0);
}

}  // namespace
}  // namespace bandgate
