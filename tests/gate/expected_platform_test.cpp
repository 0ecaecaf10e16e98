// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>

#include "gate/diagnose.hpp"
#include "gate/examples.hpp"
#include "gate/judge.hpp"

namespace bandgate {
namespace {

using namespace examples;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;

result transfer(double gib_per_s) {
  auto r = h200(gib_per_s);
  r.probe.name = "h2d";
  r.probe.ceiling = "link";
  return r;
}

/// A transfer over x8 of 16 lanes, which the platform has by design.
verdict of_expected_x8(double gib_per_s) {
  auto r = transfer(gib_per_s);
  r.health.load["pcie_width"] = ok(8);
  auto e = entry(50);
  e.expected.pcie_width = 8;
  return judge(r, model(e));
}

TEST(expected_platform, is_named_where_a_loss_has_no_other_cause) {
  auto const v = of_expected_x8(26);
  EXPECT_THAT(codes(v), ElementsAre("below-bound", "expected-platform"));
  EXPECT_EQ(sentence(v, "expected-platform"),
            "x8 is expected here of 16 lanes: the reference may be that of a wider link");
  EXPECT_EQ(v.next_step, "Record an entry for this platform: `bandgate baseline record h2d`.");
}

TEST(expected_platform, is_silent_on_a_pass_and_at_rest) {
  auto r = transfer(25.5);
  r.health.load["pcie_width"] = ok(8);
  auto e = entry(25.5);
  e.expected.pcie_width = 8;
  EXPECT_THAT(codes(judge(r, model(e))), IsEmpty());
  r.health.idle = r.health.load;
  expectations expected;
  expected.pcie_width = 8;
  EXPECT_THAT(diagnose(r.device, r.health, expected).found, IsEmpty());
}

TEST(expected_platform, is_silent_beside_any_other_cause) {
  auto r = transfer(20);
  r.health.load["pcie_width"] = ok(8);
  r.health.load["clock_event_reasons"] = ok(0x40);
  auto e = entry(50);
  e.expected.pcie_width = 8;
  EXPECT_THAT(codes(judge(r, model(e))), ElementsAre("below-bound", "hw-thermal"));
}

TEST(expected_platform, is_no_excuse_for_a_card_below_its_own_reference) {
  auto r = transfer(20);
  r.health.load["pcie_width"] = ok(8);
  auto model_entry = entry(20), own = card_entry(25);
  model_entry.expected.pcie_width = own.expected.pcie_width = 8;
  EXPECT_THAT(codes(judge(r, both(model_entry, own))),
              ElementsAre("below-card-bound", "no-cause-found"));
}

TEST(expected_platform, knows_the_slot_the_links_between_gpus_and_the_power_limit) {
  auto e = entry(50);
  e.expected.pcie_generation = 4;
  auto slot = transfer(20);
  slot.health.load["pcie_generation"] = slot.health.load["pcie_generation_max"] = ok(4);
  EXPECT_THAT(codes(judge(slot, model(e))), ElementsAre("below-bound", "no-cause-found"))
      << "the card itself is not known to do more";
  slot.health.load["pcie_generation_card"] = ok(5);
  EXPECT_EQ(sentence(judge(slot, model(e)), "expected-platform"),
            "PCIe generation 4 is expected here of 5: the reference may be that of a faster link");

  e.expected = {};
  e.expected.nvlinks = 6;
  auto pair = transfer(20);
  pair.probe.parameters[peer_parameter] = std::string("GPU-1");
  pair.health.load["nvlink_active"] = ok(6);
  pair.health.load["nvlink_links"] = ok(18);
  auto const of_pair = judge(pair, model(e));
  EXPECT_EQ(sentence(of_pair, "expected-platform"),
            "6 NVLinks are expected here of 18: the reference may be that of more links");
  EXPECT_THAT(of_pair.next_step, HasSubstr("record h2d` with the same parameters."));

  auto memory = entry(4000);
  memory.expected.power_limit_w = 500;
  auto capped = h200(3000);
  capped.health.load["power_limit_w"] = ok(500);
  EXPECT_EQ(sentence(judge(capped, model(memory)), "expected-platform"),
            "a power limit of 500 W is expected here of 700 W: the reference may be that of a "
            "higher limit");
  e.expected = memory.expected;
  auto link = transfer(20);
  link.health.load["power_limit_w"] = ok(500);
  EXPECT_THAT(codes(judge(link, model(e))), ElementsAre("below-bound", "no-cause-found"));
}

TEST(expected_platform, is_nothing_where_the_card_can_do_no_more_than_is_expected) {
  auto r = transfer(20);
  auto e = entry(50);
  e.expected.pcie_width = 16;
  e.expected.pcie_generation = 5;
  EXPECT_THAT(codes(judge(r, model(e))), ElementsAre("below-bound", "no-cause-found"));
}

}  // namespace
}  // namespace bandgate
