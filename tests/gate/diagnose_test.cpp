// SPDX-License-Identifier: Apache-2.0
#include "gate/diagnose.hpp"

#include <gmock/gmock.h>

#include <functional>

#include "gate/causes.hpp"
#include "gate/examples.hpp"

namespace bandgate {
namespace {

using namespace examples;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::IsEmpty;
using ::testing::Not;

health_field ok_text(char const* text) {
  return {health_field::state::ok, std::string(text), {}};
}

struct resting {
  device_identity device = h200(4000).device;
  health seen;
  expectations expected;

  resting() {
    seen.source = "nvml";
    seen.idle = {{"clock_event_reasons", ok(1)},
                 {"memory_clock_mhz", ok(405)},
                 {"memory_clock_max_mhz", ok(3201)},
                 {"temperature_c", ok(36)},
                 {"temperature_slowdown_c", ok(92)},
                 {"power_limit_w", ok(700)},
                 {"power_limit_default_w", ok(700)},
                 {"gpu_utilization_percent", ok(0)},
                 {"pcie_generation", ok(1)},
                 {"pcie_generation_max", ok(5)},
                 {"pcie_generation_card", ok(5)},
                 {"pcie_width", ok(16)},
                 {"pcie_width_max", ok(16)},
                 {"pcie_replays", ok(12)},
                 {"row_remap_pending", ok_flag(false)},
                 {"row_remap_failure", ok_flag(false)},
                 {"page_retirement_pending", {health_field::state::not_supported, {}, {}}},
                 {"repair_pending", ok_flag(false)},
                 {"ecc_enabled", ok_flag(true)},
                 {"ecc_pending", ok_flag(true)},
                 {"ecc_corrected_volatile", ok(4)},
                 {"ecc_uncorrected_volatile", ok(0)},
                 {"ecc_uncorrected_aggregate", ok(0)},
                 {"nvlink_links", ok(18)},
                 {"nvlink_active", ok(18)},
                 {"nvlink_errors", ok(0)},
                 {"fabric_state", {health_field::state::not_supported, {}, {}}},
                 {"mig_enabled", ok_flag(false)},
                 {"persistence", ok_flag(true)},
                 {"compute_mode", ok_text("default")}};
  }
  diagnosis look() const { return diagnose(device, seen, expected); }
};

struct rest_case {
  char const* name;
  std::function<void(resting&)> change;
  char const* code;  ///< nullptr: nothing is found
  char const* what;
  consequence weight;
};
void PrintTo(rest_case const& c, std::ostream* out) {
  *out << c.name;
}

constexpr auto note = consequence::note;
constexpr auto costs = consequence::costs_bandwidth;
constexpr auto unusable = consequence::unusable;

class rest_table : public ::testing::TestWithParam<rest_case> {};

TEST_P(rest_table, finds) {
  resting device;
  GetParam().change(device);
  auto const all = device.look().found;
  if (GetParam().code == nullptr) {
    EXPECT_THAT(all, IsEmpty()) << all.front().what;
    return;
  }
  ASSERT_EQ(all.size(), 1u);
  EXPECT_EQ(all.front().code, GetParam().code);
  EXPECT_EQ(all.front().what, GetParam().what);
  EXPECT_STREQ(to_string(all.front().weight), to_string(GetParam().weight));
  EXPECT_NE(all.front().effect, "");
  EXPECT_NE(all.front().remedy, "");
}

INSTANTIATE_TEST_SUITE_P(
    of_links, rest_table,
    ::testing::Values(
        rest_case{"healthy", [](resting&) {}, nullptr, "", note},
        rest_case{"width", [](resting& d) { d.seen.idle["pcie_width"] = ok(8); }, "pcie-width",
                  "the PCIe width is x8 of 16 lanes", costs},
        rest_case{"width_by_design",
                  [](resting& d) {
                    d.seen.idle["pcie_width"] = ok(8);
                    d.expected.pcie_width = 8;
                  },
                  nullptr, "", note},
        rest_case{"generation_by_design",
                  [](resting& d) {
                    d.seen.idle["pcie_generation_max"] = ok(4);
                    d.expected.pcie_generation = 4;
                  },
                  nullptr, "", note},
        rest_case{"generation_that_cannot_be_reached",
                  [](resting& d) {
                    d.seen.idle["pcie_generation_max"] = ok(3);
                    d.expected.pcie_generation = 4;
                  },
                  "pcie-generation",
                  "the PCIe generation that the link can reach is 3 of the "
                  "expected 4",
                  costs},
        rest_case{"slot", [](resting& d) { d.seen.idle["pcie_generation_max"] = ok(4); },
                  "pcie-slot", "the slot reaches PCIe generation 4, the card 5", note},
        rest_case{"nvlink", [](resting& d) { d.seen.idle["nvlink_active"] = ok(16); },
                  "nvlink-down", "NVLinks are down: 16 of 18 are up", costs},
        rest_case{"expected_nvlinks_of_a_card_without",
                  [](resting& d) {
                    d.expected.nvlinks = 18;
                    d.seen.idle["nvlink_active"] = {health_field::state::not_supported, {}, {}};
                  },
                  "nvlink-down", "NVLinks are down: none of the expected 18 are up", costs},
        rest_case{"no_nvlink_connected", [](resting& d) { d.seen.idle["nvlink_active"] = ok(0); },
                  nullptr, "", note},
        rest_case{"no_nvlink_although_expected",
                  [](resting& d) {
                    d.seen.idle["nvlink_active"] = ok(0);
                    d.expected.nvlinks = 18;
                  },
                  "nvlink-down", "NVLinks are down: 0 of the expected 18 are up", costs},
        rest_case{"fabric",
                  [](resting& d) { d.seen.idle["fabric_state"] = ok_text("in-progress"); },
                  "fabric", "the NVLink fabric is not ready: in-progress", costs}),
    [](auto const& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(
    of_the_card, rest_table,
    ::testing::Values(
        rest_case{
            "hot", [](resting& d) { d.seen.idle["clock_event_reasons"] = ok(0x41); }, "hw-thermal",
            "the hardware slowed the clocks at rest because of heat (clock event 0x40)", costs},
        rest_case{"temperature", [](resting& d) { d.seen.idle["temperature_c"] = ok(95); },
                  "gpu-temperature", "the GPU is at 95 C, and the hardware slows down at 92 C",
                  costs},
        rest_case{"power_cap", [](resting& d) { d.seen.idle["clock_event_reasons"] = ok(0x4); },
                  "power-cap", "the power cap slowed the clocks at rest (clock event 0x4)", note},
        rest_case{"power_limit", [](resting& d) { d.seen.idle["power_limit_w"] = ok(350); },
                  "power-limit", "the power limit is below its default: 350 W of 700 W", costs},
        rest_case{"application_clocks",
                  [](resting& d) { d.seen.idle["clock_event_reasons"] = ok(0x3); },
                  "application-clocks",
                  "an application clocks setting limits the clocks (clock event 0x2)", note},
        rest_case{"row_remap_failure",
                  [](resting& d) { d.seen.idle["row_remap_failure"] = ok_flag(true); },
                  "row-remap-failure", "remapping of memory rows has failed", unusable},
        rest_case{"row_remap_pending",
                  [](resting& d) { d.seen.idle["row_remap_pending"] = ok_flag(true); },
                  "row-remap-pending", "a remapping of memory rows is pending", costs},
        rest_case{"page_retirement",
                  [](resting& d) { d.seen.idle["page_retirement_pending"] = ok_flag(true); },
                  "page-retirement-pending", "a retirement of memory pages is pending", costs},
        rest_case{"repair", [](resting& d) { d.seen.idle["repair_pending"] = ok_flag(true); },
                  "repair-pending", "a repair of the memory or the chip is pending", costs},
        rest_case{"ecc_errors",
                  [](resting& d) {
                    d.seen.idle["ecc_uncorrected_volatile"] = ok(3);
                    d.seen.idle["ecc_uncorrected_aggregate"] = ok(5);
                  },
                  "ecc-uncorrected", "uncorrected ECC errors since the last restart: 3", costs},
        rest_case{"ecc_lifetime",
                  [](resting& d) { d.seen.idle["ecc_uncorrected_aggregate"] = ok(5); },
                  "ecc-lifetime", "uncorrected ECC errors in the card's lifetime: 5", note},
        rest_case{"ecc_off",
                  [](resting& d) {
                    d.device.ecc = false;
                    d.seen.idle["ecc_pending"] = ok_flag(false);
                    d.expected.ecc = true;
                  },
                  "ecc-differs", "ECC is off here, on in the baseline", costs},
        rest_case{"ecc_pending", [](resting& d) { d.seen.idle["ecc_pending"] = ok_flag(false); },
                  "ecc-pending", "ECC will be off after the next restart", note}),
    [](auto const& each) { return each.param.name; });

INSTANTIATE_TEST_SUITE_P(
    of_its_use, rest_table,
    ::testing::Values(
        rest_case{"prohibited",
                  [](resting& d) { d.seen.idle["compute_mode"] = ok_text("prohibited"); },
                  "compute-prohibited", "the compute mode is prohibited", unusable},
        rest_case{"prohibited_by_the_identity",
                  [](resting& d) {
                    d.seen.idle.erase("compute_mode");
                    d.device.compute_mode = "prohibited";
                  },
                  "compute-prohibited", "the compute mode is prohibited", unusable},
        rest_case{"exclusive",
                  [](resting& d) { d.seen.idle["compute_mode"] = ok_text("exclusive-process"); },
                  "compute-exclusive", "the compute mode is exclusive-process", note},
        rest_case{"mig", [](resting& d) { d.seen.idle["mig_enabled"] = ok_flag(true); },
                  "mig-without-instances", "MIG is enabled and the card has no slices", unusable},
        rest_case{"a_slice",
                  [](resting& d) {
                    d.seen.idle["mig_enabled"] = ok_flag(true);
                    d.device.mig_profile = "1g.18gb";
                  },
                  nullptr, "", note},
        rest_case{"persistence", [](resting& d) { d.seen.idle["persistence"] = ok_flag(false); },
                  "persistence-off", "persistence mode is off", note},
        rest_case{"persistence_of_the_identity",
                  [](resting& d) {
                    d.seen.idle.erase("persistence");
                    d.device.persistence_mode = "disabled";
                  },
                  "persistence-off", "persistence mode is off", note},
        rest_case{"vgpu", [](resting& d) { d.device.virtualization = "vgpu"; }, "vgpu",
                  "the device is virtual (vgpu)", note},
        rest_case{"passed_through_whole",
                  [](resting& d) { d.device.virtualization = "passthrough"; }, nullptr, "", note},
        rest_case{"not_virtual", [](resting& d) { d.device.virtualization = "none"; }, nullptr, "",
                  note},
        rest_case{"computing",
                  [](resting& d) {
                    d.seen.processes = {{4242, "python3", 3ULL << 30, true}};
                    d.seen.idle["gpu_utilization_percent"] = ok(100);
                  },
                  "contended",
                  "another process computes on the device: process 4242 (python3), 3.0 GiB", note},
        rest_case{"busy_unseen",
                  [](resting& d) { d.seen.idle["gpu_utilization_percent"] = ok(37); }, "busy",
                  "the device is in use and no process is visible: utilization 37 %", note},
        rest_case{"mps",
                  [](resting& d) {
                    d.seen.processes = {{71, "nvidia-cuda-mps-server", {}, true}};
                  },
                  "mps-server",
                  "an MPS server holds the device: process 71 (nvidia-cuda-mps-server)", note},
        rest_case{"idle_process",
                  [](resting& d) {
                    d.seen.processes = {{99, "jupyter", {}, false}};
                  },
                  "other-process", "another process holds the device, idle: process 99 (jupyter)",
                  note}),
    [](auto const& each) { return each.param.name; });

TEST(diagnose, the_worst_comes_first_and_then_the_most_specific) {
  resting d;
  d.seen.idle["persistence"] = ok_flag(false);
  d.seen.idle["power_limit_w"] = ok(350);
  d.seen.idle["pcie_width"] = ok(8);
  d.seen.idle["pcie_generation_max"] = ok(4);
  d.seen.idle["row_remap_failure"] = ok_flag(true);
  std::vector<std::string> codes;
  for (auto const& a : d.look().found) codes.push_back(a.code);
  EXPECT_THAT(codes, ElementsAre("row-remap-failure", "pcie-width", "power-limit", "pcie-slot",
                                 "persistence-off"));
}

TEST(diagnose, says_what_it_looked_at) {
  resting d;
  d.expected.ecc = true;
  auto const all = d.look();
  EXPECT_THAT(all.looked_at,
              ElementsAre("PCIe link", "NVLink", "clock events", "temperature limits",
                          "power limit", "memory repairs", "ECC", "modes", "other processes"));
  EXPECT_THAT(all.unread, IsEmpty());
}

TEST(diagnose, says_what_it_could_not_see) {
  resting d;
  d.device = {};
  d.seen = {};
  d.seen.source = "none: libnvidia-ml.so.1 not found";
  d.seen.idle["pcie_width"] = ok(16);
  d.seen.idle["pcie_width_max"] = ok(16);
  auto const all = d.look();
  EXPECT_THAT(all.found, IsEmpty());
  EXPECT_THAT(all.looked_at, ElementsAre("PCIe link"));
  EXPECT_THAT(all.unread, ElementsAre("NVLink", "clock events", "temperature limits", "power limit",
                                      "memory repairs", "ECC", "modes", "other processes"));
}

TEST(diagnose, a_library_that_supports_nothing_has_seen_nothing) {
  resting d;
  d.device = {};
  for (auto& [name, field] : d.seen.idle) field = {health_field::state::not_supported, {}, {}};
  auto const all = d.look();
  EXPECT_THAT(all.found, IsEmpty());
  EXPECT_THAT(all.looked_at, ElementsAre("other processes"));
  for (auto const* group : {"PCIe link", "clock events", "temperature limits", "power limit"})
    EXPECT_THAT(all.unread, Contains(group));
}

TEST(diagnose, a_card_without_nvlink_is_not_unread) {
  resting d;
  for (auto const* name : {"nvlink_links", "nvlink_active", "nvlink_errors"})
    d.seen.idle[name] = {health_field::state::not_supported, {}, {}};
  auto const all = d.look();
  EXPECT_THAT(all.looked_at, Not(Contains("NVLink")));
  EXPECT_THAT(all.unread, IsEmpty());
}

TEST(diagnose, a_field_that_could_not_be_read_is_named_though_its_group_was) {
  resting device;
  device.seen.idle["row_remap_failure"] = {
      health_field::state::unavailable, {}, "nvmlDeviceGetRemappedRows: unknown error (999)"};
  EXPECT_THAT(device.look().unread, ElementsAre("row_remap_failure"));
  for (auto const* name : {"pcie_replays", "ecc_pending", "nvlink_errors", "power_limit_w",
                           "temperature_c", "pcie_generation_card"})
    device.seen.idle[name] = {health_field::state::unavailable, {}, "unknown error (999)"};
  EXPECT_THAT(device.look().unread, Contains("2 more fields"));
}

TEST(diagnose, an_ecc_state_that_two_sources_tell_otherwise_is_abnormal) {
  resting device;
  device.device.ecc = true;
  device.expected.ecc = true;
  device.seen.idle["ecc_enabled"] = ok_flag(false);
  auto const found = device.look().found;
  ASSERT_FALSE(found.empty());
  EXPECT_EQ(found.front().code, "ecc-differs");
  EXPECT_EQ(found.front().what, "ECC is off here, on in the baseline");
}

}  // namespace
}  // namespace bandgate
