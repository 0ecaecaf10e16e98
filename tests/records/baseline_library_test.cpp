// SPDX-License-Identifier: Apache-2.0
#include "records/baseline_fixture.hpp"

namespace bandgate::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::Not;

/// Names that no shipped file knows, so that what ships does not change what is tested here.
device_identity fictional() {
  auto d = h200();
  d.name = "Acme X1";
  d.pci_device = "aaaa:0001";
  d.pci_subsystem = "aaaa:1001";
  d.board_part = "part-1";
  d.memory_bytes = std::uint64_t{80} << 30;
  return d;
}

class baseline_search : public in_a_folder {
 protected:
  baseline_match find(std::vector<std::string> const& where, device_identity const& device,
                      std::string const& probe = "read",
                      std::map<std::string, std::string> const& given = {}) const {
    std::vector<std::filesystem::path> paths;
    for (auto const& name : where) paths.push_back(folder_ / name);
    auto const& what = probe_named(probe);
    return baseline_library(paths, probes()).find(device, what, complete(what.parameters, given));
  }
  /// The value of the model's entry in the folder "site", 0 without one.
  double value(device_identity const& device, std::string const& probe = "read",
               std::map<std::string, std::string> const& given = {}) const {
    auto const match = find({"site"}, device, probe, given);
    return match.model && !match.model->generic ? match.model->value : 0;
  }
  std::string load_refusal(std::vector<std::string> const& where) const {
    return error_of([&] { find(where, fictional()); });
  }
};

constexpr char const* key_device = R"("match": [{"pci_device": "aaaa:0001"}])";
constexpr char const* key_subsystem =
    R"("match": [{"pci_device": "aaaa:0001", "pci_subsystem": "aaaa:1001"}])";
constexpr char const* key_board = R"("match": [{"pci_device": "aaaa:0001",
    "pci_subsystem": "aaaa:1001", "board_part": "part-1"}])";
constexpr char const* key_alias = R"("aliases": ["ACME  x1"])";

TEST_F(baseline_search, prefers_the_closest_key_of_a_folder) {
  write("site/1.json", file(key_alias, entry(1)));
  EXPECT_EQ(value(fictional()), 1);
  write("site/2.json", file(key_device, entry(2)));
  EXPECT_EQ(value(fictional()), 2);
  write("site/0.json", file(key_subsystem, entry(3)));
  EXPECT_EQ(value(fictional()), 3);
  write("site/3.json", file(key_board, entry(4)));
  EXPECT_EQ(value(fictional()), 4);
}

TEST_F(baseline_search, takes_the_first_folder_that_has_the_entry) {
  write("site/1.json", file(key_alias, entry(1)));
  write("team/1.json", file(key_board, entry(2) + "," + entry(20, "", "copy")));
  auto const read = find({"site", "team"}, fictional());
  ASSERT_TRUE(read.model);
  EXPECT_EQ(read.model->value, 1);
  EXPECT_EQ(read.model->file, (folder_ / "site/1.json").string());
  EXPECT_EQ(read.model->pointer, "/entries/0");
  EXPECT_EQ(find({"team", "site"}, fictional()).model->value, 2);
  EXPECT_EQ(find({"site", "team"}, fictional(), "copy").model->value, 20);
}

TEST_F(baseline_search, falls_back_to_a_wider_file_of_the_folder_for_an_entry) {
  write("site/1.json", file(key_board, entry(4)));
  write("site/2.json", file(key_alias, entry(1) + "," + entry(10, "", "copy")));
  EXPECT_EQ(value(fictional(), "read"), 4);
  EXPECT_EQ(value(fictional(), "copy"), 10);
}

TEST_F(baseline_search, takes_one_file_as_well_as_a_folder) {
  write("elsewhere/mine.txt", file(key_alias, entry(7)));
  EXPECT_EQ(find({"elsewhere/mine.txt"}, fictional()).model->value, 7);
}

TEST_F(baseline_search, reads_json_files_only_and_not_below) {
  write("site/readme.txt", "not json");
  write("site/old/1.json", "not json");
  write("site/1.json", file(key_alias, entry(1)));
  EXPECT_EQ(value(fictional()), 1);
}

