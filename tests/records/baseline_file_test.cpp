// SPDX-License-Identifier: Apache-2.0
#include <gmock/gmock.h>
#include <sys/stat.h>

#include "records/baseline_fixture.hpp"

namespace bandgate::testing {
namespace {

using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::StartsWith;

constexpr char const* gpu_a = R"("aliases": ["A"], "peak_gb_s": 4814.3)";

baseline_file parsed(std::string const& text) {
  std::vector<std::string> warnings;
  return parse_baseline(text, "site/a.json", probes(), warnings);
}
std::string refused(std::string const& text) {
  return error_of([&] { parsed(text); });
}

/// A file with one entry of which some text is replaced.
std::string changed(std::string const& from, std::string const& to) {
  std::string text = file(gpu_a, R"({"probe": "read", "parameters": {}, "statistic": "median",
    "unit": "GiB/s", "value": 4302, "tolerance": {"lower": -0.01, "upper": 0.02},
    "provenance": {"kind": "measured", "cards": 1, "processes": 10, "driver": "580.159.04",
                   "date": "2026-11-29", "tool": "0.1.0"}})");
  auto const at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("no " + from);
  return text.replace(at, from.size(), to);
}

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

struct bad_file {
  char const* name;
  std::string text;
  std::string message;
};
void PrintTo(bad_file const& bad, std::ostream* out) {
  *out << bad.name;
}

class bad_baseline : public ::testing::TestWithParam<bad_file> {};

TEST_P(bad_baseline, is_refused_with_file_place_reason_and_remedy) {
  EXPECT_EQ(refused(GetParam().text), "site/a.json: " + GetParam().message);
}

std::string with_entries(std::string const& entries) {
  return file(gpu_a, entries);
}
std::string with_gpu(std::string const& gpu) {
  return file(gpu, "");
}
std::string const value_of = R"("value": 4302)", lower_of = R"("lower": -0.01)",
                  upper_of = R"("upper": 0.02)", unit_of = R"("unit": "GiB/s")",
                  kind_of = R"("kind": "measured")";

std::string const number_remedy = "write a number, without quotes or unit";
std::string const lower_remedy =
    "write a share of the value, such as -0.01 for one percent below it";
std::string const upper_remedy =
    "write a share of the value, such as 0.01 for one percent above it, or null";
std::string const unit_remedy = "write one of B/s, MB/s, MiB/s, GB/s, GiB/s, us or peak";
std::string const id_remedy =
    "write vendor:device in lower-case hexadecimal, such as \"10de:2335\"";

INSTANTIATE_TEST_SUITE_P(
    value, bad_baseline,
    ::testing::Values(
        bad_file{"zero", changed(value_of, R"("value": 0)"),
                 "/entries/0/value: 0 is not above 0; write the reference that is expected"},
        bad_file{"negative", changed(value_of, R"("value": -4302)"),
                 "/entries/0/value: -4302 is not above 0; write the reference that is expected"},
        bad_file{"null", changed(value_of, R"("value": null)"),
                 "/entries/0/value: null is not a number; write a number"},
        bad_file{"text", changed(value_of, R"("value": "2000")"),
                 "/entries/0/value: \"2000\" is text; " + number_remedy},
        bad_file{"percent", changed(value_of, R"("value": "2%")"),
                 "/entries/0/value: \"2%\" is text; " + number_remedy},
        bad_file{"truth", changed(value_of, R"("value": true)"),
                 "/entries/0/value: true is not a number; write a number"},
        bad_file{"list", changed(value_of, R"("value": [4302])"),
                 "/entries/0/value: an array is not a number; write a number"},
        bad_file{"missing", changed(value_of + ",", ""),
                 "/entries/0: \"value\" is missing; add it"},
        bad_file{"above_the_peak", changed(value_of, R"("value": 4500)"),
                 "/entries/0/value: 4500 GiB/s is above the model's peak of 4814.3 GB/s (4483.7 "
                 "GiB/s); correct the value, its unit or /gpu/peak_gb_s"},
        bad_file{"a_thousand_times_too_much",
                 changed(value_of + R"(, "tolerance")", R"("value": 4302000, "tolerance")"),
                 "/entries/0/value: 4302000 GiB/s is above the model's peak of 4814.3 GB/s (4483.7 "
                 "GiB/s); correct the value, its unit or /gpu/peak_gb_s"},
        bad_file{"share_above_one", with_entries(R"({"probe": "read", "unit": "peak", "value": 1.01,
                   "tolerance": {"lower": -0.1, "upper": null},
                   "provenance": {"kind": "peak-fraction"}})"),
                 "/entries/0/value: 1.01 is above the device's own peak; write a share from 0 to "
                 "1"}));

