// SPDX-License-Identifier: Apache-2.0
#include "gate/causes.hpp"

#include <fmt/format.h>
#include <gmock/gmock.h>

#include <set>

#include "gate/examples.hpp"
#include "gate/judge.hpp"

namespace bandgate {
namespace {

using namespace examples;
using ::testing::AnyOf;
using ::testing::ElementsAre;
using ::testing::EndsWith;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

result with_events(double gib_per_s, double bits) {
  auto r = h200(gib_per_s);
  r.health.load["clock_event_reasons"] = ok(bits);
  return r;
}

result transfer(double gib_per_s) {
  auto r = h200(gib_per_s);
  r.probe.name = "h2d";
  r.probe.ceiling = "link";
  return r;
}

TEST(causes, a_power_cap_with_normal_bandwidth_is_a_note) {
  auto const v = judge(with_events(4000, 0x4), model());
  EXPECT_EQ(v.status, status::pass);
  EXPECT_THAT(codes(v), ElementsAre("power-cap"));
  EXPECT_EQ(v.reasons.front().sentence,
            "the power cap slowed the clocks under load (clock event 0x4)");
}

TEST(causes, a_power_cap_with_a_loss_is_its_cause) {
  auto const v = judge(with_events(3200, 0x4), model());
  EXPECT_EQ(v.status, status::regression);
  EXPECT_THAT(codes(v), ElementsAre("below-bound", "power-cap"));
  EXPECT_THAT(v.next_step, HasSubstr("power limit"));
}

struct event_case {
  double bits;
  std::vector<std::string> expected;
};

TEST(causes, clock_events_by_bit) {
  for (auto const& [bits, expected] : std::vector<event_case>{
           {0x0, {}},
           {0x1, {}},
           {0x2, {"application-clocks"}},
           {0x4, {"power-cap"}},
           {0x5, {"power-cap"}},
           {0x8, {"hw-slowdown"}},
           {0x10, {"sync-boost"}},
           {0x20, {"sw-thermal"}},
           {0x40, {"hw-thermal"}},
           {0x80, {"power-brake"}},
           {0x100, {"display-clocks"}},
           {0x200, {"unknown-clock-event"}},
           {0x48, {"hw-thermal", "hw-slowdown"}},
           {0x400084, {"power-brake", "power-cap", "unknown-clock-event"}},
       })
    EXPECT_EQ(codes(judge(with_events(4000, bits), model())), expected) << bits;
}

TEST(causes, an_unknown_bit_is_shown_in_hex) {
  auto const v = judge(with_events(4000, 0x400004), model());
  EXPECT_THAT(sentence(v, "unknown-clock-event"), HasSubstr("(clock event 0x400000)"));
}

TEST(causes, events_at_idle_are_silent) {
  auto r = h200(4000);
  r.health.idle["clock_event_reasons"] = ok(0x44);
  EXPECT_THAT(codes(judge(r, model())), IsEmpty());
}

TEST(causes, events_that_are_no_bits_are_not_known) {
  for (double const bits : {-1.0, 1e30}) {
    auto const v = judge(with_events(3000, bits), model());
    EXPECT_THAT(sentence(v, "no-cause-found"),
                HasSubstr("could not be read: clock events, temperature limits (health: nvml)"));
  }
}

TEST(causes, a_link_below_its_maximum_under_load_is_a_transfers_cause) {
  auto r = transfer(13);
  r.health.load["pcie_generation"] = ok(4);
  r.health.load["pcie_width"] = ok(8);
  auto const v = judge(r, model(entry(50)));
  EXPECT_THAT(codes(v), ElementsAre("below-bound", "pcie-generation", "pcie-width"));
  EXPECT_EQ(sentence(v, "pcie-generation"), "the PCIe generation under load was 4 of 5");
  EXPECT_EQ(sentence(v, "pcie-width"), "the PCIe width under load was x8 of 16 lanes");
}

TEST(causes, generation_1_at_idle_and_5_under_load_is_silent) {
  auto r = transfer(50);
  r.health.idle["pcie_generation"] = ok(1);
  EXPECT_THAT(codes(judge(r, model(entry(50)))), IsEmpty());
  r.health.load.erase("pcie_generation");
  EXPECT_THAT(codes(judge(r, model(entry(50)))), IsEmpty()) << "not read under load: not known";
}

TEST(causes, the_hosts_link_says_nothing_of_a_transfer_between_two_gpus) {
  auto r = transfer(200);
  r.probe.parameters[peer_parameter] = std::string("GPU-1");
  r.health.load["pcie_generation"] = ok(2);
  r.health.load["pcie_width"] = ok(8);
  EXPECT_THAT(codes(judge(r, model(entry(360)))), ElementsAre("below-bound", "no-cause-found"));
}

TEST(causes, the_link_says_nothing_of_the_memory) {
  auto r = h200(3000);
  r.health.load["pcie_generation"] = ok(2);
  r.health.load["pcie_width"] = ok(8);
  EXPECT_THAT(codes(judge(r, model())), ElementsAre("below-bound", "no-cause-found"));
}

TEST(causes, the_memory_clock_under_load) {
  auto r = h200(3000);
  r.health.load["memory_clock_mhz"] = ok(2619);
  auto const v = judge(r, model());
  EXPECT_THAT(codes(v), ElementsAre("below-bound", "memory-clock"));
  EXPECT_EQ(sentence(v, "memory-clock"), "the memory clock under load was 2619 MHz of 3201 MHz");
  r.health.load.erase("memory_clock_mhz");
  r.health.idle["memory_clock_mhz"] = ok(405);
  EXPECT_THAT(codes(judge(r, model())), ElementsAre("below-bound", "no-cause-found"));
}

TEST(causes, the_power_limit_from_health_or_identity) {
  auto r = h200(4000);
  r.health.load["power_limit_w"] = ok(500);
  EXPECT_EQ(sentence(judge(r, model()), "power-limit"),
            "the power limit is below its default: 500 W of 700 W");
  r.health.load.erase("power_limit_w");
  r.health.load.erase("power_limit_default_w");
  EXPECT_THAT(codes(judge(r, model())), IsEmpty());
  r.device.power_limit_w = 350;
  r.device.power_limit_default_w = 700;
  EXPECT_THAT(codes(judge(r, model())), ElementsAre("power-limit"));
}

TEST(causes, row_remapping) {
  auto r = h200(4000);
  r.health.load["row_remap_pending"] = ok_flag(true);
  r.health.load.erase("row_remap_failure");
  r.health.idle["row_remap_failure"] = ok_flag(true);
  EXPECT_THAT(codes(judge(r, model())), ElementsAre("row-remap-failure", "row-remap-pending"));
}

TEST(causes, ecc_as_the_entry_states_it) {
  auto r = h200(3000);
  r.device.ecc = false;
  EXPECT_EQ(sentence(judge(r, model()), "ecc-differs"), "ECC is off here, on in the baseline");
  auto e = entry();
  e.ecc = false;
  r.device.ecc = true;
  EXPECT_EQ(sentence(judge(r, model(e)), "ecc-differs"), "ECC is on here, off in the baseline");
  e.ecc.reset();
  EXPECT_THAT(codes(judge(r, model(e))), ElementsAre("below-bound", "no-cause-found"));
}

TEST(causes, an_idle_process_is_named) {
  auto r = h200(3000);
  r.health.processes = {{99, "jupyter", std::nullopt, false}};
  EXPECT_EQ(sentence(judge(r, model()), "other-process"),
            "another process holds the device, idle: process 99 (jupyter)");
}

TEST(causes, none_found_says_what_was_looked_at) {
  EXPECT_EQ(
      sentence(judge(h200(3000), model()), "no-cause-found"),
      "no cause found; looked at and in order: clock events, power limit, memory clock, memory "
      "repairs, ECC, other processes; could not be read: temperature limits (health: nvml)");
}

TEST(causes, without_health_it_says_that_nothing_could_be_read) {
  auto r = h200(3000);
  r.health = {};
  r.health.source = "none: libnvidia-ml.so.1 not found";
  r.device.ecc.reset();
  auto const v = judge(r, model());
  EXPECT_EQ(v.status, status::regression);
  EXPECT_EQ(sentence(v, "no-cause-found"),
            "no cause found; looked at and in order: nothing; could not be read: clock events, "
            "temperature limits, power limit, memory clock, memory repairs, ECC, other processes "
            "(health: "
            "none: libnvidia-ml.so.1 not found)");
}

TEST(causes, fields_that_could_not_be_read_change_nothing_but_that) {
  auto r = h200(4000);
  for (auto& [name, field] : r.health.load) field = {health_field::state::not_supported, {}, {}};
  EXPECT_EQ(judge(r, model()).status, status::pass);
  // A value left in a field that is not "ok" was not read.
  r.health.load["clock_event_reasons"] = {health_field::state::unavailable, 64.0, "timed out"};
  EXPECT_THAT(codes(judge(r, model())), IsEmpty());
  r.health.load["clock_event_reasons"] = {health_field::state::ok, std::string("0x40"), {}};
  EXPECT_THAT(codes(judge(r, model())), IsEmpty());
}

TEST(causes, the_most_specific_comes_first_and_gives_the_next_step) {
  auto r = with_events(3000, 0x44);
  r.health.load["power_limit_w"] = ok(500);
  r.health.load["memory_clock_mhz"] = ok(2619);
  r.device.ecc = false;
  auto const v = judge(r, model());
  EXPECT_THAT(codes(v), ElementsAre("below-bound", "hw-thermal", "power-cap", "power-limit",
                                    "memory-clock", "ecc-differs"));
  EXPECT_THAT(v.next_step, HasSubstr("cooling"));
}

TEST(causes, throttling_alone_forbids_a_recording) {
  auto r = with_events(4000, 0x6);
  r.health.load["power_limit_w"] = ok(500);
  r.health.processes = {{99, "jupyter", std::nullopt, false}};
  auto const present = causes_present(r);
  ASSERT_EQ(present.size(), 1u);
  EXPECT_EQ(present.front().code, "power-cap");
}

TEST(cause_rules, are_complete_and_distinct) {
  std::set<std::string> codes, groups;
  std::string group;
  for (auto const& rule : cause_rules()) {
    EXPECT_TRUE(codes.insert(rule.code).second) << rule.code;
    for (auto const* text : {rule.next_step, rule.effect}) {
      EXPECT_THAT(text, EndsWith(".")) << rule.code;
      EXPECT_THAT(text, Not(HasSubstr("{"))) << rule.code;
    }
    EXPECT_NE(std::string(rule.sentence), "") << rule.code;
    EXPECT_NE(rule.look, nullptr) << rule.code;
    if (rule.checks == group) continue;
    group = rule.checks;
    EXPECT_TRUE(groups.insert(group).second) << group << ": its rules do not follow each other";
  }
}

/// Every rule's words once, whatever the look gives.
TEST(cause_rules, have_sentences_that_take_detail_and_source) {
  for (auto const& rule : cause_rules()) {
    auto const text = fmt::format(fmt::runtime(rule.sentence), "DETAIL", " SOURCE");
    EXPECT_THAT(text, Not(AnyOf(HasSubstr("{"), HasSubstr("}"), HasSubstr("  ")))) << rule.code;
    EXPECT_THAT(text, Not(EndsWith("."))) << rule.code << ": reasons are joined by semicolons";
  }
}

}  // namespace
}  // namespace bandgate
