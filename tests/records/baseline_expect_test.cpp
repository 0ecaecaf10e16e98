// SPDX-License-Identifier: Apache-2.0
// "expect": what a platform has by design.
#include <nlohmann/json.hpp>

#include "records/baseline_text.hpp"

namespace bandgate::testing {
namespace {

using ::testing::HasSubstr;

std::string expecting(std::string const& expect, std::string const& ecc = "") {
  return with_gpu(std::string(R"("aliases": ["A"], )") + ecc + R"("expect": )" + expect);
}

TEST(expectations, are_read) {
  auto const all = parsed(expecting(R"({"ecc": "on", "pcie_generation": 4, "pcie_width": 8,
                                        "power_limit_w": 500.5, "nvlinks": 12})"))
                       .expected;
  EXPECT_EQ(all.ecc, true);
  EXPECT_EQ(all.pcie_generation, 4U);
  EXPECT_EQ(all.pcie_width, 8U);
  EXPECT_EQ(all.power_limit_w, 500.5);
  EXPECT_EQ(all.nvlinks, 12U);
}

TEST(expectations, that_are_not_stated_are_none) {
  for (auto const* text : {"null", "{}", R"({"ecc": null, "pcie_generation": null,
       "pcie_width": null, "power_limit_w": null, "nvlinks": null})"}) {
    auto const all = parsed(expecting(text)).expected;
    EXPECT_FALSE(all.ecc || all.pcie_generation || all.pcie_width || all.power_limit_w ||
                 all.nvlinks)
        << text;
  }
}

TEST(expectations, no_nvlinks_may_be_expected) {
  EXPECT_EQ(parsed(expecting(R"({"nvlinks": 0})")).expected.nvlinks, 0U);
}

struct bad_expectation {
  char const* text;
  char const* message;
};

TEST(expectations, that_cannot_be_meant_are_refused) {
  std::string const whole = "; write what the platform has, without quotes, or remove it";
  for (auto const& [text, message] : std::vector<bad_expectation>{
           {"[]", "/gpu/expect: an array is not an object; write {...} with ecc, pcie_generation"},
           {R"({"pcie_lanes": 8})",
            "/gpu/expect/pcie_lanes: unknown key; remove it, or write one "
            "of ecc, pcie_generation, pcie_width, power_limit_w, nvlinks"},
           {R"({"pcie_width": 7})",
            "/gpu/expect/pcie_width: 7 is no width of a PCIe link; write "
            "1, 2, 4, 8, 12, 16 or 32"},
           {R"({"pcie_width": "x8"})",
            "/gpu/expect/pcie_width: \"x8\" is not a whole number from "
            "1 to 32; write what the platform has, without quotes"},
           {R"({"pcie_generation": 0})",
            "/gpu/expect/pcie_generation: 0 is not a whole number "
            "from 1 to 9; write what the platform has"},
           {R"({"pcie_generation": 4.5})", "4.5 is not a whole number"},
           {R"({"pcie_generation": 4294967300})", "4294967300 is not a whole number"},
           {R"({"nvlinks": -1})", "/gpu/expect/nvlinks: -1 is not a whole number from 0 to 64"},
           {R"({"power_limit_w": -500})", "/gpu/expect/power_limit_w: -500 is not above 0"},
           {R"({"power_limit_w": 0})", "/gpu/expect/power_limit_w: 0 is not above 0"},
           {R"({"power_limit_w": "500"})", "/gpu/expect/power_limit_w: \"500\" is text"},
           {R"({"ecc": true})", "/gpu/expect/ecc: true is unknown here; write one of on, off"},
       })
    EXPECT_THAT(refused(expecting(text)), HasSubstr(message)) << text;
}

TEST(expectations, of_ecc_may_not_contradict_the_key) {
  EXPECT_EQ(refused(expecting(R"({"ecc": "off"})", R"("ecc": "on", )")),
            "site/a.json: /gpu/expect/ecc: contradicts /gpu/ecc; write the same there, or remove "
            "one of them");
  EXPECT_EQ(parsed(expecting(R"({"ecc": "on"})", R"("ecc": "on", )")).expected.ecc, true);
}

TEST(expectations, have_no_place_in_the_generic_file) {
  std::vector<std::string> warnings;
  auto const text = file(R"("expect": {"pcie_width": 8})", "");
  EXPECT_EQ(error_of([&] { parse_baseline(text, "site/_generic.json", probes(), warnings); }),
            "site/_generic.json: /gpu/expect: the generic file speaks of no platform; remove it");
}

class expectation_search : public in_a_folder {
 protected:
  baseline_library library() const {
    return baseline_library({folder_ / "site", folder_ / "more"}, probes());
  }
};

device_identity acme() {
  device_identity d;
  d.name = "ACME x1";
  d.uuid = "GPU-1";
  d.pci_device = "aaaa:0001";
  return d;
}

constexpr char const* by_alias = R"("aliases": ["ACME x1"], )";
constexpr char const* by_device = R"("match": [{"pci_device": "aaaa:0001"}], )";

TEST_F(expectation_search, each_is_of_the_first_file_that_states_it) {
  write("site/wide.json",
        file(std::string(by_alias) + R"("expect": {"pcie_width": 4, "nvlinks": 6})", ""));
  write("site/close.json", file(std::string(by_device) + R"("expect": {"pcie_width": 8})", ""));
  write("more/all.json", file(std::string(by_device) + R"("ecc": "off",
        "expect": {"pcie_width": 16, "nvlinks": 12, "power_limit_w": 500})",
                              ""));
  auto const all = library().expectations_of(acme());
  EXPECT_EQ(all.pcie_width, 8U);
  EXPECT_EQ(all.nvlinks, 6U);
  EXPECT_EQ(all.power_limit_w, 500);
  EXPECT_EQ(all.ecc, false);
  EXPECT_EQ(all.pcie_generation, std::nullopt);
  auto other = acme();
  other.pci_device = "aaaa:0002";
  other.name = "ACME x2";
  EXPECT_EQ(library().expectations_of(other).pcie_width, std::nullopt);
}

TEST_F(expectation_search, of_one_file_hold_for_the_entries_of_another) {
  write("site/platform.json", file(std::string(by_device) + R"("expect": {"pcie_width": 8})", ""));
  write("more/all.json", file(std::string(by_device) + R"("memory_gib": null)",
                              entry(4000) + ", " + entry(3990, R"("card": "GPU-1")")));
  auto const what = probe_named("read");
  auto const match = library().find(acme(), what, complete(what.parameters, {}));
  ASSERT_TRUE(match.model && match.card);
  EXPECT_EQ(match.model->expected.pcie_width, 8U);
  EXPECT_EQ(match.card->expected.pcie_width, 8U);
}

TEST_F(expectation_search, a_recording_keeps_them) {
  std::string const mine = file(R"("match": [{"pci_device": "10de:2335"}],
      "expect": {"pcie_width": 8, "ecc": "on"})",
                                "");
  auto const what = make_entry(seen({{4302, 4303}}), std::nullopt, {});
  auto const text = merge_baseline(mine, h200(), {what}, probes());
  EXPECT_EQ(nlohmann::json::parse(text)["gpu"]["expect"],
            (nlohmann::json{{"pcie_width", 8}, {"ecc", "on"}}));
  EXPECT_EQ(nlohmann::json::parse(text)["entries"].size(), 1U);
}

}  // namespace
}  // namespace bandgate::testing
