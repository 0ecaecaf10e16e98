// SPDX-License-Identifier: Apache-2.0
#include "records/baseline_text.hpp"

namespace bandgate::testing {
namespace {

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
                 "/entries/0/relative_to: is the probe itself; name another probe"},
        bad_file{
            "ratio_to_an_unknown_probe", changed(unit_of, R"("relative_to": "saxpy")"),
            "/entries/0/relative_to: this program has no probe \"saxpy\"; name one that `list` "
            "prints, or link that one of Bandgate's: bandgate_add_probes(... RELATIVE_TO "
            "saxpy)"},
        bad_file{"ratio_of_a_throughput_to_a_time", changed(unit_of, R"("relative_to": "launch")"),
                 "/entries/0/relative_to: launch is a time, but read is a throughput; name another "
                 "probe"},
        bad_file{"ratio_to_a_series", changed(unit_of, R"("relative_to": "sustained")"),
                 "/entries/0/relative_to: sustained is measured in parts; name another probe"},
        bad_file{
            "ratio_of_peaks",
            changed("\"median\",\n    " + unit_of, R"("peak", "relative_to": "copy")"),
            "/entries/0/relative_to: the ratio to another probe is that of the medians, not of "
            "the peak; remove \"statistic\""},
        bad_file{"negative_ratio",
                 with_entries(R"({"probe": "read", "relative_to": "copy", "value": -0.5,
                   "tolerance": {"lower": -0.1, "upper": null},
                   "provenance": {"kind": "measured"}})"),
                 "/entries/0/value: -0.5 is not above 0; write the reference that is expected"}));

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
        bad_file{
            "unknown_statistic", changed("median", "mean"),
            "/entries/0/statistic: \"mean\" is unknown here; write one of median, peak, worst"},
        bad_file{"worst_of_what_has_no_parts", changed("median", "worst"),
                 "/entries/0/statistic: read is not measured in parts; write \"median\" or "
                 "\"peak\""},
        bad_file{"median_against_itself",
                 changed(R"("unit": "GiB/s")", R"("relative_to": "median")"),
                 "/entries/0/relative_to: the median of a series held against itself holds always; "
                 "add \"statistic\": \"worst\""},
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
                 "memory_gib, peak_gb_s, ecc, mig, expect"},
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

}  // namespace
}  // namespace bandgate::testing
