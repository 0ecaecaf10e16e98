// SPDX-License-Identifier: Apache-2.0
#include "device/nvml.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <stdlib.h>

#include "device/fake_root.hpp"

namespace bandgate {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::SizeIs;
using state = health_field::state;

std::string stub(char const* variant) {
  return std::string(BANDGATE_NVML_STUBS "/") + variant + "/libnvidia-ml.so.1";
}

/// The stub's faults (see nvml_stub.cpp), for as long as this lives.
class faults {
 public:
  explicit faults(char const* list) { setenv("NVML_STUB", list, 1); }
  ~faults() { unsetenv("NVML_STUB"); }
  faults(faults const&) = delete;
  faults& operator=(faults const&) = delete;
};

device_identity device(std::string uuid, std::string address = {}) {
  device_identity d;
  d.uuid = std::move(uuid);
  d.pci_address = std::move(address);
  return d;
}
// The stub lists the card of bus c1 first; CUDA, in PCI order, would list that of 1b first.
device_identity card_c1() {
  return device("GPU-c1c1c1c1-0000-0000-0000-000000000001");
}
device_identity card_1b() {
  return device("GPU-1b1b1b1b-0000-0000-0000-000000000002");
}

double number(health_snapshot const& fields, char const* name) {
  auto const& field = fields.at(name);
  EXPECT_EQ(field.status, state::ok) << name << ": " << field.why;
  return field.status == state::ok ? std::get<double>(field.value) : -1;
}
bool flag(health_snapshot const& fields, char const* name) {
  EXPECT_EQ(fields.at(name).status, state::ok) << name;
  return std::get<bool>(fields.at(name).value);
}

constexpr std::size_t all_fields = 45;

/// Whatever is wrong: nothing throws, nothing is made up, every field says why.
void expect_nothing_known(nvml const& management, char const* why) {
  auto who = card_1b();
  management.add_identity(who);
  EXPECT_EQ(who.board_part, "");
  EXPECT_EQ(who.ecc, std::nullopt);
  EXPECT_EQ(who.power_limit_w, std::nullopt);
  EXPECT_THAT(management.processes(who, {}), IsEmpty());
  auto const fields = management.snapshot(who);
  EXPECT_THAT(fields, SizeIs(all_fields));
  for (auto const& [name, field] : fields) {
    EXPECT_EQ(field.status, state::unavailable) << name;
    EXPECT_THAT(field.why, HasSubstr(why)) << name;
  }
}

TEST(nvml, reads_every_field) {
  nvml const management(stub("current"));
  ASSERT_TRUE(management.available()) << management.why_not();
  auto const fields = management.snapshot(card_1b());
  EXPECT_THAT(fields, SizeIs(all_fields));
  EXPECT_EQ(number(fields, "sm_clock_mhz"), 1980);
  EXPECT_EQ(number(fields, "sm_clock_max_mhz"), 1985);
  EXPECT_EQ(number(fields, "memory_clock_mhz"), 3202);
  EXPECT_EQ(number(fields, "memory_clock_max_mhz"), 3202);
  EXPECT_EQ(std::get<std::string>(fields.at("pstate").value), "P0");
  EXPECT_EQ(number(fields, "temperature_c"), 41);
  EXPECT_EQ(number(fields, "power_w"), 412.345);
  EXPECT_EQ(number(fields, "power_limit_w"), 500);
  EXPECT_EQ(number(fields, "power_limit_default_w"), 700);
  EXPECT_EQ(number(fields, "clock_event_reasons"), 0x48);
  EXPECT_EQ(number(fields, "gpu_utilization_percent"), 97);
  EXPECT_EQ(number(fields, "pcie_generation"), 4);
  EXPECT_EQ(number(fields, "pcie_generation_max"), 5);
  EXPECT_EQ(number(fields, "pcie_width"), 8);
  EXPECT_EQ(number(fields, "pcie_width_max"), 16);
  EXPECT_EQ(number(fields, "pcie_replays"), 0);
  EXPECT_EQ(number(fields, "ecc_uncorrected_volatile"), 2);
  EXPECT_TRUE(flag(fields, "row_remap_pending"));
  EXPECT_FALSE(flag(fields, "row_remap_failure"));
  EXPECT_TRUE(flag(fields, "ecc_enabled"));
}

TEST(nvml, finds_the_card_by_uuid_and_not_by_its_place) {
  nvml const management(stub("current"));
  auto first = card_1b(), second = card_c1();
  management.add_identity(first);
  management.add_identity(second);
  EXPECT_EQ(first.board_part, "692-2G520-0282-001");
  EXPECT_EQ(second.board_part, "692-2G520-0282-000");
  EXPECT_EQ(number(management.snapshot(second), "memory_clock_mhz"), 3201);
}

TEST(nvml, finds_the_card_by_pci_address_where_the_uuid_is_unknown) {
  nvml const management(stub("current"));
  auto who = device("GPU-ffffffff-0000-0000-0000-00000000000f", "00000000:C1:00.0");
  management.add_identity(who);
  EXPECT_EQ(who.board_part, "692-2G520-0282-000");
}

TEST(nvml, adds_the_identity) {
  nvml const management(stub("current"));
  auto who = card_1b();
  management.add_identity(who);
  EXPECT_EQ(who.serial, "1650000000002");
  EXPECT_EQ(who.vbios, "96.00.D9.00.02");
  EXPECT_EQ(who.ecc, true);
  EXPECT_EQ(who.power_limit_w, 500.0);
  EXPECT_EQ(who.power_limit_default_w, 700.0);
  EXPECT_EQ(who.persistence_mode, "enabled");
  EXPECT_EQ(who.compute_mode, "exclusive-process");
  EXPECT_EQ(who.virtualization, "passthrough");
  EXPECT_EQ(who.driver_version, "580.159.04");
  EXPECT_EQ(who.pci_device, "10de:2335");
  EXPECT_EQ(who.pci_subsystem, "10de:18bf");
  EXPECT_EQ(who.pci_address, "0000:1b:00.0");
  EXPECT_EQ(who.mig_profile, "");
  EXPECT_EQ(who.mig_parent, "");
}

TEST(nvml, keeps_what_better_sources_said) {
  nvml const management(stub("current"));
  auto who = card_1b();
  who.pci_device = "10de:abcd";
  who.driver_version = "1.2";
  management.add_identity(who);
  EXPECT_EQ(who.pci_device, "10de:abcd");
  EXPECT_EQ(who.driver_version, "1.2");
}

TEST(nvml, a_slice_has_its_cards_board_and_is_not_the_card) {
  nvml const management(stub("current"));
  // CUDA gives a UUID's bytes, so a slice may come under either prefix, or by its address alone.
  for (auto who : {device("MIG-12345678-0000-0000-0000-000000000004"),
                   device("GPU-12345678-0000-0000-0000-000000000004")}) {
    management.add_identity(who);
    EXPECT_EQ(who.board_part, "692-2G520-0282-001");
    EXPECT_EQ(who.mig_parent, "GPU-3a3a3a3a-0000-0000-0000-000000000003");
    EXPECT_EQ(who.mig_profile, "1g.18gb");
  }
  auto who = device("", "0000:3a:00.0");
  management.add_identity(who);
  EXPECT_EQ(who.mig_parent, "GPU-3a3a3a3a-0000-0000-0000-000000000003");
  EXPECT_EQ(who.mig_profile, "unknown");
}

TEST(nvml, an_old_library_answers_what_it_can) {
  nvml const management(stub("old"));
  ASSERT_TRUE(management.available()) << management.why_not();
  auto who = device("", "0000:1b:00.0");
  management.add_identity(who);
  EXPECT_EQ(who.serial, "1650000000002");
  EXPECT_EQ(who.board_part, "");
  EXPECT_EQ(who.mig_profile, "");
  auto const fields = management.snapshot(who);
  EXPECT_THAT(fields, SizeIs(all_fields));
  EXPECT_EQ(number(fields, "memory_clock_mhz"), 3202);
  EXPECT_EQ(number(fields, "clock_event_reasons"), 0x4);
  EXPECT_EQ(fields.at("pcie_replays").status, state::unavailable);
  EXPECT_EQ(fields.at("pcie_replays").why,
            "nvmlDeviceGetPcieReplayCounter: this driver has no such function (13)");
  EXPECT_EQ(fields.at("row_remap_pending").status, state::unavailable);
  EXPECT_THAT(management.processes(who, {77}), SizeIs(2));
}

TEST(nvml, what_is_not_supported_says_so) {
  faults const set("not-supported");
  nvml const management(stub("current"));
  auto who = card_1b();
  management.add_identity(who);
  EXPECT_EQ(who.board_part, "");
  EXPECT_EQ(who.ecc, std::nullopt);
  EXPECT_EQ(who.mig_profile, "");
  EXPECT_THAT(management.processes(who, {}), IsEmpty());
  auto const fields = management.snapshot(who);
  EXPECT_THAT(fields, SizeIs(all_fields));
  for (auto const& [name, field] : fields) EXPECT_EQ(field.status, state::not_supported) << name;
}

TEST(nvml, a_card_lost_half_way_keeps_what_was_read) {
  faults const set("lost-after=5");
  nvml const management(stub("current"));
  auto const fields = management.snapshot(card_1b());
  EXPECT_EQ(number(fields, "sm_clock_mhz"), 1980);
  EXPECT_EQ(fields.at("power_w").status, state::unavailable);
  EXPECT_EQ(fields.at("power_w").why, "nvmlDeviceGetPowerUsage: the GPU is lost (15)");
  EXPECT_EQ(fields.at("row_remap_failure").status, state::unavailable);
  EXPECT_THAT(management.processes(card_1b(), {}), IsEmpty());
}

TEST(nvml, a_zero_that_no_card_has_is_not_passed_on) {
  faults const set("zero");
  nvml const management(stub("current"));
  auto const fields = management.snapshot(card_1b());
  for (char const* name : {"sm_clock_mhz", "memory_clock_max_mhz", "power_w", "power_limit_w",
                           "pcie_generation", "pcie_width_max"}) {
    EXPECT_EQ(fields.at(name).status, state::unavailable) << name;
    EXPECT_THAT(fields.at(name).why, HasSubstr("reported 0")) << name;
  }
  EXPECT_EQ(fields.at("pstate").status, state::unavailable);
  auto who = card_1b();
  management.add_identity(who);
  EXPECT_EQ(who.power_limit_w, std::nullopt);
}

TEST(nvml, a_library_that_is_not_there) {
  nvml const management("libno-such-management.so.1");
  EXPECT_FALSE(management.available());
  expect_nothing_known(management, "libno-such-management.so.1");
}

TEST(nvml, an_empty_file_and_one_for_another_machine) {
  fake_root root;
  root.file("empty/libnvidia-ml.so.1", "");
  nvml const empty((root.path() / "empty/libnvidia-ml.so.1").string());
  EXPECT_FALSE(empty.available());
  expect_nothing_known(empty, "file too short");

  // A 32-bit ELF header of an i386 shared object.
  std::string header(
      "\x7f"
      "ELF\x01\x01\x01",
      7);
  header.resize(16);
  header += std::string("\x03\x00\x03\x00\x01\x00\x00\x00", 8);
  header.resize(4096);
  root.file("wrong/libnvidia-ml.so.1", header);
  nvml const wrong((root.path() / "wrong/libnvidia-ml.so.1").string());
  EXPECT_FALSE(wrong.available());
  expect_nothing_known(wrong, "wrong ELF class");
}

TEST(nvml, another_library_of_that_name) {
  nvml const management("libdl.so.2");
  EXPECT_FALSE(management.available());
  expect_nothing_known(management, "has no nvmlInit");
}

TEST(nvml, a_start_that_fails) {
  {
    faults const set("init=18");
    nvml const management(stub("current"));
    EXPECT_FALSE(management.available());
    expect_nothing_known(management, "different driver versions");
  }
  faults const set("init=999");
  nvml const management(stub("current"));
  EXPECT_FALSE(management.available());
  expect_nothing_known(management, "nvmlInit_v2: unknown error of the driver (999)");
}

TEST(nvml, a_card_that_it_does_not_know) {
  nvml const management(stub("current"));
  auto who = device("GPU-ffffffff-0000-0000-0000-00000000000f", "0000:ff:00.0");
  auto const fields = management.snapshot(who);
  EXPECT_THAT(fields, SizeIs(all_fields));
  EXPECT_THAT(fields.at("power_w").why, HasSubstr("not found (6) for PCI 0000:ff:00.0"));
  EXPECT_THAT(management.snapshot({}).at("power_w").why, HasSubstr("no UUID and no PCI address"));
}

TEST(nvml_processes, others_are_listed_and_those_that_compute_are_active) {
  nvml const management(stub("current"));
  auto const others = management.processes(card_1b(), {77});
  ASSERT_THAT(others, SizeIs(2));
  EXPECT_EQ(others[0].pid, 4001U);
  EXPECT_EQ(others[0].name, "/usr/bin/train ?[31m?");
  EXPECT_EQ(others[0].memory_bytes, 1ULL << 30);
  EXPECT_TRUE(others[0].active);
  EXPECT_EQ(others[1].pid, 4002U);
  EXPECT_EQ(others[1].memory_bytes, std::nullopt);
  EXPECT_FALSE(others[1].active);  // its samples are an hour old, or of no work
}

TEST(nvml_processes, where_pids_are_the_hosts_our_own_is_among_the_listed) {
  faults const set("as-host");
  nvml const management(stub("current"));
  auto const listed = management.processes(card_1b(), {77});
  ASSERT_THAT(listed, SizeIs(3));
  EXPECT_EQ(listed[2].pid, 10077U);
}

TEST(nvml_processes, idle_contexts_do_not_contend) {
  faults const set("idle");
  nvml const management(stub("current"));
  auto const others = management.processes(card_1b(), {77});
  ASSERT_THAT(others, SizeIs(2));
  EXPECT_FALSE(others[0].active);
  EXPECT_FALSE(others[1].active);
}

TEST(nvml_processes, without_samples_load_is_held_against_others_only_while_we_are_absent) {
  faults const set("no-samples");
  nvml const management(stub("current"));
  EXPECT_FALSE(management.processes(card_1b(), {77}).at(0).active);
  EXPECT_TRUE(management.processes(card_1b(), {78}).at(0).active);
}

TEST(nvml_processes, without_samples_an_idle_card_has_no_active_process) {
  faults const set("no-samples,idle");
  nvml const management(stub("current"));
  EXPECT_FALSE(management.processes(card_1b(), {78}).at(0).active);
}

TEST(nvml_processes, the_longer_entries_of_some_drivers_are_recognised) {
  nvml const management(stub("wide"));
  auto const others = management.processes(card_1b(), {});
  ASSERT_THAT(others, SizeIs(3));
  EXPECT_EQ(others[1].pid, 4002U);
  EXPECT_EQ(others[2].pid, 77U);
  EXPECT_EQ(others[2].memory_bytes, 3ULL << 30);
}

TEST(nvml_processes, more_than_the_first_room_holds) {
  faults const set("many");
  for (char const* variant : {"current", "old", "wide"}) {
    nvml const management(stub(variant));
    auto const others = management.processes(card_1b(), {});
    ASSERT_THAT(others, SizeIs(203)) << variant;
    EXPECT_EQ(others[202].pid, 5202U) << variant;
    EXPECT_EQ(others[202].memory_bytes, 203ULL << 30) << variant;
  }
}

}  // namespace
}  // namespace bandgate
