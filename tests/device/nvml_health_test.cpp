// SPDX-License-Identifier: Apache-2.0
/// Each field of the health table, each ill that a card can show, and each way to read less.
#include <gmock/gmock.h>

#include <set>

#include "device/health_fields.hpp"
#include "device/nvml.hpp"
#include "device/stub_support.hpp"

namespace bandgate {
namespace {

using ::testing::HasSubstr;
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
      "retirement=1,repair=1,ecc=0,ecc-pending=1,links-down=1,link-errors=12,memory-used=5000,"
      "compute-mode=2,"
      "persistence=0,mig=1,replays=7");
  EXPECT_TRUE(flag(fields, "page_retirement_pending"));
  EXPECT_TRUE(flag(fields, "repair_pending"));
  EXPECT_FALSE(flag(fields, "ecc_enabled"));
  EXPECT_TRUE(flag(fields, "ecc_pending"));
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

TEST(nvml_health, takes_no_field_of_another_type_for_a_counter) {
  auto const fields = read("library=13.580.159,thermal-fields=251,hw-thermal=2000");
  EXPECT_THAT(why(fields, "clock_event_hw_thermal_ns"), HasSubstr("no data"));
  EXPECT_THAT(why(fields, "clock_event_power_brake_ns"), HasSubstr("no data"));
}

TEST(nvml_health, makes_no_sum_of_link_errors_with_a_part_that_cannot_be_read) {
  auto const fields = read("link-errors-fail,link-errors=5");
  EXPECT_EQ(number(fields, "nvlink_active"), 18);
  EXPECT_EQ(why(fields, "nvlink_errors"),
            "NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY: unknown error of the driver (999)");
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
  EXPECT_EQ(why(fields, "memory_temperature_c"),
            "nvmlDeviceGetFieldValues: this driver has no such function (13)");
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
      // The oldest way answers only where it is the only one.
      return std::string("fabric-layout=") + layout + "," + what +
             (*layout == '1' ? "" : ",missing=nvmlDeviceGetGpuFabricInfo");
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

}  // namespace
}  // namespace bandgate
