// SPDX-License-Identifier: Apache-2.0
/// Each field of the health table, each cause that a card can show, and each way to read less.
#include <gmock/gmock.h>

#include <set>

#include "device/health_fields.hpp"
#include "device/nvml.hpp"
#include "device/stub_support.hpp"

namespace bandgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using state = health_field::state;

device_identity card_1b() {
  device_identity d;
  d.uuid = "GPU-1b1b1b1b-0000-0000-0000-000000000002";
  return d;
}

/// What the stub of `variant` says of a card when NVML_STUB is `words`.
health_snapshot read(char const* words, char const* variant = "current") {
  setting const set("NVML_STUB", words);
  nvml const management(std::string(BANDGATE_NVML_STUBS "/") + variant + "/libnvidia-ml.so.1");
  EXPECT_TRUE(management.available()) << management.why_not();
  return management.snapshot(card_1b());
}

std::string why(health_snapshot const& fields, char const* name) {
  auto const& field = fields.at(name);
  EXPECT_EQ(field.status, state::unavailable) << name;
  return field.why;
}

TEST(nvml_health, has_the_fields_of_the_table_and_no_other) {
  auto const fields = read("");
  std::set<std::string> read_names;
  for (auto const& [name, field] : fields) read_names.insert(name);
  auto const names = health_field_names();
  EXPECT_EQ(read_names, std::set<std::string>(names.begin(), names.end()));
  EXPECT_THAT(names, SizeIs(45));
}

TEST(nvml_health, of_a_healthy_card) {
  auto const fields = read("healthy");
  for (auto const& [name, field] : fields) EXPECT_EQ(field.status, state::ok) << name << field.why;
  EXPECT_EQ(number(fields, "memory_temperature_c"), 52);
  EXPECT_EQ(number(fields, "temperature_slowdown_c"), 87);
  EXPECT_EQ(number(fields, "temperature_memory_max_c"), 95);
  EXPECT_EQ(number(fields, "pcie_generation_card"), 5);
  EXPECT_EQ(number(fields, "nvlink_links"), 18);
  EXPECT_EQ(number(fields, "nvlink_active"), 18);
  EXPECT_EQ(number(fields, "nvlink_errors"), 0);
  EXPECT_EQ(text(fields, "fabric_state"), "completed");
  EXPECT_EQ(number(fields, "memory_reserved_bytes"), 1073741824);
  EXPECT_EQ(text(fields, "compute_mode"), "default");
  EXPECT_TRUE(flag(fields, "persistence"));
  EXPECT_TRUE(flag(fields, "ecc_pending"));
  EXPECT_FALSE(flag(fields, "mig_enabled"));
  EXPECT_FALSE(flag(fields, "page_retirement_pending"));
  EXPECT_FALSE(flag(fields, "repair_pending"));
}

TEST(nvml_health, of_a_card_with_ills) {
  auto const fields = read(
      "retirement=1,repair=1,ecc=0,links-down=1,link-errors=12,memory-used=5000,compute-mode=2,"
      "persistence=0,mig=1,replays=7");
  EXPECT_TRUE(flag(fields, "page_retirement_pending"));
  EXPECT_TRUE(flag(fields, "repair_pending"));
  EXPECT_FALSE(flag(fields, "ecc_enabled"));
  EXPECT_FALSE(flag(fields, "ecc_pending"));
  EXPECT_EQ(number(fields, "ecc_corrected_volatile"), 5);
  EXPECT_EQ(number(fields, "ecc_uncorrected_volatile"), 2);
  EXPECT_EQ(number(fields, "ecc_uncorrected_aggregate"), 9);
  EXPECT_EQ(number(fields, "nvlink_links"), 18);
  EXPECT_EQ(number(fields, "nvlink_active"), 17);
  EXPECT_EQ(number(fields, "nvlink_errors"), 12);
  EXPECT_EQ(number(fields, "memory_used_bytes"), 5000);
  EXPECT_EQ(text(fields, "compute_mode"), "prohibited");
  EXPECT_FALSE(flag(fields, "persistence"));
  EXPECT_TRUE(flag(fields, "mig_enabled"));
  EXPECT_EQ(number(fields, "pcie_replays"), 7);
}