INSTANTIATE_TEST_SUITE_P(
    unit, bad_baseline,
    ::testing::Values(
        bad_file{"bare", changed(unit_of, R"("unit": "GB")"),
                 "/entries/0/unit: \"GB\" is not a unit; " + unit_remedy},
        bad_file{"unknown", changed(unit_of, R"("unit": "furlongs")"),
                 "/entries/0/unit: \"furlongs\" is not a unit; " + unit_remedy},
        bad_file{"lower_case", changed(unit_of, R"("unit": "gb/s")"),
                 "/entries/0/unit: \"gb/s\" is not a unit; " + unit_remedy},
        bad_file{"empty", changed(unit_of, R"("unit": "")"),
                 "/entries/0/unit: \"\" is not a text; write a text that is not empty, in quotes"},
        bad_file{"missing", changed(unit_of + ",", ""), "/entries/0: \"unit\" is missing; add it"},
        bad_file{"time_of_a_throughput", changed(unit_of, R"("unit": "us")"),
                 "/entries/0/unit: read is a throughput; write a unit of throughput, such as "
                 "GiB/s"},
        bad_file{"throughput_of_a_time", with_entries(entry(2, "", "launch")),
                 "/entries/0/unit: launch is a time; write us"},
        bad_file{"beside_a_ratio", changed(unit_of, R"("unit": "GiB/s", "relative_to": "copy")"),
                 "/entries/0/unit: a ratio to another probe has no unit; remove unit or "
                 "relative_to"},
        bad_file{"ratio_to_itself", changed(unit_of, R"("relative_to": "read")"),
                 "/entries/0/relative_to: is the probe itself; name another probe"}));

INSTANTIATE_TEST_SUITE_P(
    tolerance, bad_baseline,
    ::testing::Values(
        bad_file{"lower_zero", changed(lower_of, R"("lower": 0)"),
                 "/entries/0/tolerance/lower: 0 is not between -1 and 0; " + lower_remedy},
        bad_file{"lower_positive", changed(lower_of, R"("lower": 0.01)"),
                 "/entries/0/tolerance/lower: 0.01 is not between -1 and 0; " + lower_remedy},
        bad_file{"lower_one", changed(lower_of, R"("lower": -1)"),
                 "/entries/0/tolerance/lower: -1 is not between -1 and 0; " + lower_remedy},
        bad_file{"lower_above_one", changed(lower_of, R"("lower": -1.5)"),
                 "/entries/0/tolerance/lower: -1.5 is not between -1 and 0; " + lower_remedy},
        bad_file{"lower_null", changed(lower_of, R"("lower": null)"),
                 "/entries/0/tolerance/lower: null is not a number; write a number"},
        bad_file{"upper_zero", changed(upper_of, R"("upper": 0)"),
                 "/entries/0/tolerance/upper: 0 is not above 0 and at most 1; " + upper_remedy},
        bad_file{"upper_negative", changed(upper_of, R"("upper": -0.02)"),
                 "/entries/0/tolerance/upper: -0.02 is not above 0 and at most 1; " + upper_remedy},
        bad_file{"upper_in_percent", changed(upper_of, R"("upper": 105)"),
                 "/entries/0/tolerance/upper: 105 is not above 0 and at most 1; " + upper_remedy},
        bad_file{"upper_missing", changed(", " + upper_of, ""),
                 "/entries/0/tolerance: \"upper\" is missing; add it"},
        bad_file{"a_number", changed(R"({"lower": -0.01, "upper": 0.02})", "0.01"),
                 "/entries/0/tolerance: 0.01 is not an object; write {...} with lower, upper"},
        bad_file{"unbounded_time", with_entries(R"({"probe": "launch", "unit": "us", "value": 2,
                   "tolerance": {"lower": -0.1, "upper": null},
                   "provenance": {"kind": "measured"}})"),
                 "/entries/0/tolerance/upper: null leaves launch unbounded, of which less is "
                 "better; write the share above the value that is a regression, such as 0.1"}));

