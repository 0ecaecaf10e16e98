// SPDX-License-Identifier: Apache-2.0
// What a script may say, and how a bad one is refused.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "backend/scripted/script.hpp"
#include "scripted_helpers.hpp"

namespace bandgate {
namespace {

using namespace scripted_test;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::StartsWith;

script read(json const& document) {
  script_file const file(document);
  return read_script(file.path(), {a_probe(), a_probe("write")});
}

/// The error without the file's name in front of it.
std::string refusal(json const& document) {
  script_file const file(document);
  try {
    read_script(file.path(), {a_probe(), a_probe("write")});
    return "no exception";
  } catch (usage_error const& e) {
    std::string const text = e.what();
    EXPECT_THAT(text, StartsWith(file.path() + ": "));
    return text.substr(file.path().size() + 2);
  }
}

json with(char const* pointer, json value) {
  auto document = script_of(one_device());
  document[json::json_pointer(pointer)] = std::move(value);
  return document;
}

TEST(Script, ReadsADevice) {
  auto document = script_of(one_device());
  document["devices"][0]["identity"].update(json{{"pci_device", "10de:2335"},
                                                 {"pci_subsystem", "10de:18bf"},
                                                 {"board_part", "692-2G520-0282-001"},
                                                 {"bus_width_bits", 6016},
                                                 {"memory_clock_mhz", 3201},
                                                 {"processors", 132},
                                                 {"ecc", true},
                                                 {"numa_node", 1}});
  auto const s = read(document);
  ASSERT_EQ(s.devices.size(), 1U);
  auto const& d = s.devices[0];
  EXPECT_EQ(d.identity.backend, "scripted");
  EXPECT_EQ(d.identity.name, "Card");
  EXPECT_EQ(d.identity.uuid, "GPU-1");
  EXPECT_EQ(d.identity.pci_address, "0000:1b:00.0");
  EXPECT_EQ(d.identity.pci_device, "10de:2335");
  EXPECT_EQ(d.identity.pci_subsystem, "10de:18bf");
  EXPECT_EQ(d.identity.board_part, "692-2G520-0282-001");
  EXPECT_EQ(d.identity.memory_bytes, 1073741824U);
  EXPECT_EQ(d.identity.processors, 132U);
  EXPECT_EQ(d.identity.ecc, true);
  EXPECT_EQ(d.identity.numa_node, 1);
  EXPECT_EQ(d.identity.vbios, "");
  EXPECT_EQ(d.identity.power_limit_w, std::nullopt);
  EXPECT_DOUBLE_EQ(d.identity.peak_bytes_per_second.value(), 4814304000000.0);
  EXPECT_EQ(d.memory_free.count, 536870912U);
  EXPECT_FALSE(d.missing);
  EXPECT_FALSE(s.real_pace);
}

TEST(Script, StatesThePeakItself) {
  auto const s = read(with("/devices/0/identity/peak_bytes_per_second", 1e12));
  EXPECT_EQ(s.devices[0].identity.peak_bytes_per_second, 1e12);
}

TEST(Script, AMemoryClockOfZeroGivesNoPeak) {
  auto document = script_of(one_device());
  document["devices"][0]["identity"].update(
      json{{"bus_width_bits", 6016}, {"memory_clock_mhz", 0}});
  EXPECT_EQ(read(document).devices[0].identity.peak_bytes_per_second, std::nullopt);
}

TEST(Script, AllMemoryIsFreeUnlessItSaysOtherwise) {
  auto document = script_of(one_device());
  document["devices"][0].erase("memory_free_bytes");
  EXPECT_EQ(read(document).devices[0].memory_free.count, 1073741824U);
}

TEST(Script, DevicesAreInPciOrder) {
  auto document = script_of(one_device());
  auto second = one_device();
  second["identity"].update(json{{"uuid", "GPU-2"}, {"pci_address", "0000:0a:00.0"}});
  document["devices"].push_back(second);
  auto const s = read(document);
  EXPECT_EQ(s.devices[0].identity.uuid, "GPU-2");
  EXPECT_EQ(s.devices[1].identity.uuid, "GPU-1");
}

TEST(Script, SlicesOfACardShareItsAddress) {
  auto const slice = [](char const* uuid, char const* parent) {
    auto device = one_device();
    device["identity"].update(json{{"uuid", uuid}, {"mig_parent", parent}});
    return device;
  };
  auto document = script_of(slice("MIG-2", "GPU-1"));
  document["devices"].push_back(slice("MIG-1", "GPU-1"));
  auto const s = read(document);
  EXPECT_EQ(s.devices[0].identity.uuid, "MIG-1");
  EXPECT_EQ(s.devices[1].identity.uuid, "MIG-2");
  document["devices"].push_back(slice("MIG-3", "GPU-2"));
  EXPECT_THROW(read(document), usage_error);
}

TEST(Script, TheLastAttemptRepeatsAndTheStarIsForTheOthers) {
  auto device = one_device();
  device["probes"]["read"]["attempts"] = {{{"unit", "GB/s"}, {"samples", {1}}},
                                          {{"unit", "GB/s"}, {"samples", {2}}}};
  device["probes"]["*"]["attempts"] = {{{"unit", "GB/s"}, {"samples", {3}}}};
  auto const s = read(script_of(device));
  auto const first_sample = [&](char const* probe, unsigned attempt) {
    return find_attempt(s.devices[0], a_probe(probe), {}, attempt)->samples.at(0);
  };
  EXPECT_EQ(first_sample("read", 1), 1);
  EXPECT_EQ(first_sample("read", 2), 2);
  EXPECT_EQ(first_sample("read", 3), 2);
  EXPECT_EQ(first_sample("write", 1), 3);
  EXPECT_EQ(find_attempt(read(script_of(one_device())).devices[0], a_probe("write"), {}, 1),
            nullptr);
}

/// A probe with a size, a word and a parameter that only says where.
probe gather() {
  auto p = a_probe("gather");
  parameter peer{"peer", parameter_kind::device, std::string("auto"), "", {"auto"}};
  peer.keyed = false;
  p.parameters = {{"window", parameter_kind::size, std::uint64_t{1} << 30, ""},
                  {"dtype", parameter_kind::choice, std::string("u32"), "", {"u32", "f32"}},
                  peer};
  return p;
}

scripted_device gather_device(json probes) {
  auto device = one_device();
  device["probes"] = std::move(probes);
  script_file const file(script_of(device));
  return read_script(file.path(), {a_probe(), gather()}).devices.at(0);
}

json gives(double value) {
  return {{"attempts", {{{"unit", "GB/s"}, {"samples", {value}}}}}};
}

TEST(Script, AKeyMayHaveParameters) {
  auto const device = gather_device({{"*", gives(1)},
                                     {"gather", gives(2)},
                                     {"gather window=1048576", gives(3)},
                                     {"gather  window=64MiB dtype=f32", gives(4)}});
  auto const p = gather();
  auto const value = [&](std::map<std::string, std::string> const& given) {
    return find_attempt(device, p, complete(p.parameters, given), 1)->samples.at(0);
  };
  EXPECT_EQ(value({}), 2);
  EXPECT_EQ(value({{"window", "1MiB"}}), 3);
  EXPECT_EQ(value({{"window", "1MiB"}, {"dtype", "u32"}, {"peer", "GPU-2"}}), 3);
  EXPECT_EQ(value({{"dtype", "f32"}, {"window", "64M"}}), 4);
  EXPECT_EQ(value({{"window", "64MiB"}}), 2);
  EXPECT_EQ(find_attempt(device, a_probe(), {}, 1)->samples.at(0), 1);
}

TEST(Script, AKeyWithParametersIsNotOfTheProbeWithout) {
  auto const device = gather_device({{"gather dtype=f32", gives(3)}});
  auto const p = gather();
  EXPECT_EQ(find_attempt(device, p, complete(p.parameters, {}), 1), nullptr);
}

TEST(BadScript, KeysWithParametersThatCannotBe) {
  auto const bad = [](char const* key) -> std::string {
    try {
      gather_device({{key, gives(1)}, {"gather dtype=f32", gives(2)}});
      return "no exception";
    } catch (usage_error const& e) {
      std::string const text = e.what();
      return text.substr(text.find(": ") + 2);
    }
  };
  EXPECT_EQ(bad("gather span=1"),
            "/devices/0/probes/gather span=1: unknown parameter 'span'; this probe has window, "
            "dtype, peer");
  EXPECT_EQ(bad("gather dtype=f64"),
            "/devices/0/probes/gather dtype=f64: parameter dtype=f64: is not one of u32, f32");
  EXPECT_EQ(bad("gather f32"),
            "/devices/0/probes/gather f32: 'f32' is no parameter; write name=value");
  EXPECT_EQ(bad("gather peer=GPU-2"),
            "/devices/0/probes/gather peer=GPU-2: 'peer' does not tell one case of probe 'gather' "
            "from another; leave it out");
  EXPECT_EQ(bad("gather window=1M window=2M"),
            "/devices/0/probes/gather window=1M window=2M: 'window' is there twice; leave one out");
  EXPECT_THAT(bad("gather  dtype=f32"), HasSubstr("'gather dtype=f32' is there already"));
  EXPECT_THAT(bad("gahter dtype=f32"), HasSubstr("there is no probe 'gahter'"));
  EXPECT_THAT(bad(""), HasSubstr("there is no probe ''"));
}

TEST(Script, ReadsHealth) {
  auto device = one_device();
  device["health"] = {
      {"idle", {{"pstate", "P8"}, {"ecc_enabled", true}, {"power_w", 71.5}}},
      {"load", {{"power_w", {{"state", "not-supported"}}}}},
      {"change", {{"pcie_replays", {{"state", "unavailable"}, {"why", "no NVML"}}}}},
      {"processes", {{{"pid", 42}, {"name", "python3"}, {"active", true}}}}};
  auto const h = read(script_of(device)).devices[0].health.at({});
  EXPECT_EQ(h.source, "scripted");
  EXPECT_EQ(std::get<std::string>(h.idle.at("pstate").value), "P8");
  EXPECT_EQ(std::get<bool>(h.idle.at("ecc_enabled").value), true);
  EXPECT_EQ(std::get<double>(h.idle.at("power_w").value), 71.5);
  EXPECT_EQ(h.idle.at("power_w").status, health_field::state::ok);
  EXPECT_EQ(h.load.at("power_w").status, health_field::state::not_supported);
  EXPECT_EQ(h.change.at("pcie_replays").status, health_field::state::unavailable);
  EXPECT_EQ(h.change.at("pcie_replays").why, "no NVML");
  ASSERT_EQ(h.processes.size(), 1U);
  EXPECT_EQ(h.processes[0].pid, 42U);
  EXPECT_EQ(h.processes[0].name, "python3");
  EXPECT_TRUE(h.processes[0].active);
  EXPECT_EQ(h.processes[0].memory_bytes, std::nullopt);
}

TEST(Script, MayHaveNoDevice) {
  EXPECT_TRUE(
      read({{"schema", "bandgate.scripted/1"}, {"devices", json::array()}}).devices.empty());
}

TEST(BadScript, UnknownProbe) {
  auto device = one_device();
  device["probes"]["raed"] = device["probes"]["read"];
  EXPECT_EQ(refusal(script_of(device)),
            "/devices/0/probes/raed: there is no probe 'raed'; write one of read, write, or \"*\" "
            "for those not named");
}

TEST(BadScript, UnknownKeysAndUnits) {
  EXPECT_THAT(refusal(with("/devcies", json::array())), StartsWith("/devcies: "));
  EXPECT_THAT(refusal(with("/devices/0/identity/pci", "x")), StartsWith("/devices/0/identity/pci"));
  EXPECT_THAT(refusal(with("/devices/0/probes/read/attempts/0/unit", "GB")),
              AllOf(StartsWith("/devices/0/probes/read/attempts/0/unit: "), HasSubstr("GiB/s")));
  EXPECT_THAT(refusal(with("/schema", "bandgate.scripted/2")), StartsWith("/schema: "));
  EXPECT_THAT(refusal(with("/pace", "slow")), StartsWith("/pace: "));
}

TEST(BadScript, ValuesThatCannotBe) {
  auto const attempt = std::string("/devices/0/probes/read/attempts/0/");
  auto const bad = [&](char const* member, json value) {
    return refusal(with((attempt + member).c_str(), std::move(value)));
  };
  EXPECT_THAT(bad("samples", json::array()), StartsWith(attempt + "samples: "));
  EXPECT_THAT(bad("samples", {-1}), StartsWith(attempt + "samples/0: "));
  EXPECT_THAT(bad("samples", {"4302"}), StartsWith(attempt + "samples/0: "));
  EXPECT_THAT(bad("lost_at_sample", 0), StartsWith(attempt + "lost_at_sample: "));
  EXPECT_THAT(bad("verified", 1), StartsWith(attempt + "verified: "));
  EXPECT_THAT(refusal(with("/devices/0/identity/pci_address", "1B:00.0")),
              AllOf(StartsWith("/devices/0/identity/pci_address: "), HasSubstr("0000:1b:00.0")));
  EXPECT_THAT(refusal(with("/devices/0/identity/memory_bytes", 0)),
              StartsWith("/devices/0/identity/memory_bytes: "));
}

TEST(BadScript, SamplesWithoutAUnitOrNothingAtAll) {
  auto const without = "/devices/0/probes/read/attempts/0: ";
  EXPECT_THAT(refusal(script_of(one_device({{"samples", {1}}}))),
              AllOf(StartsWith(without), HasSubstr("samples and their unit")));
  EXPECT_THAT(refusal(script_of(one_device({{"verified", false}}))), StartsWith(without));
  EXPECT_THAT(refusal(script_of(one_device({{"out_of_memory", false}}))),
              StartsWith("/devices/0/"));
  EXPECT_EQ(refusal(script_of(one_device({{"out_of_memory", true}}))), "no exception");
  EXPECT_EQ(refusal(script_of(one_device({{"exclusive", true}}))), "no exception");
}

TEST(BadScript, MoreFreeMemoryThanMemory) {
  EXPECT_EQ(
      refusal(with("/devices/0/memory_free_bytes", 1073741825)),
      "/devices/0/memory_free_bytes: 1073741825 is more than the device's memory, 1073741824");
}

TEST(BadScript, TwoDevicesWithOneNameOrPlace) {
  auto second = one_device();
  second["identity"]["pci_address"] = "0000:43:00.0";
  auto document = script_of(one_device());
  document["devices"].push_back(second);
  EXPECT_EQ(refusal(document),
            "/devices/1/identity/uuid: 'GPU-1' is the uuid of /devices/0 already");
  document["devices"][1]["identity"].update(
      json{{"uuid", "GPU-2"}, {"pci_address", "0000:1b:00.0"}});
  EXPECT_EQ(
      refusal(document),
      "/devices/1/identity/pci_address: '0000:1b:00.0' is the pci_address of /devices/0 already");
}

TEST(BadScript, WhatIsNotAScript) {
  EXPECT_THROW(read_script("/nonexistent/script.json", {}), usage_error);
  EXPECT_THROW(read_script("/tmp", {}), usage_error);
  for (auto const* text : {"", "[]", "{", "{\"schema\": \"bandgate.scripted/1\"}", "\xff"}) {
    script_file const file{std::string(text)};
    EXPECT_THROW(read_script(file.path(), {a_probe()}), usage_error) << text;
  }
}

}  // namespace
}  // namespace bandgate