TEST(nvml_health, counts_how_long_clocks_were_held_down) {
  setting const set("NVML_STUB",
                    "sw-power-cap=1000+250,hw-thermal=2000+10,sw-thermal=3000,power-brake=4000,"
                    "sync-boost=5000,board-limit=6000,reliability=7000");
  nvml const management(BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
  auto const first = management.snapshot(card_1b());
  EXPECT_EQ(number(first, "clock_event_sw_power_cap_ns"), 1000);
  EXPECT_EQ(number(first, "clock_event_hw_thermal_ns"), 2000);
  EXPECT_EQ(number(first, "clock_event_sw_thermal_ns"), 3000);
  EXPECT_EQ(number(first, "clock_event_power_brake_ns"), 4000);
  EXPECT_EQ(number(first, "clock_event_sync_boost_ns"), 5000);
  EXPECT_EQ(number(first, "clock_event_board_limit_ns"), 6000);
  EXPECT_EQ(number(first, "clock_event_reliability_ns"), 7000);
  auto const second = management.snapshot(card_1b());
  EXPECT_EQ(number(second, "clock_event_sw_power_cap_ns"), 1250);
  EXPECT_EQ(number(second, "clock_event_hw_thermal_ns"), 2010);
  EXPECT_EQ(number(second, "clock_event_sw_thermal_ns"), 3000);
}

// The same numbers mean power smoothing in other versions: a 1 there is no nanosecond of heat.
TEST(nvml_health, asks_for_counters_by_the_numbers_that_the_version_gives_them) {
  for (auto const* library : {"12.575.51", "13.580.65", "13.580.82", "13.595.45"}) {
    auto const fields =
        read((std::string("hw-thermal=2000,power-brake=4000,sw-thermal=3000,library=") + library)
                 .c_str());
    EXPECT_EQ(number(fields, "clock_event_sw_thermal_ns"), 3000) << library;
    EXPECT_EQ(number(fields, "clock_event_hw_thermal_ns"), 2000) << library;
    EXPECT_EQ(number(fields, "clock_event_power_brake_ns"), 4000) << library;
  }
  auto const before = read("library=12.570.172,sw-power-cap=1000");
  EXPECT_EQ(number(before, "clock_event_sw_power_cap_ns"), 1000);
  EXPECT_THAT(why(before, "clock_event_hw_thermal_ns"), HasSubstr("no such function"));
  EXPECT_THAT(why(before, "clock_event_power_brake_ns"), HasSubstr("no such function"));
}

TEST(nvml_health, of_old_symbols_alone) {
  auto const fields = read(
      "sw-power-cap=1000,sw-thermal=3000,sync-boost=5000,board-limit=6000,"
      "reliability=7000,memory-used=5000,memory-reserved=300",
      "old");
  EXPECT_EQ(number(fields, "clock_event_sw_power_cap_ns"), 1000);
  EXPECT_EQ(number(fields, "clock_event_sw_thermal_ns"), 3000);
  EXPECT_EQ(number(fields, "clock_event_sync_boost_ns"), 5000);
  EXPECT_EQ(number(fields, "clock_event_board_limit_ns"), 6000);
  EXPECT_EQ(number(fields, "clock_event_reliability_ns"), 7000);
  EXPECT_EQ(number(fields, "temperature_c"), 41);
  EXPECT_EQ(number(fields, "memory_used_bytes"), 5300);  // with what the driver keeps
  for (auto const* name : {"clock_event_hw_thermal_ns", "clock_event_power_brake_ns",
                           "memory_temperature_c", "memory_reserved_bytes", "pcie_generation_card",
                           "nvlink_links", "nvlink_active", "nvlink_errors", "fabric_state",
                           "page_retirement_pending", "repair_pending", "mig_enabled"})
    EXPECT_THAT(why(fields, name), HasSubstr("no such function")) << name;
}

TEST(nvml_health, of_fields_that_the_card_lacks) {
  auto const fields = read("no-fields,link-errors=3");
  for (auto const* name :
       {"clock_event_sw_power_cap_ns", "clock_event_hw_thermal_ns", "memory_temperature_c"})
    EXPECT_EQ(fields.at(name).status, state::not_supported) << name;
  EXPECT_EQ(number(fields, "nvlink_errors"), 3);  // one link after the other
}

TEST(nvml_health, takes_the_older_way_where_the_newer_is_missing) {
  auto const fields = read(
      "missing=nvmlDeviceGetTemperatureV+nvmlDeviceGetMemoryInfo_v2+"
      "nvmlDeviceGetPcieReplayCounter,temperature=77,memory-used=5000,memory-reserved=300,"
      "replays=9");
  EXPECT_EQ(number(fields, "temperature_c"), 77);
  EXPECT_EQ(number(fields, "memory_used_bytes"), 5300);
  EXPECT_EQ(fields.at("memory_reserved_bytes").status, state::unavailable);
  EXPECT_EQ(number(fields, "pcie_replays"), 9);
}

TEST(nvml_health, a_link_that_a_card_does_not_have_is_not_down) {
  auto const some = read("links=12,links-down=0");
  EXPECT_EQ(number(some, "nvlink_links"), 12);
  EXPECT_EQ(number(some, "nvlink_active"), 12);
  auto const none = read("links=0");
  for (auto const* name : {"nvlink_links", "nvlink_active", "nvlink_errors"})
    EXPECT_EQ(none.at(name).status, state::not_supported) << name;
}

TEST(nvml_health, names_the_state_of_the_fabric_in_each_layout) {
  for (auto const* layout : {"3", "2", "1"}) {
    auto const words = [&](char const* what) {
      return std::string("fabric-layout=") + layout + "," + what;
    };
    EXPECT_EQ(text(read(words("fabric=3").c_str()), "fabric_state"), "completed") << layout;
    EXPECT_EQ(text(read(words("fabric=2").c_str()), "fabric_state"), "in-progress") << layout;
    EXPECT_EQ(text(read(words("fabric=1").c_str()), "fabric_state"), "not-started") << layout;
    EXPECT_EQ(text(read(words("fabric=3,fabric-status=999").c_str()), "fabric_state"),
              "failed: 999")
        << layout;
    EXPECT_EQ(read(words("fabric=0").c_str()).at("fabric_state").status, state::not_supported);
    EXPECT_THAT(why(read(words("fabric=9").c_str()), "fabric_state"), HasSubstr("unknown state"));
  }
}

TEST(nvml_health, what_no_card_has_is_not_passed_on) {
  auto const fields = read("zero,compute-mode=9");
  for (auto const* name : {"memory_temperature_c", "temperature_slowdown_c",
                           "temperature_memory_max_c", "pcie_generation_card"})
    EXPECT_THAT(why(fields, name), HasSubstr("reported 0")) << name;
  EXPECT_THAT(why(fields, "compute_mode"), HasSubstr("unknown mode"));
}

TEST(nvml_health, a_library_that_fails_after_some_questions_keeps_what_it_said) {
  for (auto const* words : {"fail-after=4", "lost-after=4", "reset-after=4"}) {
    auto const fields = read(words);
    EXPECT_THAT(fields, SizeIs(45)) << words;
    EXPECT_EQ(number(fields, "sm_clock_mhz"), 1980) << words;
    std::size_t known = 0;
    for (auto const& [name, field] : fields) {
      if (field.status == state::ok) ++known;
      EXPECT_EQ(field.why.empty(), field.status == state::ok) << name;
      EXPECT_NE(field.status, state::not_supported) << words << " " << name;
    }
    EXPECT_EQ(known, 4U) << words;
  }
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
