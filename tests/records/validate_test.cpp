// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <stdexcept>
#include <string>

#include <gmock/gmock.h>
#include <nlohmann/json.hpp>

#include <bandgate/errors.hpp>

#include "records/schema.hpp"
#include "records/temporary_folder.hpp"

namespace bandgate {
namespace {

using nlohmann::json;
using testing::error_of;
using ::testing::HasSubstr;

json sound_baseline() {
  return json::parse(R"({
    "schema": "bandgate.baseline/1",
    "gpu": {"model": "NVIDIA H200", "match": [{"pci_device": "10de:2335"}], "aliases": ["H200"],
            "memory_gib": 141, "peak_gb_s": 4814.3, "ecc": "on", "mig": null},
    "entries": [{"probe": "read", "parameters": {"window": "64MiB"}, "statistic": "median",
                 "unit": "GiB/s", "value": 4302, "tolerance": {"lower": -0.01, "upper": 0.01},
                 "provenance": {"kind": "measured", "cards": 1, "date": "2026-11-29"}}]})");
}

std::string refusal(json const& document) {
  return error_of([&] { validate(document, "baseline", "b.json"); });
}

std::string with(char const* pointer, json value) {
  auto document = sound_baseline();
  document[json::json_pointer(pointer)] = std::move(value);
  return refusal(document);
}

std::string without(char const* parent, char const* key) {
  auto document = sound_baseline();
  document[json::json_pointer(parent)].erase(key);
  return refusal(document);
}

TEST(Validate, AcceptsWhatIsSound) {
  EXPECT_EQ(refusal(sound_baseline()), "no error");
  EXPECT_EQ(with("/entries/0/tolerance/upper", nullptr), "no error");
  EXPECT_EQ(with("/gpu/memory_gib", json::array({40, 80})), "no error");
  EXPECT_EQ(with("/gpu/ecc", nullptr), "no error");
  EXPECT_EQ(with("/entries/0/unit", "peak"), "no error");
}

TEST(Validate, NamesPlaceValueAndRule) {
  EXPECT_EQ(with("/entries/0/value", "2000"), "b.json: /entries/0/value: \"2000\" is not a number");
  EXPECT_EQ(with("/entries/0/value", nullptr), "b.json: /entries/0/value: null is not a number");
  EXPECT_EQ(with("/entries/0/value", 0), "b.json: /entries/0/value: 0 is not above 0");
  EXPECT_EQ(with("/entries/0/value", -5.5), "b.json: /entries/0/value: -5.5 is not above 0");
  EXPECT_EQ(with("/entries/0/value", json::array()),
            "b.json: /entries/0/value: an array is not a number");
  EXPECT_EQ(with("/entries/0/unit", "GB"),
            "b.json: /entries/0/unit: \"GB\" is none of \"GB/s\", \"GiB/s\", \"MB/s\", \"MiB/s\", "
            "\"B/s\", \"us\", \"peak\"");
  EXPECT_EQ(with("/gpu/match/0/pci_device", "10DE:2335"),
            "b.json: /gpu/match/0/pci_device: \"10DE:2335\" is not vendor and device id in "
            "lower-case hex, such as 10de:2335");
  EXPECT_EQ(with("/gpu/model", ""), "b.json: /gpu/model: \"\" is too short");
  EXPECT_THAT(with("/gpu/model", std::string(401, 'x')),
              HasSubstr("... is longer than 400 characters"));
  EXPECT_EQ(with("/entries/0/provenance/cards", 0),
            "b.json: /entries/0/provenance/cards: 0 is below 1");
  EXPECT_EQ(with("/entries/0/provenance/cards", 1.5),
            "b.json: /entries/0/provenance/cards: 1.5 is not a whole number");
}

TEST(Validate, BoundsTolerances) {
  for (double const bad : {0.0, 0.01, -1.0, -1.5})
    EXPECT_THAT(with("/entries/0/tolerance/lower", bad),
                HasSubstr("b.json: /entries/0/tolerance/lower: "));
  for (double const bad : {0.0, -0.01, 1.01, 105.0})
    EXPECT_THAT(with("/entries/0/tolerance/upper", bad),
                HasSubstr("b.json: /entries/0/tolerance/upper: "));
  EXPECT_EQ(with("/entries/0/tolerance/upper", 1), "no error");
  EXPECT_EQ(with("/entries/0/tolerance/lower", -0.999), "no error");
}

TEST(Validate, NamesMissingAndUnknownKeys) {
  EXPECT_EQ(without("/entries/0", "value"), "b.json: /entries/0: lacks the key \"value\"");
  EXPECT_EQ(without("", "gpu"), "b.json: lacks the key \"gpu\"");
  auto misspelt = sound_baseline();
  auto& tolerance = misspelt["entries"][0]["tolerance"];
  tolerance = {{"lower", -0.01}, {"uper", 0.01}};
  EXPECT_EQ(refusal(misspelt),
            "b.json: /entries/0/tolerance/uper: is an unknown key; known here are lower, upper");
  EXPECT_THAT(with("/gpu/a~1b\n", 1), HasSubstr("b.json: /gpu/a~1b?: is an unknown key"));
}

TEST(Validate, NamesCombinations) {
  auto const reason =
      "b.json: /entries/0: An entry has either a unit or relative_to (then its value is a plain "
      "ratio), not both.";
  EXPECT_EQ(without("/entries/0", "unit"), reason);
  EXPECT_EQ(with("/entries/0/relative_to", "copy"), reason);
}

TEST(Validate, ReportsTheDeepestPlaceFirst) {
  auto document = sound_baseline();
  document["extra"] = 1;
  document["entries"][0]["tolerance"]["lower"] = 1;
  EXPECT_THAT(refusal(document), HasSubstr("b.json: /entries/0/tolerance/lower: 1 is not below 0"));
}

TEST(Validate, ShortensWhatItQuotes) {
  EXPECT_EQ(with("/entries/0/unit", std::string(100'000, 'u')).substr(0, 91),
            "b.json: /entries/0/unit: \"" + std::string(59, 'u') + "... is");
  EXPECT_EQ(with("/entries/0/unit", "\x1b[31m\n\xff").substr(0, 50),
            R"(b.json: /entries/0/unit: "\u001b[31m\n\ufffd" is n)");
}

TEST(Validate, TellsTypesApart) {
  EXPECT_EQ(refusal(json::array()), "b.json: an array is not an object");
  EXPECT_EQ(refusal(nullptr), "b.json: null is not an object");
  EXPECT_EQ(with("/entries", json::object()), "b.json: /entries: an object is not an array");
  EXPECT_EQ(with("/entries/0/value", true), "b.json: /entries/0/value: true is not a number");
}

TEST(Validate, KnowsItsSchemasOnly) {
  EXPECT_THROW(validate(sound_baseline(), "nonsense", "b.json"), std::logic_error);
}

TEST(Embedded, HoldsEverySchemaAndEveryBaseline) {
  auto const has = [](std::string_view name) {
    auto const& all = embedded_schemas();
    return std::any_of(all.begin(), all.end(), [&](auto const& f) { return f.name == name; });
  };
  EXPECT_TRUE(has("result.schema.json"));
  EXPECT_TRUE(has("baseline.schema.json"));
  for (auto const& file : embedded_schemas())
    EXPECT_TRUE(parse_strict(std::string(file.text), std::string(file.name)).is_object());
  for (auto const& file : embedded_baselines())
    EXPECT_EQ(error_of([&] {
                auto const origin = std::string(file.name);
                validate(parse_strict(std::string(file.text), origin), "baseline", origin);
              }),
              "no error");
}

}  // namespace
}  // namespace bandgate
