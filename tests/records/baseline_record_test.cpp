// SPDX-License-Identifier: Apache-2.0
#include <nlohmann/json.hpp>

#include "records/baseline_fixture.hpp"

namespace bandgate::testing {
namespace {

using nlohmann::json;
using ::testing::ElementsAre;
using ::testing::HasSubstr;

TEST(merge_baseline, begins_a_file) {
  EXPECT_EQ(merge_baseline("", h200(), {recorded(4302.5)}, probes()), R"({
  "schema": "bandgate.baseline/1",
  "gpu": {
    "model": "NVIDIA H200",
    "match": [
      {
        "pci_device": "10de:2335",
        "pci_subsystem": "10de:18bf",
        "board_part": "692-2G520-0282-001"
      }
    ],
    "aliases": [
      "NVIDIA H200"
    ],
    "memory_gib": 140.0,
    "peak_gb_s": 4814.3,
    "ecc": "on",
    "mig": null
  },
  "entries": [
    {
      "probe": "read",
      "parameters": {},
      "statistic": "median",
      "unit": "GiB/s",
      "value": 4302.5,
      "tolerance": {
        "lower": -0.03,
        "upper": 0.03
      },
      "provenance": {
        "kind": "measured",
        "cards": 1,
        "processes": 2,
        "driver": "580.159.04",
        "date": "2026-11-29",
        "tool": "0.1.0"
      }
    }
  ]
}
)");
}

baseline_match found(std::string const& text, device_identity const& device,
                     std::filesystem::path const& folder, std::string const& name = "read") {
  std::filesystem::create_directories(folder);
  std::ofstream(folder / "a.json") << text;
  auto const& what = probe_named(name);
  return baseline_library({folder}, probes()).find(device, what, complete(what.parameters, {}));
}

class recording : public in_a_folder {};

TEST_F(recording, is_found_again_by_the_device_it_was_made_on) {
  for (auto const& device : {h200(), host(2)}) {
    auto const text = merge_baseline("", device, {recorded(12)}, probes());
    auto const match = found(text, device, folder_);
    ASSERT_TRUE(match.model) << text;
    EXPECT_EQ(match.model->value, 12);
  }
}

TEST_F(recording, of_a_host_names_the_cpu_and_its_threads) {
  auto const text = merge_baseline("", host(2), {recorded(12)}, probes());
  auto const gpu = json::parse(text)["gpu"];
  EXPECT_EQ(gpu["model"], "Intel(R) Xeon(R) Processor x2 threads");
  EXPECT_EQ(gpu["match"], json::array());
  EXPECT_EQ(gpu["aliases"], json::array({"Intel(R) Xeon(R) Processor x2 threads"}));
  EXPECT_EQ(gpu["memory_gib"], 8);
  EXPECT_FALSE(found(text, host(96), folder_).model);
}

TEST_F(recording, writes_only_the_parameters_that_differ_from_the_defaults) {
  auto entry = recorded(12, "read_window");
  entry.parameters["window"] = std::uint64_t{4} << 20;
  entry.parameters["stride"] = std::uint64_t{3};
  auto const text = merge_baseline("", h200(), {entry}, probes());
  EXPECT_EQ(json::parse(text)["entries"][0]["parameters"],
            (json{{"window", "4MiB"}, {"stride", 3}}));
}

std::string const mine = R"({"entries": [
  {"tolerance": {"upper": null, "lower": -0.2}, "probe": "copy", "unit": "GB/s", "value": 4000,
   "provenance": {"kind": "published", "source": "a paper", "note": "mine"}},
  {"probe": "read", "unit": "GiB/s", "value": 4000, "tolerance": {"lower": -0.2, "upper": null},
   "provenance": {"kind": "measured"}},
  {"probe": "h2d", "parameters": {"size": "256MiB"}, "unit": "GiB/s", "value": 50,
   "tolerance": {"lower": -0.2, "upper": null}, "provenance": {"kind": "measured"}}],
  "gpu": {"aliases": ["H200"], "model": "my H200s", "match": [{"pci_device": "10de:2335"}]},
  "schema": "bandgate.baseline/1"})";