TEST_F(baseline_search, completes_parameters_before_it_compares) {
  write("site/1.json",
        file(key_device, entry(1, R"("parameters": {"window": "64MiB"})", "read_window") + "," +
                             entry(2, R"("parameters": {"window": "4MiB"})", "read_window")));
  EXPECT_EQ(value(fictional(), "read_window"), 1);
  EXPECT_EQ(value(fictional(), "read_window", {{"window", "4096K"}}), 2);
  EXPECT_EQ(value(fictional(), "read_window", {{"window", "8MiB"}}), 0);
  EXPECT_EQ(value(fictional(), "read_window", {{"stride", "2"}}), 0);
}

TEST_F(baseline_search, never_takes_another_subsystem_or_board_part_even_by_alias) {
  write("site/1.json", file(std::string(key_board) + "," + key_alias, entry(4)));
  auto device = fictional();
  EXPECT_EQ(value(device), 4);
  device.board_part = "part-2";
  EXPECT_EQ(value(device), 0);
  EXPECT_THAT(find({"site"}, device).looked_in, HasSubstr("1.json is for board part part-1"));
  device = fictional();
  device.pci_subsystem = "aaaa:1002";
  EXPECT_EQ(value(device), 0);
  EXPECT_THAT(find({"site"}, device).looked_in, HasSubstr("1.json is for subsystem aaaa:1001"));
}

TEST_F(baseline_search, does_without_what_the_device_does_not_know) {
  write("site/1.json",
        file(std::string(key_board) + R"(, "ecc": "on", "memory_gib": 80)", entry(4)));
  auto device = fictional();
  device.board_part = "";
  EXPECT_EQ(value(device), 4);
  device.pci_subsystem = "";
  device.ecc.reset();
  device.memory_bytes.reset();
  EXPECT_EQ(value(device), 4);
  device.pci_device = "";
  EXPECT_EQ(value(device), 0);
}

TEST_F(baseline_search, never_matches_a_device_without_id_by_an_id) {
  write("site/1.json", file(key_device, entry(4)));
  auto device = fictional();
  device.pci_device = "";
  EXPECT_EQ(value(device), 0);
}

TEST_F(baseline_search, holds_ecc_against_the_file) {
  write("site/1.json", file(std::string(key_device) + R"(, "ecc": "on")", entry(1)));
  auto device = fictional();
  device.ecc = false;
  EXPECT_EQ(value(device), 0);
  auto const looked_in = find({"site"}, device).looked_in;
  EXPECT_THAT(looked_in, HasSubstr("1.json is for ECC on"));
  EXPECT_THAT(looked_in, HasSubstr("ECC off"));
  write("site/2.json", file(std::string(key_device) + R"(, "ecc": "off")", entry(2)));
  EXPECT_EQ(value(device), 2);
  device.ecc = true;
  EXPECT_EQ(value(device), 1);
}

TEST_F(baseline_search, holds_memory_against_the_file_to_five_percent) {
  write("site/1.json", file(std::string(key_device) + R"(, "memory_gib": 40)", entry(1)));
  write("site/2.json", file(std::string(key_device) + R"(, "memory_gib": [80, 96])", entry(2)));
  auto device = fictional();
  auto const of = [&](double gib) {
    device.memory_bytes = static_cast<std::uint64_t>(gib * 1073741824.0);
    return value(device);
  };
  EXPECT_EQ(of(39.4), 1);
  EXPECT_EQ(of(79.2), 2);
  EXPECT_EQ(of(76.1), 2);
  EXPECT_EQ(of(75.9), 0);
  EXPECT_EQ(of(84.1), 0);
  EXPECT_EQ(of(95), 2);
  EXPECT_THAT(find({"site"}, device).looked_in, HasSubstr("1.json is for 40 GiB"));
}

TEST_F(baseline_search, tells_a_mig_slice_from_its_card) {
  write("site/1.json", file(key_device, entry(1)));
  auto slice = fictional();
  slice.mig_profile = "1g.10gb";
  EXPECT_EQ(value(slice), 0);
  auto const match = find({"site"}, slice);
  EXPECT_FALSE(match.model);  // no generic floor either: a share of the card's peak is not its own
  EXPECT_THAT(match.looked_in, HasSubstr("1.json is for the whole card"));
  write("site/2.json", file(std::string(key_device) + R"(, "mig": "1g.10gb")", entry(2)));
  EXPECT_EQ(value(slice), 2);
  EXPECT_EQ(value(fictional()), 1);
}

