// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "records/baseline_text.hpp"

namespace bandgate::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

TEST(parse_baseline, reads_all_of_a_file) {
  auto const read = parsed(R"({
    "schema": "bandgate.baseline/1",
    "gpu": {
      "model": "NVIDIA H200",
      "match": [{"pci_device": "10de:2335", "pci_subsystem": "10de:18bf",
                 "board_part": "692-2G520-0282-001"}, {"pci_device": "10de:2336"}],
      "aliases": ["NVIDIA H200"], "memory_gib": [141, 70.5], "peak_gb_s": 4814.3, "ecc": "on",
      "mig": "1g.18gb"},
    "entries": [
      {"probe": "read", "unit": "GB/s", "value": 4619.2, "statistic": "peak",
       "parameters": {"size": "8GiB"}, "card": "GPU-1", "board_part": "692-2G520-0282-000",
       "tolerance": {"lower": -0.01, "upper": null},
       "provenance": {"kind": "published", "source": "a paper", "cards": 2, "processes": 10,
                      "driver": "580", "date": "2026-11-29", "tool": "0.1.0", "note": "why"}},
      {"probe": "copy", "relative_to": "read", "value": 0.93,
       "tolerance": {"lower": -0.05, "upper": 0.05}, "provenance": {"kind": "measured"}}]})");
  EXPECT_EQ(read.origin, "site/a.json");
  EXPECT_EQ(read.model, "NVIDIA H200");
  ASSERT_EQ(read.match.size(), 2U);
  EXPECT_EQ(read.match[0].pci_device, "10de:2335");
  EXPECT_EQ(read.match[0].pci_subsystem, "10de:18bf");
  EXPECT_EQ(read.match[0].board_part, "692-2G520-0282-001");
  EXPECT_EQ(read.match[1].pci_subsystem, "");
  EXPECT_THAT(read.aliases, ElementsAre("NVIDIA H200"));
  EXPECT_THAT(read.memory_gib, ElementsAre(141, 70.5));
  EXPECT_EQ(read.peak_gb_s, 4814.3);
  EXPECT_EQ(read.ecc, true);
  EXPECT_EQ(read.mig, "1g.18gb");
  EXPECT_FALSE(read.generic);
  ASSERT_EQ(read.entries.size(), 2U);
  auto const& entry = read.entries[0];
  EXPECT_EQ(entry.file, "site/a.json");
  EXPECT_EQ(entry.pointer, "/entries/0");
  EXPECT_EQ(entry.probe, "read");
  EXPECT_EQ(entry.parameters, (parameters{{"size", std::uint64_t{8589934592}}}));
  EXPECT_EQ(entry.statistic, "peak");
  EXPECT_EQ(entry.unit, unit::gb_per_s);
  EXPECT_EQ(entry.value, 4619.2);
  EXPECT_EQ(entry.lower, -0.01);
  EXPECT_EQ(entry.upper, std::nullopt);
  EXPECT_EQ(entry.card, "GPU-1");
  EXPECT_EQ(entry.board_part, "692-2G520-0282-000");
  EXPECT_EQ(entry.ecc, true);
  EXPECT_EQ(entry.model_peak_bytes_per_second, 4814.3e9);
  EXPECT_EQ(entry.provenance.kind, "published");
  EXPECT_EQ(entry.provenance.source, "a paper");
  EXPECT_EQ(entry.provenance.cards, 2U);
  EXPECT_EQ(entry.provenance.processes, 10U);
  EXPECT_EQ(entry.provenance.driver, "580");
  EXPECT_EQ(entry.provenance.date, "2026-11-29");
  EXPECT_EQ(entry.provenance.tool, "0.1.0");
  EXPECT_EQ(entry.provenance.note, "why");
  EXPECT_EQ(read.entries[1].statistic, "median");
  EXPECT_EQ(read.entries[1].relative_to, "read");
  EXPECT_EQ(read.entries[1].unit, std::nullopt);
  EXPECT_EQ(read.entries[1].parameters, (parameters{{"size", std::string("auto")}}));
}