TEST_F(recording, replaces_its_entry_and_keeps_everything_else) {
  auto const text =
      merge_baseline(mine, h200(), {recorded(4302.5), recorded(4370, "write")}, probes());
  auto before = nlohmann::ordered_json::parse(mine);
  auto after = nlohmann::ordered_json::parse(text);
  EXPECT_EQ(after["entries"].size(), 4U);
  EXPECT_EQ(after["entries"][1]["value"], 4302.5);
  EXPECT_EQ(after["entries"][1]["tolerance"]["lower"], -0.03);
  EXPECT_EQ(after["entries"][3]["probe"], "write");
  EXPECT_EQ(after["entries"][3]["value"], 4370);
  after["entries"].erase(3);
  after["entries"][1] = before["entries"][1];
  EXPECT_EQ(after.dump(), before.dump());  // in the order in which it was written, too
}

TEST_F(recording, of_a_card_stands_beside_the_models) {
  auto const first = merge_baseline("", h200(), {recorded(4302.5)}, probes());
  auto all = seen({{4310, 4310}});
  all.cards[0] = h200().uuid;
  auto const card = make_entry(all, 0, today());
  auto const text = merge_baseline(first, h200(), {card}, probes());
  auto match = found(text, h200(), folder_);
  ASSERT_TRUE(match.model && match.card);
  EXPECT_EQ(match.model->value, 4302.5);
  EXPECT_EQ(match.card->value, 4310);
  EXPECT_EQ(match.card->lower, -0.005);
  // And again: replaced, not doubled.
  EXPECT_EQ(json::parse(merge_baseline(text, h200(), {card}, probes()))["entries"].size(), 2U);
}

TEST_F(recording, gives_a_second_board_part_its_own_entries) {
  auto other = h200();
  other.board_part = "692-2G520-0282-000";
  auto text = merge_baseline("", h200(), {recorded(4302)}, probes());
  EXPECT_NE(found(text, other, folder_).model->file, (folder_ / "a.json").string());
  text = merge_baseline(text, other, {recorded(4371)}, probes());
  EXPECT_EQ(found(text, h200(), folder_).model->value, 4302);
  EXPECT_EQ(found(text, other, folder_).model->value, 4371);
  EXPECT_EQ(found(text, other, folder_).model->board_part, "692-2G520-0282-000");
  // Recording again replaces each one's own.
  text = merge_baseline(text, other, {recorded(4372)}, probes());
  text = merge_baseline(text, h200(), {recorded(4303)}, probes());
  EXPECT_EQ(json::parse(text)["entries"].size(), 2U);
  EXPECT_EQ(json::parse(text)["gpu"]["match"].size(), 2U);
  EXPECT_EQ(found(text, h200(), folder_).model->value, 4303);
  EXPECT_EQ(found(text, other, folder_).model->value, 4372);
  other.board_part = "";
  EXPECT_EQ(found(text, other, folder_).model->value, 4303);
}

TEST_F(recording, replaces_the_entry_of_its_own_board_part) {
  auto const both = file(R"("match": [{"pci_device": "10de:2335"}])",
                         entry(4290) + "," + entry(4302, R"("board_part": "692-2G520-0282-001")"));
  auto const text = merge_baseline(both, h200(), {recorded(4303)}, probes());
  EXPECT_EQ(json::parse(text)["entries"].size(), 2U);
  EXPECT_EQ(json::parse(text)["entries"][0]["value"], 4290);
  EXPECT_EQ(json::parse(text)["entries"][1]["value"], 4303);
}

TEST_F(recording, of_one_probe_twice_leaves_the_last) {
  auto const text = merge_baseline("", h200(), {recorded(4302), recorded(4303)}, probes());
  ASSERT_EQ(json::parse(text)["entries"].size(), 1U);
  EXPECT_EQ(json::parse(text)["entries"][0]["value"], 4303);
}