TEST_F(baseline_search, keeps_models_of_similar_names_apart) {
  write("site/1.json", file(R"("aliases": ["A100-SXM4-40GB"])", entry(1)));
  write("site/2.json", file(R"("aliases": ["A100-SXM4-80GB"])", entry(2)));
  write("site/3.json", file(R"("aliases": ["GeForce GTX 970"])", entry(3)));
  write("site/4.json", file(R"("aliases": ["Fictional H200"])", entry(4)));
  device_identity device;
  device.backend = "scripted";
  auto const named = [&](char const* name) {
    device.name = name;
    return value(device);
  };
  EXPECT_EQ(named("NVIDIA A100-SXM4-40GB"), 1);
  EXPECT_EQ(named("NVIDIA A100-SXM4-80GB"), 2);
  EXPECT_EQ(named("GTX 970"), 3);
  EXPECT_EQ(named("NVIDIA GeForce GTX 970"), 3);
  EXPECT_EQ(named("NVIDIA GeForce GTX 970M"), 0);
  EXPECT_EQ(named("Fictional H200"), 4);
  EXPECT_EQ(named("Fictional H200 NVL"), 0);
  EXPECT_EQ(named(""), 0);
}

TEST_F(baseline_search, takes_the_entry_of_the_board_part_before_the_models) {
  write("site/1.json",
        file(R"("match": [{"pci_device": "aaaa:0001", "pci_subsystem": "aaaa:1001"}])",
             entry(1) + "," + entry(2, R"("board_part": "part-1")") + "," +
                 entry(3, R"("board_part": "part-2")") + "," +
                 entry(5, R"("board_part": "part-2")", "copy")));
  auto device = fictional();
  EXPECT_EQ(value(device), 2);
  EXPECT_EQ(value(device, "copy"), 0);
  device.board_part = "part-2";
  EXPECT_EQ(value(device), 3);
  device.board_part = "part-3";
  EXPECT_EQ(value(device), 1);
  device.board_part = "";  // no NVML
  EXPECT_EQ(value(device, "copy"), 5);
}

TEST_F(baseline_search, finds_the_cards_entry_beside_the_models) {
  auto device = fictional();
  write("site/1.json", file(key_device, entry(10, R"("card": ")" + device.uuid + "\"")));
  write("team/1.json", file(key_device, entry(1) + "," + entry(11, R"("card": "GPU-other")")));
  auto match = find({"site", "team"}, device);
  ASSERT_TRUE(match.model && match.card);
  EXPECT_EQ(match.model->value, 1);
  EXPECT_EQ(match.card->value, 10);
  EXPECT_EQ(match.card->card, device.uuid);
  device.uuid = "GPU-other";
  EXPECT_EQ(find({"site", "team"}, device).card->value, 11);
  device.uuid = "";
  match = find({"site", "team"}, device);
  EXPECT_EQ(match.model->value, 1);
  EXPECT_FALSE(match.card);
}

TEST_F(baseline_search, gives_unknown_gpus_the_generic_floors) {
  auto const match = find({}, fictional());
  ASSERT_TRUE(match.model);
  EXPECT_TRUE(match.model->generic);
  EXPECT_EQ(match.model->file, "built-in:_generic.json");
  EXPECT_EQ(match.model->unit, std::nullopt);
  EXPECT_EQ(match.model->provenance.kind, "peak-fraction");
}

TEST_F(baseline_search, lets_a_site_replace_single_generic_floors) {
  std::filesystem::create_directories(folder_ / "site");
  write("site/_generic.json", file(R"("ecc": null)", R"({"probe": "read", "unit": "peak",
      "value": 0.5, "tolerance": {"lower": -0.1, "upper": null},
      "provenance": {"kind": "peak-fraction"}})"));
  EXPECT_EQ(find({"site"}, fictional()).model->value, 0.5);
  EXPECT_EQ(find({"site"}, fictional(), "copy").model->file, "built-in:_generic.json");
  write("team/1.json", file(key_alias, entry(1)));
  auto const known = find({"site", "team"}, fictional());
  EXPECT_FALSE(known.model->generic);
  EXPECT_EQ(known.model->value, 1);
}

