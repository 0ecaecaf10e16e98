// SPDX-License-Identifier: Apache-2.0
#include <set>

#include "records/baseline_fixture.hpp"

namespace bandgate::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::UnorderedElementsAre;

baseline_match shipped(device_identity const& device, std::string const& probe) {
  auto const& what = probe_named(probe);
  static baseline_library const library({}, probes());
  return library.find(device, what, complete(what.parameters, {}));
}

device_identity v100(std::string const& pci_device, std::uint64_t gib) {
  device_identity d;
  d.backend = "cuda";
  d.pci_device = pci_device;
  d.pci_subsystem = "10de:1212";
  d.memory_bytes = gib << 30;
  d.ecc = true;
  return d;
}

TEST(shipped_baselines, are_valid_and_speak_of_known_probes) {
  baseline_library const library({}, probes());
  EXPECT_THAT(library.warnings(), IsEmpty());
}

TEST(shipped_baselines, hold_the_published_figures_of_the_v100) {
  for (auto const& device : {v100("10de:1db1", 16), v100("10de:1df5", 16), v100("10de:1db5", 32),
                             v100("10de:1db4", 16), v100("10de:1db6", 32)}) {
    auto const seq = shipped(device, "read_seq").model;
    ASSERT_TRUE(seq) << device.pci_device;
    EXPECT_EQ(seq->file, "built-in:tesla-v100.json");
    EXPECT_EQ(seq->value, 769.856);
    EXPECT_EQ(seq->unit, unit::gib_per_s);
    EXPECT_EQ(seq->statistic, "peak");
    EXPECT_EQ(seq->lower, -0.1);
    EXPECT_EQ(seq->upper, std::nullopt);
    EXPECT_EQ(seq->provenance.kind, "published");
    auto const unrolled = shipped(device, "read_unroll").model;
    EXPECT_EQ(unrolled->value, 833.067);
    EXPECT_EQ(unrolled->statistic, "peak");
    EXPECT_EQ(unrolled->lower, -0.1);
    EXPECT_EQ(unrolled->upper, std::nullopt);
    EXPECT_THAT(unrolled->provenance.note, HasSubstr("99.6 % of the 836.4 GiB/s peak"));
  }
}

TEST(shipped_baselines, take_the_other_boards_of_that_chip_for_other_models) {
  // Tesla V100S, V100 SXM3, DGX Station, FHHL, SKU 890, Quadro GV100
  for (auto const* id :
       {"10de:1df6", "10de:1db8", "10de:1db7", "10de:1db3", "10de:1db0", "10de:1dba"})
    EXPECT_TRUE(shipped(v100(id, 32), "read_seq").model->generic) << id;
}

TEST(shipped_baselines, know_the_v100_by_name_too) {
  device_identity d;
  d.backend = "scripted";
  for (auto const* name : {"Tesla V100-SXM2-16GB", "NVIDIA V100-PCIE-32GB"}) {
    d.name = name;
    EXPECT_EQ(shipped(d, "read_seq").model->value, 769.856) << name;
  }
  for (auto const* name : {"Tesla V100S-PCIE-32GB", "Tesla V100-SXM3-32GB", "Quadro GV100"}) {
    d.name = name;
    EXPECT_TRUE(shipped(d, "read_seq").model->generic) << name;
  }
}

TEST(shipped_baselines, give_any_other_gpu_a_floor_for_each_probe_of_dram) {
  device_identity d;
  d.backend = "cuda";
  d.name = "Acme X1";
  d.pci_device = "aaaa:0001";
  for (auto const* probe : {"read", "write", "copy", "read_unroll", "read_window", "read_seq"}) {
    auto const floor = shipped(d, probe).model;
    ASSERT_TRUE(floor) << probe;
    EXPECT_TRUE(floor->generic);
    EXPECT_EQ(floor->upper, std::nullopt);
    EXPECT_FALSE(floor->provenance.note.empty());
  }
  auto const read = *shipped(d, "read").model;
  EXPECT_EQ(read.value, 0.85);
  EXPECT_EQ(read.lower, -0.15);
  EXPECT_FALSE(shipped(d, "launch").model);
}

}  // namespace
}  // namespace bandgate::testing
