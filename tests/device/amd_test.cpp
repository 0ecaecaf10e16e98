// SPDX-License-Identifier: Apache-2.0
/// AMD's cards through either of their libraries.
#include <gmock/gmock.h>

#include "device/amd_smi.hpp"
#include "device/amd_smi_abi.hpp"
#include "device/health_fields.hpp"
#include "device/rocm_smi.hpp"
#include "device/rocm_smi_abi.hpp"
#include "device/stub_support.hpp"

namespace bandgate {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using state = health_field::state;

char const* const amd_stub = BANDGATE_AMD_SMI_STUB "/libamd_smi.so";
char const* const rocm_stub = BANDGATE_ROCM_SMI_STUB "/librocm_smi64.so";

device_identity card() {
  device_identity d;
  d.pci_address = "0000:0c:00.0";
  return d;
}

health_snapshot amd(char const* words) {
  setting const set("AMD_SMI_STUB", words);
  return amd_smi({amd_stub}).snapshot(card());
}
health_snapshot rocm(char const* words) {
  setting const set("ROCM_SMI_STUB", words);
  return rocm_smi({rocm_stub}).snapshot(card());
}

void expect_nothing_known(management const& library, char const* why) {
  EXPECT_FALSE(library.available());
  EXPECT_THAT(library.why_not(), HasSubstr(why));
  auto who = card();
  library.add_identity(who);
  EXPECT_EQ(who.serial, "");
  EXPECT_EQ(who.power_limit_w, std::nullopt);
  EXPECT_THAT(library.processes(who, {}), IsEmpty());
  auto const fields = library.snapshot(who);
  EXPECT_THAT(fields, SizeIs(45));
  for (auto const& [name, field] : fields) {
    EXPECT_EQ(field.status, state::unavailable) << name;
    EXPECT_THAT(field.why, HasSubstr(why)) << name;
  }
}

TEST(amd_smi, has_the_layouts_of_rocms_bindings) {
  EXPECT_EQ(sizeof(amd_smi_abi::version), 24U);
  EXPECT_EQ(sizeof(amd_smi_abi::clock_info), 32U);
  EXPECT_EQ(sizeof(amd_smi_abi::power_info), 192U);
  EXPECT_EQ(sizeof(amd_smi_abi::power_cap), 64U);
  EXPECT_EQ(sizeof(amd_smi_abi::activity), 64U);
  EXPECT_EQ(sizeof(amd_smi_abi::pcie_info), 512U);
  EXPECT_EQ(offsetof(amd_smi_abi::pcie_info, now), 96U);
  EXPECT_EQ(sizeof(amd_smi_abi::error_count), 64U);
  EXPECT_EQ(sizeof(amd_smi_abi::retired_page), 24U);
  EXPECT_EQ(sizeof(amd_smi_abi::memory_use), 16U);
  EXPECT_EQ(sizeof(amd_smi_abi::links), 96U);
  EXPECT_EQ(sizeof(amd_smi_abi::board), 1792U);
  EXPECT_EQ(sizeof(amd_smi_abi::process), 704U);
  EXPECT_EQ(offsetof(amd_smi_abi::process, memory), 336U);
  EXPECT_EQ(offsetof(amd_smi_abi::process, cu_occupancy), 656U);
}

TEST(amd_smi, reads_what_it_has) {
  auto const fields = amd("");
  EXPECT_THAT(fields, SizeIs(45));
  EXPECT_EQ(number(fields, "sm_clock_mhz"), 2100);
  EXPECT_EQ(number(fields, "sm_clock_max_mhz"), 2101);
  EXPECT_EQ(number(fields, "memory_clock_mhz"), 1300);
  EXPECT_EQ(number(fields, "memory_clock_max_mhz"), 1300);
  EXPECT_EQ(number(fields, "temperature_c"), 61);
  EXPECT_EQ(number(fields, "memory_temperature_c"), 44);
  EXPECT_EQ(number(fields, "temperature_slowdown_c"), 100);
  EXPECT_EQ(number(fields, "temperature_memory_max_c"), 105);
  EXPECT_EQ(number(fields, "power_w"), 734);
  EXPECT_EQ(number(fields, "power_limit_w"), 650);
  EXPECT_EQ(number(fields, "power_limit_default_w"), 750);
  EXPECT_EQ(number(fields, "gpu_utilization_percent"), 98);
  EXPECT_EQ(number(fields, "pcie_generation"), 4);
  EXPECT_EQ(number(fields, "pcie_generation_card"), 5);
  EXPECT_EQ(number(fields, "pcie_width"), 8);
  EXPECT_EQ(number(fields, "pcie_replays"), 3);
  EXPECT_EQ(number(fields, "ecc_corrected_volatile"), 7);
  EXPECT_EQ(number(fields, "ecc_uncorrected_volatile"), 1);
  EXPECT_FALSE(flag(fields, "page_retirement_pending"));
  EXPECT_EQ(number(fields, "nvlink_links"), 7);
  EXPECT_EQ(number(fields, "nvlink_active"), 7);
  EXPECT_EQ(number(fields, "memory_used_bytes"), 4976.0 * 1048576);
  for (auto const* name : {"pstate", "clock_event_hw_thermal_ns", "mig_enabled", "fabric_state"})
    EXPECT_EQ(fields.at(name).why, "amd_smi has nothing that corresponds") << name;
}

TEST(amd_smi, tells_a_link_that_is_down_and_a_page_that_waits) {
  auto const fields = amd("link-down,page-pending");
  EXPECT_EQ(number(fields, "nvlink_links"), 7);
  EXPECT_EQ(number(fields, "nvlink_active"), 6);
  EXPECT_TRUE(flag(fields, "page_retirement_pending"));
}

TEST(amd_smi, takes_no_zero_and_no_row_of_ones_for_a_value) {
  auto const zero = amd("zero");
  for (auto const* name : {"sm_clock_mhz", "memory_clock_max_mhz", "power_w", "power_limit_w",
                           "pcie_generation", "pcie_width"})
    EXPECT_THAT(zero.at(name).why, HasSubstr("reported 0")) << name;
  for (auto const& [name, field] : amd("unknown"))
    EXPECT_EQ(field.status == state::ok, name == "page_retirement_pending") << name;
  EXPECT_EQ(amd("unknown").at("gpu_utilization_percent").status, state::not_supported);
}

TEST(amd_smi, says_what_is_not_supported_and_what_failed) {
  auto const refused = amd("refuse=2");
  EXPECT_EQ(refused.at("power_w").status, state::not_supported);
  EXPECT_EQ(refused.at("pcie_replays").status, state::not_supported);
  for (auto const& [name, field] : refused) EXPECT_NE(field.status, state::ok) << name;
  EXPECT_EQ(amd("refuse=10").at("power_w").why, "amdsmi_get_power_info: no permission (10)");
}

TEST(amd_smi, adds_the_identity) {
  auto who = card();
  amd_smi({amd_stub}).add_identity(who);
  EXPECT_EQ(who.board_part, "102-G30211-0C");
  EXPECT_EQ(who.serial, "692251001124");
  EXPECT_EQ(who.power_limit_w, 650.0);
  EXPECT_EQ(who.power_limit_default_w, 750.0);
}

TEST(amd_smi, lists_the_processes_of_others) {
  auto const busy = amd_smi({amd_stub}).processes(card(), {77});
  ASSERT_THAT(busy, SizeIs(1));
  EXPECT_EQ(busy[0].pid, 4001U);
  EXPECT_EQ(busy[0].name, "rvs?[31m");
  EXPECT_EQ(busy[0].memory_bytes, 2ULL << 30);
  EXPECT_TRUE(busy[0].active);
  setting const set("AMD_SMI_STUB", "idle");
  EXPECT_FALSE(amd_smi({amd_stub}).processes(card(), {77}).at(0).active);
}

TEST(amd_smi, is_not_asked_where_its_layouts_are_unknown_or_it_does_not_start) {
  expect_nothing_known(amd_smi({"libno-such-smi.so"}), "libno-such-smi.so");
  expect_nothing_known(amd_smi({rocm_stub}), "has no amdsmi_init");
  for (std::string const version : {"25", "28"}) {
    setting const set("AMD_SMI_STUB", ("version=" + version).c_str());
    expect_nothing_known(amd_smi({amd_stub}), ("of version " + version + ", and only 26").c_str());
  }
  setting const set("AMD_SMI_STUB", "init=34");
  expect_nothing_known(amd_smi({amd_stub}), "amdsmi_init: the amdgpu driver is not loaded (34)");
}

TEST(amd_smi, is_loaded_under_the_first_name_that_there_is) {
  setting const set("AMD_SMI_STUB", "version=27");
  amd_smi const library({"libno-such-smi.so", amd_stub});
  EXPECT_TRUE(library.available());
  EXPECT_EQ(library.why_not(), "");
  EXPECT_EQ(number(library.snapshot(card()), "memory_clock_mhz"), 1300);
  expect_nothing_known(amd_smi({"libno-such-smi.so", "libnor-this.so"}), "libno-such-smi.so");
}

TEST(amd_smi, does_not_know_every_card) {
  device_identity other;
  other.pci_address = "0000:0d:00.0";
  EXPECT_THAT(amd_smi({amd_stub}).snapshot(other).at("power_w").why,
              HasSubstr("not found (31) for PCI 0000:0d:00.0"));
  EXPECT_THAT(amd_smi({amd_stub}).snapshot({}).at("power_w").why, HasSubstr("no PCI address"));
}

TEST(rocm_smi, reads_what_it_has_in_the_layouts_of_both_releases) {
  EXPECT_EQ(sizeof(rocm_smi_abi::frequencies_5), 264U);
  EXPECT_EQ(sizeof(rocm_smi_abi::frequencies_6), 280U);
  EXPECT_EQ(sizeof(rocm_smi_abi::process), 32U);
  EXPECT_EQ(sizeof(rocm_smi_abi::retired_page), 24U);
  for (auto const* layout : {"layout=5", "layout=6"}) {
    auto const fields = rocm(layout);
    EXPECT_THAT(fields, SizeIs(45));
    EXPECT_EQ(number(fields, "sm_clock_mhz"), 2100) << layout;
    EXPECT_EQ(number(fields, "memory_clock_mhz"), 1300) << layout;
    EXPECT_EQ(number(fields, "temperature_c"), 61.5);
    EXPECT_EQ(number(fields, "memory_temperature_c"), 44);
    EXPECT_EQ(number(fields, "temperature_slowdown_c"), 100);
    EXPECT_EQ(number(fields, "power_w"), 240);
    EXPECT_EQ(number(fields, "power_limit_w"), 250);
    EXPECT_EQ(number(fields, "power_limit_default_w"), 300);
    EXPECT_EQ(number(fields, "gpu_utilization_percent"), 98);
    EXPECT_EQ(number(fields, "pcie_replays"), 3);
    EXPECT_EQ(number(fields, "ecc_corrected_volatile"), 7);
    EXPECT_EQ(number(fields, "ecc_uncorrected_volatile"), 1);
    EXPECT_EQ(number(fields, "memory_used_bytes"), 2147483648.0);
    EXPECT_TRUE(flag(fields, "page_retirement_pending"));
    EXPECT_THAT(fields.at("pcie_generation").why, HasSubstr("rocm_smi has nothing"));
  }
  EXPECT_EQ(number(rocm("layout=5"), "sm_clock_max_mhz"), 2100);
  EXPECT_EQ(number(rocm("layout=6"), "sm_clock_max_mhz"), 2101);
  EXPECT_THAT(rocm("layout=0").at("sm_clock_mhz").why, HasSubstr("unknown layout"));
}

TEST(rocm_smi, takes_no_zero_for_a_value_and_says_what_failed) {
  for (auto const* name : {"sm_clock_mhz", "memory_clock_max_mhz", "power_w", "power_limit_w"})
    EXPECT_THAT(rocm("zero").at(name).why, HasSubstr("reported 0")) << name;
  for (auto const& [name, field] : rocm("refuse=2")) EXPECT_NE(field.status, state::ok) << name;
  EXPECT_EQ(rocm("refuse=2").at("power_w").status, state::not_supported);
  EXPECT_EQ(rocm("refuse=4").at("power_limit_w").why, "rsmi_dev_power_cap_get: no permission (4)");
}

TEST(rocm_smi, lists_the_processes_of_others_on_the_card) {
  auto const listed = rocm_smi({rocm_stub}).processes(card(), {77});
  ASSERT_THAT(listed, SizeIs(1));
  EXPECT_EQ(listed[0].pid, 4001U);
  EXPECT_EQ(listed[0].memory_bytes, 2ULL << 30);
  EXPECT_TRUE(listed[0].active);
  setting const set("ROCM_SMI_STUB", "idle");
  EXPECT_FALSE(rocm_smi({rocm_stub}).processes(card(), {77}).at(0).active);
}

TEST(rocm_smi, is_not_available_where_it_does_not_start) {
  expect_nothing_known(rocm_smi({amd_stub}), "has no rsmi_init");
  setting const set("ROCM_SMI_STUB", "init=8");
  expect_nothing_known(rocm_smi({rocm_stub}), "rsmi_init: it could not begin (8)");
}

TEST(open_management, gives_each_vendor_its_library) {
  auto const amd_one = open_management("amd", amd_stub);
  EXPECT_EQ(amd_one->name(), "amd_smi");
  EXPECT_TRUE(amd_one->available());
  auto const older = open_management("amd", rocm_stub);
  EXPECT_EQ(older->name(), "rocm_smi");
  EXPECT_TRUE(older->available());
  auto const nvidia = open_management("nvidia", BANDGATE_NVML_STUBS "/current/libnvidia-ml.so.1");
  EXPECT_EQ(nvidia->name(), "nvml");
  EXPECT_TRUE(nvidia->available());
}

TEST(open_management, says_why_there_is_none) {
  auto const off = open_management("nvidia", "none");
  expect_nothing_known(*off, "switched off");
  EXPECT_EQ(off->name(), "none");
  expect_nothing_known(*open_management("amd", "none"), "switched off");
  expect_nothing_known(*open_management("amd", "libno-such-smi.so"), "libno-such-smi.so");
  expect_nothing_known(*open_management("nvidia", "libno-such-ml.so.1"), "libno-such-ml.so.1");
  expect_nothing_known(*open_management("intel"), "devices of intel");
}

}  // namespace
}  // namespace bandgate