TEST(parse_baseline, refuses_text_that_is_not_json) {
  for (auto const& text :
       {changed(value_of, R"("value": NaN)"), changed(value_of, R"("value": Infinity)"),
        changed(value_of, R"("value": 1e999)"),
        changed("read",
                "re\xff"
                "ad"),
        changed("read", std::string("re\0ad", 5)), changed(value_of, "\"value\": 1, \"value\": 2"),
        changed(value_of, R"("value": 4302 /* GiB/s */)"), changed("", "").substr(0, 200),
        std::string(" "), std::string("null and void")})
    EXPECT_THAT(refused(text), ::testing::MatchesRegex("site/a.json: line [0-9]+, column .*"))
        << text;
  EXPECT_EQ(refused(""), "site/a.json: is empty; it must hold a JSON document");
}

TEST(parse_baseline, converts_units_before_it_compares_with_the_peak) {
  EXPECT_EQ(refused(changed(value_of, R"("value": 4483)")), "no error");
  auto const gb = [](char const* value) {
    return with_entries(R"({"probe": "read", "unit": "GB/s", "value": )" + std::string(value) +
                        R"(, "tolerance": {"lower": -0.1, "upper": null},
                         "provenance": {"kind": "measured"}})");
  };
  EXPECT_EQ(refused(gb("4814.3")), "no error");
  EXPECT_EQ(refused(gb("4814.4")),
            "site/a.json: /entries/0/value: 4814.4 GB/s is above the model's peak of 4814.3 GB/s "
            "(4483.7 GiB/s); correct the value, its unit or /gpu/peak_gb_s");
}

TEST(parse_baseline, lets_a_probe_without_ceiling_be_faster_than_dram) {
  EXPECT_EQ(refused(with_entries(entry(9000, "", "l2_read"))), "no error");
}

TEST(parse_baseline, accepts_the_bounds_of_what_is_allowed) {
  EXPECT_EQ(refused(changed(upper_of, R"("upper": 1)")), "no error");
  EXPECT_EQ(refused(changed(lower_of, R"("lower": -0.999)")), "no error");
  EXPECT_EQ(refused(with_entries(R"({"probe": "read", "unit": "peak", "value": 1,
    "tolerance": {"lower": -0.1, "upper": null}, "provenance": {"kind": "peak-fraction"}})")),
            "no error");
}

TEST(parse_baseline, takes_parameters_as_numbers_and_as_text) {
  auto const one = [](std::string const& given) {
    auto const read = parsed(with_entries(entry(1, R"("parameters": )" + given, "read_window")));
    return read.entries[0].parameters;
  };
  parameters const expected{{"window", std::uint64_t{4194304}},
                            {"stride", std::uint64_t{3}},
                            {"dtype", std::string("f64")}};
  EXPECT_EQ(one(R"({"window": "4MiB", "stride": 3, "dtype": "f64"})"), expected);
  EXPECT_EQ(one(R"({"window": 4194304, "stride": "3", "dtype": "f64"})"), expected);
}

TEST(parse_baseline, tells_entries_apart_by_parameters_card_and_board_part) {
  auto const text =
      with_entries(entry(1) + "," + entry(1, R"("parameters": {"size": "1GiB"})") + "," +
                   entry(1, R"("card": "GPU-1")") + "," + entry(1, R"("card": "GPU-2")") + "," +
                   entry(1, R"("board_part": "692")"));
  EXPECT_EQ(parsed(text).entries.size(), 5U);
}

TEST(parse_baseline, refuses_a_second_statistic_of_which_only_the_first_would_be_applied) {
  EXPECT_THROW(parsed(with_entries(entry(1) + "," + entry(1, R"("statistic": "peak")"))),
               usage_error);
}

