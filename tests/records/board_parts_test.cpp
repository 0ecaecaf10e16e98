// SPDX-License-Identifier: Apache-2.0
#include <utility>

#include "records/baseline_fixture.hpp"

namespace bandgate::testing {
namespace {

/// The bounds of an entry, in its unit.
std::pair<double, std::optional<double>> bounds(baseline_entry const& e) {
  return {e.value * (1 + e.lower),
          e.upper ? std::optional(e.value * (1 + *e.upper)) : std::nullopt};
}

/// An entry with those tolerances, in JSON.
std::string wide(double value, char const* lower, char const* upper, std::string const& more) {
  return R"({"probe": "read", "value": )" + std::to_string(value) + R"(, "tolerance": {"lower": )" +
         lower + R"(, "upper": )" + upper + R"(}, "provenance": {"kind": "measured"}, )" + more +
         "}";
}
constexpr char const* gib = R"("unit": "GiB/s")";

class without_board_part : public in_a_folder {
 protected:
  baseline_match find(std::string const& probe = "read") const {
    auto device = h200();
    device.board_part = "";
    auto const& what = probe_named(probe);
    return baseline_library({folder_ / "site"}, probes())
        .find(device, what, complete(what.parameters, {}));
  }
  baseline_entry found(std::string const& entries, std::string const& probe = "read") const {
    write("site/1.json", file(R"("match": [{"pci_device": "10de:2335"}])", entries));
    return find(probe).model.value();
  }
};

TEST_F(without_board_part, the_bounds_of_all_hold) {
  auto const e =
      found(wide(200, "-0.1", "0.1", gib) + "," +
            wide(150, "-0.2", "0.1", R"("unit": "GiB/s", "board_part": "part-1")") + "," +
            wide(100, "-0.02", "0.1", R"("unit": "GiB/s", "board_part": "part-2")"));
  EXPECT_EQ(e.value, 100);
  EXPECT_EQ(e.pointer, "/entries/2");
  EXPECT_NEAR(bounds(e).first, 98, 1e-9);
  EXPECT_NEAR(*bounds(e).second, 220, 1e-9);
  EXPECT_EQ(e.board_part, "3 board parts (/entries/0, /entries/1, /entries/2)");
}

TEST_F(without_board_part, one_without_an_upper_bound_leaves_all_without) {
  auto const e = found(wide(100, "-0.1", "0.1", gib) + "," +
                       wide(200, "-0.1", "null", R"("unit": "GiB/s", "board_part": "part-1")"));
  EXPECT_EQ(e.value, 100);
  EXPECT_EQ(e.upper, std::nullopt);
}

TEST_F(without_board_part, the_slowest_of_times_is_the_upper_bound) {
  auto const time = [](double us, std::string const& more) {
    return R"({"probe": "launch", "unit": "us", "value": )" + std::to_string(us) +
           R"(, "tolerance": {"lower": -0.5, "upper": 0.5}, "provenance": {"kind": "measured"})" +
           more + "}";
  };
  auto const e = found(time(8, "") + "," + time(4, R"(, "board_part": "part-1")"), "launch");
  EXPECT_EQ(e.value, 4);
  EXPECT_NEAR(bounds(e).first, 2, 1e-9);
  EXPECT_NEAR(*bounds(e).second, 12, 1e-9);
}

TEST_F(without_board_part, what_cannot_be_joined_is_the_one_of_any_board_part) {
  for (auto const* other :
       {R"("unit": "GB/s", "board_part": "part-1")", R"("unit": "peak", "board_part": "part-1")",
        R"("unit": "GiB/s", "statistic": "peak", "board_part": "part-1")",
        R"("relative_to": "copy", "board_part": "part-1")"}) {
    auto const e = found(wide(0.5, "-0.1", "0.1", other) + "," + wide(200, "-0.1", "0.1", gib));
    EXPECT_EQ(e.value, 200) << other;
    EXPECT_EQ(bounds(e).first, 180) << other;
    EXPECT_EQ(e.board_part, "") << other;
  }
}

TEST_F(without_board_part, the_cards_own_entries_are_apart) {
  auto const uuid = h200().uuid;
  write("site/1.json", file(R"("match": [{"pci_device": "10de:2335"}])",
                            entry(200) + "," + entry(100, R"("card": ")" + uuid + "\"")));
  auto const match = find();
  EXPECT_EQ(match.model->value, 200);
  EXPECT_EQ(match.card->value, 100);
  EXPECT_EQ(match.model->board_part, "");
}

}  // namespace
}  // namespace bandgate::testing
