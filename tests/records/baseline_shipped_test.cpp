// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <cstdio>
#include <map>
#include <set>

#include "records/baseline_fixture.hpp"
#include "records/baseline_match.hpp"

namespace bandgate::testing {
namespace {

using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

/// The catalogue's probes, as far as shipped files speak of them.
std::vector<probe> const& shipped_probes() {
  static auto const all = [] {
    auto some = probes();
    for (auto const* name : {"triad", "memcpy_d2d", "memset"}) some.push_back(make_probe(name));
    return some;
  }();
  return all;
}

baseline_library const& shipped_library() {
  static baseline_library const library({}, shipped_probes());
  return library;
}

baseline_match shipped(device_identity const& device, std::string const& probe) {
  for (auto const& what : shipped_probes())
    if (what.name == probe)
      return shipped_library().find(device, what, complete(what.parameters, {}));
  throw std::logic_error("no probe " + probe);
}

/// The one file that speaks of the device, also where it has no entry; "" without one.
std::string file_of(device_identity const& device) {
  std::string found;
  auto best = closeness::generic;
  for (auto const& file : shipped_library().files()) {
    auto const level = fit(file, device).level;
    if (level == closeness::none || level < best || file.generic) continue;
    found = level == best ? found + " and " + file.origin : file.origin;
    best = level;
  }
  return found;
}

device_identity card(std::string const& pci_device, double gib) {
  device_identity d;
  d.backend = "cuda";
  d.pci_device = pci_device;
  d.pci_subsystem = "10de:1212";
  d.memory_bytes = static_cast<std::uint64_t>(gib * 1073741824.0);
  return d;
}

device_identity named(std::string const& name) {
  device_identity d;
  d.backend = "scripted";
  d.name = name;
  return d;
}

std::string built_in(std::string const& file) {
  return "built-in:" + file + ".json";
}

/// As the notes write a share: "67.2 %".
std::string percent(double share) {
  std::array<char, 32> text{};
  std::snprintf(text.data(), text.size(), "%.4g %%", share * 100);
  return text.data();
}

/// "the file: the entry's place", for messages.
std::string where(baseline_entry const& entry) {
  return entry.file + ": " + entry.pointer;
}

device_identity v100(std::string const& pci_device, std::uint64_t gib) {
  auto d = card(pci_device, static_cast<double>(gib));
  d.ecc = true;
  return d;
}

TEST(shipped_baselines, are_valid_and_speak_of_known_probes) {
  // Probes of the catalogue that this test has no declaration of.
  std::set<std::string> const others{"gather",       "scatter",      "h2d",       "d2h",
                                     "host_bidir",   "h2d_pageable", "p2p_read",  "p2p_write",
                                     "d2h_pageable", "p2p_bidir",    "sustained", "read_map"};
  for (auto const& file : shipped_library().files())
    for (auto const& entry : file.entries) {
      auto const is_it = [&](probe const& what) { return what.name == entry.probe; };
      EXPECT_TRUE(others.count(entry.probe) == 1 ||
                  std::any_of(shipped_probes().begin(), shipped_probes().end(), is_it))
          << where(entry) << ": " << entry.probe;
    }
  EXPECT_GT(shipped_library().files().size(), 40U);
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

TEST(shipped_baselines, never_claim_a_device_or_a_name_twice) {
  std::map<std::string, std::string> owners;
  for (auto const& file : shipped_library().files()) {
    std::set<std::string> claims;
    for (auto const& key : file.match) claims.insert(key.pci_device);
    for (auto const& alias : file.aliases) claims.insert("name " + normalized_name(alias));
    for (auto const& claim : claims) {
      auto const [owner, is_new] = owners.emplace(claim, file.origin);
      EXPECT_TRUE(is_new) << claim << ": " << owner->second << " and " << file.origin;
    }
  }
}

TEST(shipped_baselines, hold_no_reference_that_the_memory_cannot_reach) {
  std::set<std::string> const streaming{"read",     "write",       "copy",
                                        "triad",    "memcpy_d2d",  "memset",
                                        "read_seq", "read_unroll", "read_window"};
  for (auto const& file : shipped_library().files())
    for (auto const& entry : file.entries) {
      if (streaming.count(entry.probe) == 0 || !entry.relative_to.empty()) continue;
      if (!entry.unit) {
        EXPECT_LT(entry.value, 1) << where(entry);
      } else if (file.peak_gb_s) {
        EXPECT_LT(to_base(entry.value, *entry.unit), *file.peak_gb_s * 1e9) << where(entry);
      }
    }
}

TEST(shipped_baselines, say_where_each_figure_is_from) {
  for (auto const& file : shipped_library().files())
    for (auto const& entry : file.entries) {
      auto const& from = entry.provenance;
      if (from.kind == "published") {
        EXPECT_THAT(from.source, Not(IsEmpty())) << where(entry);
      } else if (from.kind == "peak-fraction" && !file.generic) {
        EXPECT_THAT(from.note, StartsWith("Floor ")) << where(entry);
        EXPECT_THAT(from.note, HasSubstr(percent(entry.value * (1 + entry.lower)) + " of "))
            << where(entry);
      }
    }
}

/// Other people's kernels are slower than these: their figures are floors, never upper bounds.
TEST(shipped_baselines, take_the_figures_of_others_for_floors) {
  for (auto const& file : shipped_library().files())
    for (auto const& entry : file.entries) {
      // The H200's file has figures of these kernels.
      if (file.generic || file.origin == built_in("nvidia-h200")) continue;
      if (entry.provenance.kind == "measured") continue;
      EXPECT_EQ(entry.upper, std::nullopt) << where(entry);
      EXPECT_LE(entry.lower, -0.1) << where(entry);
      EXPECT_GE(entry.lower, -0.2) << where(entry);
    }
}

TEST(shipped_baselines, speak_of_all_streaming_probes_or_of_none) {
  for (auto const& file : shipped_library().files()) {
    if (file.generic || file.entries.empty() || file.origin == "built-in:nvidia-h200.json")
      continue;
    std::set<std::string> names;
    for (auto const& entry : file.entries) names.insert(entry.probe);
    for (auto const* probe : {"read", "write", "copy", "triad", "memcpy_d2d", "memset"})
      EXPECT_EQ(names.count(probe), 1U) << file.origin << " " << probe;
  }
}

TEST(shipped_baselines, know_each_model_by_its_pci_device) {
  struct {
    char const* pci_device;
    double gib;
    char const* file;
  } const models[]{{"10de:15f8", 15.9, "tesla-p100-pcie-16gb"},
                   {"10de:15f7", 11.9, "tesla-p100-pcie-12gb"},
                   {"10de:1db1", 15.8, "tesla-v100"},
                   {"10de:1db8", 31.7, "tesla-v100-sxm3-32gb"},
                   {"10de:1df6", 31.7, "tesla-v100s-pcie-32gb"},
                   {"10de:1dba", 31.7, "quadro-gv100"},
                   {"10de:1eb8", 14.8, "tesla-t4"},
                   {"10de:20b0", 39.6, "nvidia-a100-sxm4-40gb"},
                   {"10de:20b2", 79.3, "nvidia-a100-sxm4-80gb"},
                   {"10de:20f1", 39.5, "nvidia-a100-pcie-40gb"},
                   {"10de:20b5", 79.2, "nvidia-a100-80gb-pcie"},
                   {"10de:2236", 22.0, "nvidia-a10"},
                   {"10de:2237", 22.0, "nvidia-a10g"},
                   {"10de:2235", 44.3, "nvidia-a40"},
                   {"10de:2235", 47.5, "nvidia-a40"},
                   {"10de:2204", 23.6, "nvidia-geforce-rtx-3090"},
                   {"10de:27b8", 22.0, "nvidia-l4"},
                   {"10de:26b5", 44.5, "nvidia-l40"},
                   {"10de:26b9", 44.5, "nvidia-l40s"},
                   {"10de:26b1", 47.5, "nvidia-rtx-6000-ada-generation"},
                   {"10de:2684", 23.6, "nvidia-geforce-rtx-4090"},
                   {"10de:2330", 79.2, "nvidia-h100-80gb-hbm3"},
                   {"10de:2339", 93.0, "nvidia-h100-sxm5-94gb"},
                   {"10de:2331", 79.6, "nvidia-h100-pcie"},
                   {"10de:2321", 93.0, "nvidia-h100-nvl"},
                   {"10de:233b", 140.4, "nvidia-h200-nvl"},
                   {"10de:2342", 95.0, "nvidia-gh200-96gb"},
                   {"10de:2348", 142.5, "nvidia-gh200-144gb"},
                   {"10de:2901", 178.4, "nvidia-b200"},
                   {"10de:2941", 185.0, "nvidia-gb200"},
                   {"10de:3182", 267.7, "nvidia-b300-sxm6-ac"},
                   {"10de:31c2", 270.0, "nvidia-gb300"},
                   {"10de:2b85", 31.4, "nvidia-geforce-rtx-5090"},
                   {"1002:740f", 64.0, "amd-instinct-mi210"},
                   {"1002:7408", 63.0, "amd-instinct-mi250x"},
                   {"1002:740c", 63.0, "amd-instinct-mi250x"},
                   {"1002:74a0", 125.0, "amd-instinct-mi300a"},
                   {"1002:74a1", 192.0, "amd-instinct-mi300x"},
                   {"1002:74b5", 191.7, "amd-instinct-mi300x"},
                   {"1002:74a5", 256.0, "amd-instinct-mi325x"},
                   {"1002:75a3", 288.0, "amd-instinct-mi355x"}};
  for (auto const& m : models)
    EXPECT_EQ(file_of(card(m.pci_device, m.gib)), built_in(m.file)) << m.pci_device << " " << m.gib;
}

TEST(shipped_baselines, take_another_memory_size_or_sibling_for_no_model) {
  EXPECT_EQ(file_of(card("10de:20b0", 79.3)), "");   // not an A100 of 40 GB
  EXPECT_EQ(file_of(card("10de:20b2", 39.6)), "");   // nor one of 80 GB
  EXPECT_EQ(file_of(card("10de:2204", 47.5)), "");   // an RTX 3090 with other memory
  EXPECT_EQ(file_of(card("10de:2909", 168)), "");    // the B200 of 168 GB
  EXPECT_EQ(file_of(card("10de:1df2", 32)), "");     // PG503-216
  EXPECT_EQ(file_of(card("1002:75a0", 288)), "");    // MI350X
  EXPECT_EQ(file_of(card("10de:2335", 140.4)), "");  // an H200 of another subsystem
  auto slice = card("10de:20b0", 39.6);
  slice.mig_profile = "7g.40gb";
  EXPECT_EQ(file_of(slice), "");
}

TEST(shipped_baselines, know_each_model_by_its_name) {
  struct {
    char const* name;
    char const* file;
  } const models[]{{"NVIDIA H200", "nvidia-h200"},
                   {"NVIDIA H200 NVL", "nvidia-h200-nvl"},
                   {"NVIDIA H100 80GB HBM3", "nvidia-h100-80gb-hbm3"},
                   {"NVIDIA H100 PCIe", "nvidia-h100-pcie"},
                   {"NVIDIA H100 NVL", "nvidia-h100-nvl"},
                   {"A100-SXM4-40GB", "nvidia-a100-sxm4-40gb"},
                   {"NVIDIA A100-SXM4-80GB", "nvidia-a100-sxm4-80gb"},
                   {"A100-PCIE-40GB", "nvidia-a100-pcie-40gb"},
                   {"NVIDIA A100 80GB PCIe", "nvidia-a100-80gb-pcie"},
                   {"NVIDIA A10", "nvidia-a10"},
                   {"NVIDIA A10G", "nvidia-a10g"},
                   {"NVIDIA L4", "nvidia-l4"},
                   {"NVIDIA L40", "nvidia-l40"},
                   {"NVIDIA L40S", "nvidia-l40s"},
                   {"Tesla V100-SXM2-32GB", "tesla-v100"},
                   {"Tesla V100-SXM3-32GB", "tesla-v100-sxm3-32gb"},
                   {"GeForce RTX 3090", "nvidia-geforce-rtx-3090"},
                   {"NVIDIA GeForce RTX 4090", "nvidia-geforce-rtx-4090"},
                   {"NVIDIA GeForce RTX 5090", "nvidia-geforce-rtx-5090"},
                   {"NVIDIA GH200 480GB", "nvidia-gh200-96gb"},
                   {"NVIDIA GH200 144G HBM3e", "nvidia-gh200-144gb"},
                   {"NVIDIA RTX 6000 Ada Generation", "nvidia-rtx-6000-ada-generation"},
                   {"AMD Instinct MI300X VF", "amd-instinct-mi300x"},
                   {"AMD Instinct MI250X", "amd-instinct-mi250x"}};
  for (auto const& m : models) EXPECT_EQ(file_of(named(m.name)), built_in(m.file)) << m.name;
  for (auto const* name :
       {"NVIDIA GeForce GTX 970", "NVIDIA A100", "NVIDIA H100", "NVIDIA GeForce RTX 3090 Ti",
        "NVIDIA A100-SXM4-40GB MIG 7g.40gb", "AMD Radeon Graphics", "AMD Instinct MI250"})
    EXPECT_EQ(file_of(named(name)), "") << name;
}

TEST(shipped_baselines, hold_what_others_published) {
  struct {
    char const* name;
    char const* probe;
    double value;
    bandgate::unit unit;
  } const figures[]{{"NVIDIA A100-SXM4-40GB", "read", 1500, unit::gb_per_s},
                    {"NVIDIA A100-SXM4-80GB", "copy", 1577.3, unit::gib_per_s},
                    {"NVIDIA A40", "write", 680, unit::gb_per_s},
                    {"NVIDIA H100 PCIe", "write", 2018, unit::gb_per_s},
                    {"NVIDIA H100 80GB HBM3", "triad", 2970, unit::gb_per_s},
                    {"NVIDIA B200", "read", 6668.71, unit::gb_per_s},
                    {"Tesla V100-SXM2-16GB", "copy", 806.525, unit::gb_per_s},
                    {"NVIDIA GeForce RTX 4090", "memcpy_d2d", 921, unit::gb_per_s},
                    {"AMD Instinct MI300X", "copy", 4150, unit::gb_per_s}};
  for (auto const& f : figures) {
    auto const entry = shipped(named(f.name), f.probe).model;
    ASSERT_TRUE(entry) << f.name;
    EXPECT_EQ(entry->provenance.kind, "published") << f.name;
    EXPECT_EQ(entry->value, f.value) << f.name;
    EXPECT_EQ(entry->unit, f.unit) << f.name;
  }
}

TEST(shipped_baselines, have_a_floor_of_its_own_where_a_model_is_known_to_be_slower) {
  auto const apu = shipped(named("AMD Instinct MI300A"), "read_window").model;
  ASSERT_TRUE(apu);
  EXPECT_FALSE(apu->generic);
  EXPECT_EQ(apu->value, 0.5);
  auto const l40s = shipped(named("NVIDIA L40S"), "read").model;
  ASSERT_TRUE(l40s);
  EXPECT_FALSE(l40s->generic);
  EXPECT_EQ(l40s->provenance.kind, "peak-fraction");
  EXPECT_EQ(l40s->value, 0.85);
  // Nothing is known of these but who they are: the generic floors.
  EXPECT_TRUE(shipped(card("10de:31c2", 270), "read").model->generic);
}

/// Its two board parts differ by more than either's tolerance, and only NVML tells them apart.
TEST(shipped_baselines, judge_an_h200_of_unknown_board_part_by_the_bounds_of_both) {
  struct {
    char const* board_part;
    double value, lower, upper;
  } const cases[]{{"", 4303.05, 4260.0, 4423.2},
                  {"692-2G520-0282-001", 4303.05, 4260.0, 4346.1},
                  {"692-2G520-0282-000", 4379.36, 4335.6, 4423.2}};
  for (auto const& c : cases) {
    auto device = h200();
    device.board_part = c.board_part;
    auto const read = shipped(device, "read").model;
    ASSERT_TRUE(read) << c.board_part;
    EXPECT_EQ(read->value, c.value) << c.board_part;
    EXPECT_NEAR(read->value * (1 + read->lower), c.lower, 0.05) << c.board_part;
    EXPECT_NEAR(read->value * (1 + read->upper.value()), c.upper, 0.05) << c.board_part;
  }
}

}  // namespace
}  // namespace bandgate::testing