TEST(parse_baseline, keeps_and_names_an_entry_of_an_unknown_probe) {
  std::vector<std::string> warnings;
  auto const text = with_entries(
      entry(1, R"("parameters": {"anything": "goes"}, "platform": {"pcie_width": 16})", "h2d") +
      "," + entry(2));
  auto const read = parse_baseline(text, "site/a.json", probes(), warnings);
  EXPECT_THAT(warnings, ElementsAre("site/a.json: /entries/0/probe: this program has no probe "
                                    "\"h2d\"; the entry is kept and not used"));
  ASSERT_EQ(read.entries.size(), 2U);
  EXPECT_EQ(read.entries[0].probe, "h2d");
  EXPECT_EQ(read.entries[0].parameters, (parameters{{"anything", std::string("goes")}}));
}

TEST(parse_baseline, takes_null_for_what_is_not_stated) {
  auto const read =
      parsed(with_gpu(R"("aliases": ["A"], "memory_gib": null, "peak_gb_s": null, "ecc": null,
                  "mig": null)"));
  EXPECT_TRUE(read.memory_gib.empty());
  EXPECT_EQ(read.peak_gb_s, std::nullopt);
  EXPECT_EQ(read.ecc, std::nullopt);
  EXPECT_EQ(read.mig, "");
}

std::string generic(std::string const& text) {
  std::vector<std::string> warnings;
  return error_of([&] { parse_baseline(text, "site/_generic.json", probes(), warnings); });
}

TEST(parse_baseline, holds_the_generic_file_to_shares_of_every_model) {
  std::string const no_key = R"("peak_gb_s": null)";
  EXPECT_EQ(generic(file(no_key, entry(4302))),
            "site/_generic.json: /entries/0/unit: holds for every model; write \"unit\": \"peak\" "
            "and a share as value");
  EXPECT_EQ(generic(with_gpu(R"("aliases": ["A"])")),
            "site/_generic.json: /gpu: the generic file holds for every model; leave match and "
            "aliases out");
  EXPECT_EQ(generic(file(no_key, R"({"probe": "read", "unit": "peak", "value": 0.5,
      "card": "GPU-1", "tolerance": {"lower": -0.1, "upper": null},
      "provenance": {"kind": "peak-fraction"}})")),
            "site/_generic.json: /entries/0/card: the generic file speaks of no single card; "
            "remove it");
  EXPECT_EQ(generic(with_gpu(no_key)), "no error");
}

class read_baseline_file : public in_a_folder {
 protected:
  static std::string refused(std::filesystem::path const& path) {
    std::vector<std::string> warnings;
    return error_of([&] { read_baseline(path, probes(), warnings); });
  }
};

TEST_F(read_baseline_file, names_the_path) {
  auto const path = write("a.json", changed(value_of, R"("value": 0)"));
  EXPECT_EQ(refused(path), path.string() +
                               ": /entries/0/value: 0 is not above 0; write the reference that is "
                               "expected");
}

TEST_F(read_baseline_file, refuses_what_is_no_small_file) {
  auto const big = write("big.json", "");
  std::filesystem::resize_file(big, 2'000'000'000);  // sparse
  EXPECT_THAT(refused(big), StartsWith(big.string() + ": has 2000000000 bytes, more than the "));
  EXPECT_THAT(refused(folder_), StartsWith(folder_.string() + ": is a directory"));
  EXPECT_THAT(refused("/dev/zero"), StartsWith("/dev/zero: is a device"));
  auto const absent = folder_ / "absent.json";
  EXPECT_THAT(refused(absent),
              StartsWith(absent.string() + ": cannot be read: No such file or directory"));
  auto const pipe = folder_ / "pipe.json";
  ASSERT_EQ(mkfifo(pipe.c_str(), 0600), 0);
  EXPECT_THAT(refused(pipe), HasSubstr("is a FIFO"));
}

}  // namespace
}  // namespace bandgate::testing