INSTANTIATE_TEST_SUITE_P(
    entry, bad_baseline,
    ::testing::Values(
        bad_file{"unknown_key", changed(kind_of, R"("kind": "measured", "who": "me")"),
                 "/entries/0/provenance/who: unknown key; remove it, or write one of kind, source, "
                 "cards, processes, driver, date, tool, note"},
        bad_file{"unknown_key_of_the_entry", changed(value_of, R"("value": 4302, "max": 1)"),
                 "/entries/0/max: unknown key; remove it, or write one of probe, parameters, "
                 "statistic, unit, relative_to, value, tolerance, card, board_part, platform, "
                 "provenance"},
        bad_file{"unknown_kind", changed(kind_of, R"("kind": "guessed")"),
                 "/entries/0/provenance/kind: \"guessed\" is unknown here; write one of measured, "
                 "published, peak-fraction"},
        bad_file{"no_source", changed(kind_of, R"("kind": "published")"),
                 "/entries/0/provenance: a published figure names no source; add \"source\""},
        bad_file{"fraction_without_peak", changed(kind_of, R"("kind": "peak-fraction")"),
                 "/entries/0/provenance/kind: a peak-fraction is a share of the peak; write "
                 "\"unit\": \"peak\""},
        bad_file{"not_a_date", changed("2026-11-29", "29.11.2026"),
                 "/entries/0/provenance/date: \"29.11.2026\" is not a date; write 2026-11-29"},
        bad_file{"no_card", changed(R"("cards": 1)", R"("cards": 0)"),
                 "/entries/0/provenance/cards: 0 is not a count; write a whole number from 1 to "
                 "1000000"},
        bad_file{"unknown_statistic", changed("median", "mean"),
                 "/entries/0/statistic: \"mean\" is unknown here; write one of median, peak"},
        bad_file{"empty_card", changed(value_of, R"("value": 4302, "card": "")"),
                 "/entries/0/card: \"\" is not a text; write a text that is not empty, in quotes"},
        bad_file{"platform_without_effect",
                 changed(value_of, R"("value": 4302, "platform": {"pcie_width": 16})"),
                 "/entries/0/platform: read does not depend on the platform; remove it"},
        bad_file{"second_for_the_same",
                 with_entries(entry(4302) + "," + entry(1, "", "copy") + "," +
                              entry(4300, R"("parameters": {"size": "auto"})")),
                 "/entries/2: a second entry for read with the parameters of /entries/0; remove "
                 "one of them (parameters left out have the probe's defaults)"},
        bad_file{"second_for_the_same_card",
                 with_entries(entry(4302, R"("card": "GPU-1")") + "," +
                              entry(4300, R"("card": "GPU-1")")),
                 "/entries/1: a second entry for read with the parameters of /entries/0; remove "
                 "one of them (parameters left out have the probe's defaults)"},
        bad_file{"unknown_parameter", with_entries(entry(4302, R"("parameters": {"a/b": 1})")),
                 "/entries/0/parameters/a~1b: unknown parameter 'a/b'; this probe has size; see: "
                 "bandgate list --verbose"},
        bad_file{"bad_parameter", with_entries(entry(4302, R"("parameters": {"size": "64XB"})")),
                 "/entries/0/parameters/size: parameter size=64XB: has an unknown unit 'XB'; write "
                 "a size such as 64MiB, 20G (= 20GiB) or 20GB (10^9); see: bandgate list "
                 "--verbose"},
        bad_file{"fraction_as_parameter",
                 with_entries(entry(4302, R"("parameters": {"size": 1.5})")),
                 "/entries/0/parameters/size: 1.5 is not a parameter; write a whole number, or "
                 "text such as \"64MiB\""},
        bad_file{"parameters_in_a_list", with_entries(entry(4302, R"("parameters": ["64MiB"])")),
                 "/entries/0/parameters: an array is not an object; write {...}, {} for the "
                 "defaults"},
        bad_file{"not_an_object", with_entries("4302"),
                 "/entries/0: 4302 is not an object; write {...} with probe, parameters, "
                 "statistic, unit, relative_to, value, tolerance, card, board_part, platform, "
                 "provenance"}));