TEST_F(baseline_search, gives_hosts_no_generic_floor) {
  auto const match = find({}, host(4));
  EXPECT_FALSE(match.model);
  EXPECT_EQ(match.looked_in,
            "the shipped baselines for read on name \"intel xeon processor x4 threads\", 8.0 GiB");
}

constexpr char const* ratio_to_copy = R"({"probe": "read", "relative_to": "copy", "value": 1.1,
  "tolerance": {"lower": -0.1, "upper": null}, "provenance": {"kind": "measured"}})";

TEST_F(baseline_search, gives_every_device_the_ratios_of_a_generic_file) {
  write("site/_generic.json",
        file(R"("ecc": null)", std::string(ratio_to_copy) + R"(, {"probe": "write",
          "unit": "peak", "value": 0.8, "tolerance": {"lower": -0.1, "upper": null},
          "provenance": {"kind": "peak-fraction"}})"));
  auto slice = fictional();
  slice.mig_profile = "1g.18gb";
  for (auto const& device : {fictional(), slice, host(16)}) {
    auto const ratio = find({"site"}, device, "read").model;
    ASSERT_TRUE(ratio) << device.name;
    EXPECT_EQ(ratio->relative_to, "copy");
    EXPECT_EQ(ratio->value, 1.1);
  }
  EXPECT_TRUE(find({"site"}, fictional(), "write").model);
  EXPECT_FALSE(find({"site"}, slice, "write").model) << "a share of the card's peak is not its own";
  EXPECT_FALSE(find({"site"}, host(16), "write").model);
}

TEST_F(baseline_search, names_the_probes_that_a_probe_is_relative_to) {
  write("site/_generic.json", file(R"("ecc": null)", ratio_to_copy));
  write("site/a.json", file(R"("match": [{"pci_device": "10de:2335"}])",
                            R"({"probe": "read", "relative_to": "write", "value": 1,
    "tolerance": {"lower": -0.1, "upper": null}, "provenance": {"kind": "measured"}})"));
  baseline_library const library({folder_ / "site"}, probes());
  auto const names = [&](device_identity const& device, std::string const& probe) {
    return library.relative_to(device, probe_named(probe),
                               complete(probe_named(probe).parameters, {}));
  };
  EXPECT_THAT(names(h200(), "read"), ::testing::ElementsAre("write", "copy"));
  EXPECT_THAT(names(host(16), "read"), ::testing::ElementsAre("copy"));
  EXPECT_THAT(names(h200(), "write"), ::testing::IsEmpty());
  EXPECT_THAT(names(h200(), "read_map"), ::testing::IsEmpty()) << "the median is no probe";
}

TEST_F(baseline_search, tells_hosts_apart_by_threads_and_memory) {
  write("site/1.json",
        file(R"("aliases": ["Intel Xeon Processor x4 threads"], "memory_gib": 8)", entry(1)));
  EXPECT_EQ(value(host(4)), 1);
  EXPECT_EQ(value(host(96)), 0);
  auto bigger = host(4);
  bigger.memory_bytes = std::uint64_t{16} << 30;
  EXPECT_EQ(value(bigger), 0);
}

TEST_F(baseline_search, says_where_it_looked_and_for_what) {
  write("site/1.json", file(key_device, entry(1)));
  auto slice = fictional();
  slice.mig_profile = "1g.10gb";
  EXPECT_EQ(find({"site"}, slice, "read_window", {{"window", "4MiB"}}).looked_in,
            (folder_ / "site").string() +
                ", the shipped baselines for read_window window=4MiB on PCI device aaaa:0001, "
                "subsystem aaaa:1001, board part part-1, name \"acme x1\", 80.0 GiB, ECC on, MIG "
                "profile 1g.10gb (1.json is for the whole card; _generic.json is for the whole "
                "card)");
  EXPECT_THAT(find({"site"}, fictional(), "launch").looked_in,
              HasSubstr("(1.json has no such entry; _generic.json has no such entry)"));
}

