// SPDX-License-Identifier: Apache-2.0
/// Slices of a card: one at a time, and no peers.
#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "bandgate/probe.hpp"
#include "runner/resources.hpp"
#include "runner/task.hpp"

namespace bandgate {
namespace {

using testing::ElementsAre;
using testing::IsEmpty;

device_identity card(std::string uuid) {
  device_identity d;
  d.backend = "scripted";
  d.uuid = std::move(uuid);
  return d;
}

device_identity slice(std::string uuid, std::string parent) {
  auto d = card(std::move(uuid));
  d.mig_parent = std::move(parent);
  d.mig_profile = "1g.18gb";
  return d;
}

/// A whole card, a split one, another whole one, another split one.
std::vector<device_identity> const machine{card("GPU-a"), slice("MIG-b1", "GPU-b"),
                                           slice("MIG-b2", "GPU-b"), card("GPU-c"),
                                           slice("MIG-d1", "GPU-d")};

probe with_peer() {
  probe p;
  p.name = "p2p";
  p.load = load::link;
  parameter peer;
  peer.name = peer_parameter;
  peer.kind = parameter_kind::device;
  peer.fallback = std::string("auto");
  peer.choices = {"auto", "each"};
  p.parameters = {peer};
  return p;
}

TEST(slices, of_one_card_are_one_resource) {
  probe alone;
  alone.name = "read";
  std::vector<std::vector<std::string>> resources;
  for (std::size_t i = 0; i < machine.size(); ++i)
    resources.push_back(resources_of({&alone, {}}, machine, i));
  EXPECT_THAT(resources, ElementsAre(ElementsAre("gpu0"), ElementsAre("gpu1"), ElementsAre("gpu1"),
                                     ElementsAre("gpu3"), ElementsAre("gpu4")));
}

TEST(slices, are_no_peers_and_have_none) {
  auto const p = with_peer();
  task const one{&p, {}};
  EXPECT_EQ(peer_of(one, machine, 0), 3U);
  EXPECT_EQ(peer_of(one, machine, 3), 0U);
  EXPECT_EQ(peer_of(one, machine, 1), std::nullopt);
  EXPECT_FALSE(lacks_peer(one, machine, 0));
  EXPECT_TRUE(lacks_peer(one, machine, 1));
  EXPECT_TRUE(lacks_peer(one, {machine[0], machine[1]}, 0));
  EXPECT_THROW(peer_of({&p, {{"peer", "MIG-b1"}}}, machine, 0), usage_error);
}

TEST(slices, leave_each_whole_card_its_whole_peers) {
  auto const p = with_peer();
  auto const tasks = with_peers({&p, {{"peer", "each"}}}, machine, 0);
  ASSERT_EQ(tasks.size(), 1U);
  EXPECT_EQ(tasks[0].given.at("peer"), "GPU-c");
  auto const of_slice = with_peers({&p, {{"peer", "each"}}}, machine, 2);
  ASSERT_EQ(of_slice.size(), 1U);
  EXPECT_THAT(of_slice[0].given, IsEmpty());
  EXPECT_THAT(resources_of(of_slice[0], machine, 2), ElementsAre("gpu1", "hostlink"));
}

}  // namespace
}  // namespace bandgate