INSTANTIATE_TEST_SUITE_P(
    gpu, bad_baseline,
    ::testing::Values(
        bad_file{"id_without_vendor", with_gpu(R"("match": [{"pci_device": "2335"}])"),
                 "/gpu/match/0/pci_device: \"2335\" is not a PCI id; " + id_remedy},
        bad_file{"id_of_nvml", with_gpu(R"("match": [{"pci_device": "0x233510DE"}])"),
                 "/gpu/match/0/pci_device: \"0x233510DE\" is not a PCI id; " + id_remedy},
        bad_file{"id_in_upper_case", with_gpu(R"("match": [{"pci_device": "10de:2335",
                   "pci_subsystem": "10DE:18BF"}])"),
                 "/gpu/match/0/pci_subsystem: \"10DE:18BF\" is not a PCI id; " + id_remedy},
        bad_file{"id_with_a_letter", with_gpu(R"("match": [{"pci_device": "10de:233g"}])"),
                 "/gpu/match/0/pci_device: \"10de:233g\" is not a PCI id; " + id_remedy},
        bad_file{"id_as_number", with_gpu(R"("match": [{"pci_device": 2335}])"),
                 "/gpu/match/0/pci_device: 2335 is not a text; write a text that is not empty, in "
                 "quotes"},
        bad_file{"board_without_subsystem",
                 with_gpu(R"("match": [{"pci_device": "10de:2335", "board_part": "692"}])"),
                 "/gpu/match/0: a board part number without its subsystem; add "
                 "\"pci_subsystem\""},
        bad_file{"unknown_key", with_gpu(R"("aliases": ["A"], "vendor": "NVIDIA")"),
                 "/gpu/vendor: unknown key; remove it, or write one of model, match, aliases, "
                 "memory_gib, peak_gb_s, ecc, mig"},
        bad_file{"names_nothing", with_gpu(R"("match": [])"),
                 "/gpu: neither match nor aliases name a device; add one of them"},
        bad_file{"blank_alias", with_gpu(R"("aliases": ["A", " (TM) "])"),
                 "/gpu/aliases/1: \" (TM) \" names no device; remove it"},
        bad_file{"memory_zero", with_gpu(R"("aliases": ["A"], "memory_gib": [16, 0])"),
                 "/gpu/memory_gib/1: 0 is not above 0; write what the card has"},
        bad_file{"memory_of_none", with_gpu(R"("aliases": ["A"], "memory_gib": [])"),
                 "/gpu/memory_gib: an empty list fits no card; write the sizes in GiB, or null"},
        bad_file{"peak_negative", with_gpu(R"("aliases": ["A"], "peak_gb_s": -1)"),
                 "/gpu/peak_gb_s: -1 is not above 0; write what the card has"},
        bad_file{"ecc_as_truth", with_gpu(R"("aliases": ["A"], "ecc": true)"),
                 "/gpu/ecc: true is unknown here; write one of on, off"},
        bad_file{"no_model", R"({"schema": "bandgate.baseline/1", "gpu": {}, "entries": []})",
                 "/gpu: \"model\" is missing; add it"}));

INSTANTIATE_TEST_SUITE_P(
    document, bad_baseline,
    ::testing::Values(
        bad_file{"top_level_list", "[]",
                 "/: an array is not an object; write {...} with schema, gpu, entries"},
        bad_file{"other_schema", R"({"schema": "bandgate.result/1", "gpu": {}, "entries": []})",
                 "/schema: \"bandgate.result/1\" is unknown here; write one of "
                 "bandgate.baseline/1"},
        bad_file{"no_entries", R"({"schema": "bandgate.baseline/1",
          "gpu": {"model": "A", "aliases": ["A"]}})",
                 "/: \"entries\" is missing; add it"},
        bad_file{"entries_in_an_object", R"({"schema": "bandgate.baseline/1",
          "gpu": {"model": "A", "aliases": ["A"]}, "entries": {}})",
                 "/entries: an object is not an array; write [...]"}));

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

TEST(parse_baseline, tells_entries_apart_by_parameters_statistic_card_and_board_part) {
  auto const text =
      with_entries(entry(1) + "," + entry(1, R"("parameters": {"size": "1GiB"})") + "," +
                   entry(1, R"("statistic": "peak")") + "," + entry(1, R"("card": "GPU-1")") + "," +
                   entry(1, R"("card": "GPU-2")") + "," + entry(1, R"("board_part": "692")"));
  EXPECT_EQ(parsed(text).entries.size(), 6U);
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