TEST_F(baseline_search, refuses_two_files_of_a_folder_that_claim_a_device) {
  auto const claim = [&](std::string const& one, std::string const& other) {
    write("site/1.json", file(one, entry(1)));
    write("site/2.json", file(other, entry(2)));
    auto const message = load_refusal({"site"});
    auto const start = (folder_ / "site/2.json").string() + ": /gpu: claims ";
    return message.rfind(start, 0) == 0 ? message.substr(start.size()) : message;
  };
  std::string const rest =
      ", as 1.json of the same folder does; merge the two files, or tell them apart by "
      "memory_gib, ecc or mig";
  EXPECT_EQ(claim(key_device, key_device), "aaaa:0001" + rest);
  EXPECT_EQ(claim(key_board, key_board), "aaaa:0001 aaaa:1001 part-1" + rest);
  EXPECT_EQ(claim(key_alias, R"("aliases": ["NVIDIA Acme X1"])"),
            "the name \"NVIDIA Acme X1\"" + rest);
  std::string const key = key_device;
  EXPECT_EQ(claim(key + R"(, "memory_gib": [40, 80])", key + R"(, "memory_gib": 79)"),
            "aaaa:0001" + rest);
  EXPECT_EQ(claim(key + R"(, "ecc": "on")", key), "aaaa:0001" + rest);
  EXPECT_EQ(claim(key + R"(, "memory_gib": 40)", key + R"(, "memory_gib": 80)"), "no error");
  EXPECT_EQ(claim(key + R"(, "ecc": "on")", key + R"(, "ecc": "off")"), "no error");
  EXPECT_EQ(claim(key + R"(, "mig": "1g")", key), "no error");
  EXPECT_EQ(claim(key_subsystem, key_device), "no error");
}

TEST_F(baseline_search, lets_two_folders_claim_a_device) {
  write("site/1.json", file(key_device, entry(1)));
  write("team/1.json", file(key_device, entry(2)));
  EXPECT_EQ(load_refusal({"site", "team"}), "no error");
}

TEST_F(baseline_search, takes_neither_of_two_files_that_the_device_cannot_tell_apart) {
  write("site/1.json", file(std::string(key_device) + R"(, "ecc": "on")", entry(1)));
  write("site/2.json", file(std::string(key_device) + R"(, "ecc": "off")", entry(2)));
  auto device = fictional();
  device.ecc.reset();
  EXPECT_EQ(value(device), 0);
  EXPECT_THAT(find({"site"}, device).looked_in, HasSubstr("1.json fits no better than 2.json"));
  device.ecc = true;
  EXPECT_EQ(value(device), 1);
  EXPECT_THAT(find({"site"}, device).looked_in, Not(HasSubstr("fits no better")));
}

TEST_F(baseline_search, refuses_a_bad_file_and_a_missing_folder) {
  auto const path = write("site/1.json", "[]");
  EXPECT_THAT(load_refusal({"site"}), HasSubstr(path.string() + ": /: an array is not an object"));
  EXPECT_THAT(load_refusal({"absent"}),
              HasSubstr((folder_ / "absent").string() + ": cannot be read: No such file"));
  std::filesystem::create_directories(folder_ / "odd/1.json");
  EXPECT_THAT(load_refusal({"odd"}), HasSubstr("1.json: is a directory"));
  std::filesystem::create_directories(folder_ / "empty");
  EXPECT_EQ(load_refusal({"empty"}), "no error");
}

TEST_F(baseline_search, passes_warnings_on) {
  auto const path = write("site/1.json", file(key_device, entry(1, "", "h2d")));
  baseline_library const library({folder_ / "site"}, probes());
  // The shipped files have more probes than this fixture.
  EXPECT_THAT(library.warnings(),
              ::testing::Contains(path.string() + ": /entries/0/probe: this program has no probe "
                                                  "\"h2d\"; the entry is kept and not used"));
  EXPECT_EQ(library.files().front().origin, path.string());
}

}  // namespace
}  // namespace bandgate::testing