TEST_F(recording, refuses_the_file_of_another_model) {
  auto const text = merge_baseline("", h200(), {recorded(4302)}, probes());
  auto const refused = [&](device_identity const& device) {
    return error_of([&] { merge_baseline(text, device, {recorded(12)}, probes()); });
  };
  auto device = h200();
  device.ecc = false;
  EXPECT_EQ(refused(device),
            "existing baseline: /gpu: speaks of \"NVIDIA H200\", is for ECC on, not of this "
            "device, \"NVIDIA H200\"; record into another file");
  EXPECT_EQ(refused(host(2)),
            "existing baseline: /gpu: speaks of \"NVIDIA H200\", not of this device, \"Intel(R) "
            "Xeon(R) Processor x2 threads\"; record into another file");
  device = h200();
  device.pci_subsystem = "10de:0001";
  device.board_part = "";
  EXPECT_THAT(refused(device), HasSubstr("/gpu/match: has other parts of this model"));
}

TEST_F(recording, refuses_a_bad_file_and_bad_entries) {
  auto const refused = [&](std::string const& text, baseline_entry const& entry) {
    return error_of([&] { merge_baseline(text, h200(), {entry}, probes()); });
  };
  EXPECT_THAT(refused("[]", recorded(1)), HasSubstr("existing baseline: /: an array is not"));
  EXPECT_EQ(refused("", recorded(5000)),
            "new baseline: /entries/0/value: 5000.0 GiB/s is above the model's peak of 4814.3 GB/s "
            "(4483.7 GiB/s); correct the value, its unit or /gpu/peak_gb_s");
  auto foreign = recorded(1);
  foreign.probe = "h2d";
  EXPECT_EQ(refused("", foreign), "unknown probe 'h2d' cannot be recorded");
}

TEST_F(recording, survives_a_name_that_is_not_utf_8) {
  auto device = h200();
  device.name = "Acme \xff \"X\"\x1b[1m";
  auto const text = merge_baseline("", device, {recorded(12)}, probes());
  EXPECT_EQ(found(text, device, folder_).model->value, 12);
}

TEST_F(recording, goes_where_the_device_is_spoken_of_already) {
  EXPECT_EQ(recording_path(folder_ / "new", h200(), probes()), folder_ / "new/nvidia-h200.json");
  write("mine.json", mine);
  EXPECT_EQ(recording_path(folder_, h200(), probes()), folder_ / "mine.json");
  auto other = h200();
  other.board_part = "692-2G520-0282-000";
  EXPECT_EQ(recording_path(folder_, other, probes()), folder_ / "mine.json");
  EXPECT_EQ(recording_path(folder_, host(2), probes()),
            folder_ / "intel-xeon-processor-x2-threads.json");
}

TEST_F(recording, goes_to_the_file_of_its_board_part_before_that_of_another) {
  auto other = h200();
  other.board_part = "692-2G520-0282-000";
  write("a.json", merge_baseline("", h200(), {recorded(4302)}, probes()));
  EXPECT_EQ(recording_path(folder_, other, probes()), folder_ / "a.json");
  write("b.json", file(R"("match": [{"pci_device": "10de:2335", "pci_subsystem": "10de:18bf",
                          "board_part": "692-2G520-0282-000"}])",
                       entry(4371)));
  EXPECT_EQ(recording_path(folder_, other, probes()), folder_ / "b.json");
  EXPECT_EQ(recording_path(folder_, h200(), probes()), folder_ / "a.json");
}

TEST_F(recording, never_goes_into_the_file_of_another_model) {
  write("nvidia-h200.json", merge_baseline("", h200(), {recorded(4302)}, probes()));
  auto device = h200();
  device.ecc = false;
  EXPECT_EQ(recording_path(folder_, device, probes()), folder_ / "nvidia-h200-ecc-off.json");
  device = h200();
  device.mig_profile = "1g.18gb";
  EXPECT_EQ(recording_path(folder_, device, probes()), folder_ / "nvidia-h200-mig-1g-18gb.json");
  device = h200();
  device.memory_bytes = std::uint64_t{70} << 30;
  EXPECT_EQ(recording_path(folder_, device, probes()), folder_ / "nvidia-h200-2.json");
}

}  // namespace
}  // namespace bandgate::testing
