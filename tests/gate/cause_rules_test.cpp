// SPDX-License-Identifier: Apache-2.0
// Each rule of the table: its sentence where it holds, and its silence where it does not.
#include <gmock/gmock.h>

#include <functional>
#include <set>

#include "gate/causes.hpp"
#include "gate/examples.hpp"
#include "gate/judge.hpp"

namespace bandgate {
namespace {

using namespace examples;
using ::testing::IsEmpty;

constexpr double second = 1e9;  // of the counters, which are nanoseconds

health_field ok_text(char const* text) {
  return {health_field::state::ok, std::string(text), {}};
}

/// A healthy card that measured `read`, ten samples of one second each.
result streamed() {
  auto r = h200(4000);
  r.measurement->iterations = 1000;
  r.measurement->bytes_per_pass = 4000ULL * (1ULL << 30) / 1000;
  return r;
}
result between(char const* peer) {
  auto r = streamed();
  r.probe.ceiling = "link";
  if (*peer != 0) r.probe.parameters[peer_parameter] = std::string(peer);
  return r;
}
result of_host_link() {
  return between("");
}
result of_peers() {
  return between("GPU-1");
}

struct rule_case {
  char const* name;
  result (*from)();
  std::function<void(result&, expectations&)> change;
  std::vector<std::string> sentences;  ///< all that is found
};
void PrintTo(rule_case const& c, std::ostream* out) {
  *out << c.name;
}

std::vector<std::string> found(result const& r, expectations const& expected) {
  std::vector<std::string> all;
  for (auto const& c : find_causes(evidence_of(r, expected))) all.push_back(c.why.sentence);
  return all;
}

class cause_rule_table : public ::testing::TestWithParam<rule_case> {};

TEST_P(cause_rule_table, says) {
  auto r = GetParam().from();
  expectations expected;
  ASSERT_THAT(found(r, expected), IsEmpty());
  GetParam().change(r, expected);
  EXPECT_EQ(found(r, expected), GetParam().sentences);
}

auto const name_of = [](auto const& each) { return each.param.name; };

using E = expectations;

INSTANTIATE_TEST_SUITE_P(
    counters, cause_rule_table,
    ::testing::Values(
        rule_case{
            "hw_thermal",
            streamed,
            [](result& r, E&) { r.health.change["clock_event_hw_thermal_ns"] = ok(6.1 * second); },
            {"the hardware slowed the clocks for 61 % of the sampling because of heat"}},
        rule_case{
            "power_brake",
            streamed,
            [](result& r, E&) { r.health.change["clock_event_power_brake_ns"] = ok(5 * second); },
            {"the external power brake slowed the clocks for 50 % of the sampling"}},
        rule_case{
            "sw_thermal",
            streamed,
            [](result& r, E&) { r.health.change["clock_event_sw_thermal_ns"] = ok(2 * second); },
            {"the driver slowed the clocks for 20 % of the sampling because of heat"}},
        rule_case{
            "power_cap",
            streamed,
            [](result& r, E&) { r.health.change["clock_event_sw_power_cap_ns"] = ok(10 * second); },
            {"the power cap slowed the clocks for 100 % of the sampling"}},
        rule_case{"sync_boost",
                  streamed,
                  [](result& r, E&) { r.health.change["clock_event_sync_boost_ns"] = ok(second); },
                  {"sync boost held the clocks at those of the slowest device of its group for 10 "
                   "% of the sampling"}},
        rule_case{
            "board_limit",
            streamed,
            [](result& r, E&) { r.health.change["clock_event_board_limit_ns"] = ok(9 * second); },
            {"the board's own limit held the clocks down for 90 % of the sampling"}},
        rule_case{
            "reliability",
            streamed,
            [](result& r, E&) { r.health.change["clock_event_reliability_ns"] = ok(3 * second); },
            {"the limit of a reliable voltage held the clocks down for 30 % of the "
             "sampling"}},
        rule_case{"one_percent",
                  streamed,
                  [](result& r, E&) {
                    r.health.change["clock_event_hw_thermal_ns"] = ok(0.1000001 * second);
                  },
                  {"the hardware slowed the clocks for 1 % of the sampling because of heat"}},
        rule_case{"below_one_percent",
                  streamed,
                  [](result& r, E&) {
                    r.health.change["clock_event_hw_thermal_ns"] = ok(0.099 * second);
                  },
                  {}},
        rule_case{"below_one_percent_although_its_bit_was_seen",
                  streamed,
                  [](result& r, E&) {
                    r.health.change["clock_event_sw_power_cap_ns"] = ok(0.05 * second);
                    r.health.load["clock_event_reasons"] = ok(0x4);
                  },
                  {}},
        rule_case{"a_counter_that_stood_still_while_its_bit_was_set",
                  streamed,
                  [](result& r, E&) {
                    r.health.change["clock_event_power_brake_ns"] = ok(0);
                    r.health.load["clock_event_reasons"] = ok(0x80);
                  },
                  {"the external power brake slowed the clocks under load (clock event 0x80)"}},
        rule_case{"the_counter_before_the_bit",
                  streamed,
                  [](result& r, E&) {
                    r.health.change["clock_event_power_brake_ns"] = ok(7 * second);
                    r.health.load["clock_event_reasons"] = ok(0x80);
                  },
                  {"the external power brake slowed the clocks for 70 % of the sampling"}},
        rule_case{
            "a_counter_that_went_backwards",
            streamed,
            [](result& r, E&) { r.health.change["clock_event_hw_thermal_ns"] = ok(-7 * second); },
            {}},
        rule_case{
            "more_than_the_sampling",
            streamed,
            [](result& r, E&) { r.health.change["clock_event_hw_thermal_ns"] = ok(12 * second); },
            {"the hardware slowed the clocks for 100 % of the sampling because of heat"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    links, cause_rule_table,
    ::testing::Values(
        rule_case{"generation",
                  of_host_link,
                  [](result& r, E&) { r.health.load["pcie_generation"] = ok(2); },
                  {"the PCIe generation under load was 2 of 5"}},
        rule_case{"generation_below_the_expected",
                  of_host_link,
                  [](result& r, E& e) {
                    e.pcie_generation = 4;
                    r.health.load["pcie_generation"] = ok(3);
                  },
                  {"the PCIe generation under load was 3 of the expected 4"}},
        rule_case{"expected_generation_silences",
                  of_host_link,
                  [](result& r, E& e) {
                    e.pcie_generation = 4;
                    r.health.load["pcie_generation"] = ok(4);
                  },
                  {}},
        rule_case{"more_is_expected_than_card_and_slot_say",
                  of_host_link,
                  [](result& r, E& e) {
                    e.pcie_width = 16;
                    r.health.load["pcie_width"] = ok(8);
                    r.health.load["pcie_width_max"] = ok(8);
                  },
                  {"the PCIe width under load was x8 of the expected 16 lanes"}},
        rule_case{"width",
                  of_host_link,
                  [](result& r, E&) { r.health.load["pcie_width"] = ok(8); },
                  {"the PCIe width under load was x8 of 16 lanes"}},
        rule_case{"expected_width_silences",
                  of_host_link,
                  [](result& r, E& e) {
                    e.pcie_width = 8;
                    r.health.load["pcie_width"] = ok(8);
                  },
                  {}},
        rule_case{"a_width_of_no_lanes_was_not_read",
                  of_host_link,
                  [](result& r, E&) { r.health.load["pcie_width"] = ok(0); },
                  {}},
        rule_case{"replays",
                  of_host_link,
                  [](result& r, E&) { r.health.change["pcie_replays"] = ok(3); },
                  {"the PCIe link sent 3 packets a second time (replays) during the sampling"}},
        rule_case{"one_replay",
                  of_host_link,
                  [](result& r, E&) { r.health.change["pcie_replays"] = ok(1); },
                  {"the PCIe link sent 1 packet a second time (replays) during the sampling"}},
        rule_case{"replays_say_nothing_of_the_memory",
                  streamed,
                  [](result& r, E&) { r.health.change["pcie_replays"] = ok(3); },
                  {}},
        rule_case{"memory_that_could_not_be_bound",
                  of_host_link,
                  [](result& r, E&) {
                    r.notes = {
                        "host memory not bound to NUMA node 1, the GPU's: the cpuset or "
                        "cgroup of this process does not allow it"};
                  },
                  {"the transfer used memory far from the GPU: host memory not bound to NUMA node "
                   "1, the GPU's: the cpuset or cgroup of this process does not allow it"}},
        rule_case{"memory_elsewhere",
                  of_host_link,
                  [](result& r, E&) {
                    r.notes = {
                        "host memory bound to NUMA node 1, the GPU's, of which 9 of 64 "
                        "pages looked at lie elsewhere: the node is short of memory"};
                  },
                  {"the transfer used memory far from the GPU: host memory bound to NUMA node 1, "
                   "the GPU's, of which 9 of 64 pages looked at lie elsewhere: the node is short "
                   "of memory"}},
        rule_case{"memory_on_the_node",
                  of_host_link,
                  [](result& r, E&) {
                    r.notes = {"host memory on NUMA node 1, the GPU's",
                               "host memory not bound to a NUMA node: that of the GPU is not "
                               "known"};
                  },
                  {}},
        rule_case{"fabric",
                  of_peers,
                  [](result& r, E&) { r.health.idle["fabric_state"] = ok_text("failed: 999"); },
                  {"the NVLink fabric is not ready: failed: 999"}},
        rule_case{"fabric_completed",
                  of_peers,
                  [](result& r, E&) { r.health.idle["fabric_state"] = ok_text("completed"); },
                  {}},
        rule_case{"nvlinks_down",
                  of_peers,
                  [](result& r, E&) {
                    r.health.load["nvlink_links"] = ok(18);
                    r.health.load["nvlink_active"] = ok(17);
                  },
                  {"NVLinks are down: 17 of 18 are up"}},
        rule_case{"nvlinks_absent_are_not_down",
                  of_peers,
                  [](result& r, E&) {
                    r.health.load["nvlink_links"] = ok(18);
                    r.health.load["nvlink_active"] = ok(0);
                  },
                  {}},
        rule_case{"nvlinks_expected_and_none_up",
                  of_peers,
                  [](result& r, E& e) {
                    e.nvlinks = 18;
                    r.health.load["nvlink_links"] = ok(18);
                    r.health.load["nvlink_active"] = ok(0);
                  },
                  {"NVLinks are down: 0 of the expected 18 are up"}},
        rule_case{"fewer_nvlinks_by_design",
                  of_peers,
                  [](result& r, E& e) {
                    e.nvlinks = 12;
                    r.health.load["nvlink_links"] = ok(18);
                    r.health.load["nvlink_active"] = ok(12);
                  },
                  {}},
        rule_case{"nvlinks_say_nothing_of_the_host_link",
                  of_host_link,
                  [](result& r, E&) {
                    r.health.load["nvlink_links"] = ok(18);
                    r.health.load["nvlink_active"] = ok(17);
                    r.health.change["nvlink_errors"] = ok(7);
                  },
                  {}},
        rule_case{"nvlink_errors",
                  of_peers,
                  [](result& r, E&) { r.health.change["nvlink_errors"] = ok(7); },
                  {"the NVLinks counted 7 errors during the sampling"}}),
    name_of);

INSTANTIATE_TEST_SUITE_P(
    device, cause_rule_table,
    ::testing::Values(
        rule_case{"gpu_temperature",
                  streamed,
                  [](result& r, E&) {
                    r.health.load["temperature_c"] = ok(93);
                    r.health.idle["temperature_slowdown_c"] = ok(92);
                  },
                  {"the GPU is at 93 C, and the hardware slows down at 92 C"}},
        rule_case{"memory_temperature",
                  streamed,
                  [](result& r, E&) {
                    r.health.load["memory_temperature_c"] = ok(95);
                    r.health.load["temperature_memory_max_c"] = ok(95);
                  },
                  {"the memory is at 95 C, and its maximum is 95 C"}},
        rule_case{"warm_is_not_hot",
                  streamed,
                  [](result& r, E&) {
                    r.health.load["temperature_c"] = ok(91);
                    r.health.load["temperature_slowdown_c"] = ok(92);
                    r.health.idle["memory_temperature_c"] = ok(99);
                    r.health.load["temperature_memory_max_c"] = ok(95);
                  },
                  {}},
        rule_case{"a_threshold_that_is_a_distance",
                  streamed,
                  [](result& r, E&) {
                    r.health.load["temperature_c"] = ok(36);
                    r.health.load["temperature_slowdown_c"] = ok(-2);
                  },
                  {}},
        rule_case{"power_limit",
                  streamed,
                  [](result& r, E&) { r.health.load["power_limit_w"] = ok(500); },
                  {"the power limit is below its default: 500 W of 700 W"}},
        rule_case{"power_limit_expected",
                  streamed,
                  [](result& r, E& e) {
                    e.power_limit_w = 500;
                    r.health.load["power_limit_w"] = ok(500);
                  },
                  {}},
        rule_case{"power_limit_below_the_expected",
                  streamed,
                  [](result& r, E& e) {
                    e.power_limit_w = 500;
                    r.health.load["power_limit_w"] = ok(450);
                  },
                  {"the power limit is below what is expected: 450 W of 500 W"}},
        rule_case{"memory_clock",
                  streamed,
                  [](result& r, E&) { r.health.load["memory_clock_mhz"] = ok(1593); },
                  {"the memory clock under load was 1593 MHz of 3201 MHz"}},
        rule_case{"a_memory_clock_of_0_was_not_read",
                  streamed,
                  [](result& r, E&) { r.health.load["memory_clock_mhz"] = ok(0); },
                  {}},
        rule_case{"row_remap_failure",
                  streamed,
                  [](result& r, E&) { r.health.load["row_remap_failure"] = ok_flag(true); },
                  {"remapping of memory rows has failed"}},
        rule_case{"row_remap_pending",
                  streamed,
                  [](result& r, E&) { r.health.load["row_remap_pending"] = ok_flag(true); },
                  {"a remapping of memory rows is pending"}},
        rule_case{"page_retirement",
                  streamed,
                  [](result& r, E&) { r.health.idle["page_retirement_pending"] = ok_flag(true); },
                  {"a retirement of memory pages is pending"}},
        rule_case{"repair",
                  streamed,
                  [](result& r, E&) { r.health.idle["repair_pending"] = ok_flag(true); },
                  {"a repair of the memory or the chip is pending"}},
        rule_case{"ecc_uncorrected",
                  streamed,
                  [](result& r, E&) { r.health.idle["ecc_uncorrected_volatile"] = ok(2); },
                  {"uncorrected ECC errors since the last restart: 2"}},
        rule_case{"ecc_uncorrected_meanwhile",
                  streamed,
                  [](result& r, E&) {
                    r.health.load["ecc_uncorrected_volatile"] = ok(0);
                    r.health.change["ecc_uncorrected_volatile"] = ok(1);
                  },
                  {"uncorrected ECC errors since the last restart: 1"}},
        rule_case{"ecc_corrected",
                  streamed,
                  [](result& r, E&) {
                    r.health.idle["ecc_corrected_volatile"] = ok(900);
                    r.health.change["ecc_corrected_volatile"] = ok(12);
                  },
                  {"ECC corrected errors during the sampling: 12"}},
        rule_case{"ecc_corrected_before",
                  streamed,
                  [](result& r, E&) {
                    r.health.idle["ecc_corrected_volatile"] = ok(900);
                    r.health.change["ecc_corrected_volatile"] = ok(0);
                  },
                  {}},
        rule_case{"ecc_of_the_health_table",
                  streamed,
                  [](result& r, E& e) {
                    r.device.ecc.reset();
                    r.health.idle["ecc_enabled"] = ok_flag(false);
                    e.ecc = true;
                  },
                  {"ECC is off here, on in the baseline"}},
        rule_case{"mps",
                  streamed,
                  [](result& r, E&) {
                    r.health.processes = {{71, "nvidia-cuda-mps-server", {}, true}};
                  },
                  {"an MPS server holds the device: process 71 (nvidia-cuda-mps-server)"}},
        rule_case{"idle_process",
                  streamed,
                  [](result& r, E&) {
                    r.health.processes = {{99, "jupyter", 1ULL << 30, false}};
                  },
                  {"another process holds the device, idle: process 99 (jupyter), 1.0 GiB"}},
        rule_case{"what_only_concerns_a_device_at_rest",
                  streamed,
                  [](result& r, E&) {
                    r.health.idle["persistence"] = ok_flag(false);
                    r.health.idle["compute_mode"] = ok_text("prohibited");
                    r.health.idle["mig_enabled"] = ok_flag(true);
                    r.health.idle["gpu_utilization_percent"] = ok(100);
                    r.health.idle["ecc_pending"] = ok_flag(false);
                    r.health.idle["ecc_uncorrected_aggregate"] = ok(2);
                    r.health.idle["pcie_generation_card"] = ok(6);
                    r.device.virtualization = "vgpu";
                  },
                  {}},
        rule_case{"what_keeps_a_device_from_working",
                  streamed,
                  [](result& r, E&) {
                    r.measurement.reset();
                    r.failure = failure::device_failed;
                    r.health.idle["compute_mode"] = ok_text("prohibited");
                    r.health.idle["mig_enabled"] = ok_flag(true);
                    r.health.idle["fabric_state"] = ok_text("in-progress");
                  },
                  {"the NVLink fabric is not ready: in-progress", "the compute mode is prohibited",
                   "MIG is enabled and the card has no slices"}}),
    name_of);

/// Each rule is found at least once by the tables above and those of a device at rest.
TEST(ranking, what_covered_most_comes_first) {
  auto r = streamed();
  r.health.change["clock_event_hw_thermal_ns"] = ok(0.2 * second);
  r.health.change["clock_event_power_brake_ns"] = ok(3 * second);
  r.health.change["clock_event_sw_power_cap_ns"] = ok(9 * second);
  r.health.load["memory_clock_mhz"] = ok(2619);
  std::vector<std::string> codes;
  for (auto const& c : find_causes(evidence_of(r))) codes.emplace_back(c.rule->code);
  EXPECT_EQ(codes,
            (std::vector<std::string>{"power-cap", "power-brake", "memory-clock", "hw-thermal"}));
}

TEST(ranking, one_look_at_the_bits_comes_after_what_was_counted) {
  auto r = streamed();
  r.health.load["clock_event_reasons"] = ok(0x42);
  r.health.change["clock_event_sw_power_cap_ns"] = ok(5 * second);
  std::vector<std::string> codes;
  for (auto const& c : find_causes(evidence_of(r))) codes.emplace_back(c.rule->code);
  EXPECT_EQ(codes, (std::vector<std::string>{"power-cap", "hw-thermal", "application-clocks"}));
}

TEST(ranking, the_link_explains_a_transfer_before_anything_else) {
  auto r = of_host_link();
  r.health.load["clock_event_reasons"] = ok(0x4);
  r.health.load["pcie_width"] = ok(8);
  auto const all = find_causes(evidence_of(r));
  ASSERT_EQ(all.size(), 2u);
  EXPECT_STREQ(all.front().rule->code, "pcie-width");
}

TEST(sampling, of_windows_is_as_long_as_they_are) {
  auto r = streamed();
  r.measurement->series = series{"time", 1.0, std::vector<series::point>(20)};
  r.health.change["clock_event_hw_thermal_ns"] = ok(5 * second);
  EXPECT_EQ(found(r, {}),
            std::vector<std::string>{
                "the hardware slowed the clocks for 25 % of the sampling because of heat"});
}

TEST(sampling, of_slices_is_longer_than_can_be_told) {
  auto r = streamed();
  r.measurement->series = series{"address", 1.0, std::vector<series::point>(10)};
  r.health.change["clock_event_hw_thermal_ns"] = ok(0.31 * second);
  EXPECT_EQ(found(r, {}),
            std::vector<std::string>{
                "the hardware slowed the clocks for 0.31 s of the sampling because of heat"});
  r.health.change["clock_event_hw_thermal_ns"] = ok(0.09 * second);
  EXPECT_THAT(found(r, {}), IsEmpty());
}

TEST(sampling, of_times_is_their_sum) {
  auto r = streamed();
  r.measurement = time_us(1e4);  // ten samples of twenty passes: 2 s
  r.health.change["clock_event_hw_thermal_ns"] = ok(second);
  EXPECT_EQ(found(r, {}),
            std::vector<std::string>{
                "the hardware slowed the clocks for 50 % of the sampling because of heat"});
}

TEST(causes_present, leaves_out_what_covered_less_than_a_tenth) {
  auto r = streamed();
  r.health.change["clock_event_sw_power_cap_ns"] = ok(0.99 * second);
  EXPECT_THAT(causes_present(r), IsEmpty());
  r.health.change["clock_event_sw_power_cap_ns"] = ok(1.01 * second);
  EXPECT_EQ(causes_present(r).size(), 1u);
}

TEST(no_cause, is_short_enough_for_a_terminal) {
  auto r = of_host_link();
  r.health = {};
  r.health.source = "none: " + std::string(2000, 'x');
  r.device.ecc.reset();
  expectations all;
  all.ecc = true;
  all.pcie_generation = 5;
  all.pcie_width = 16;
  EXPECT_LE(no_cause(evidence_of(r, all)).sentence.size(), 320u);
}

}  // namespace
}  // namespace bandgate
