// SPDX-License-Identifier: Apache-2.0
/// Scripted probes that measure in parts.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bandgate/probe.hpp>

#include "backend/scripted/script.hpp"
#include "backend/scripted/scripted_session.hpp"
#include "scripted_helpers.hpp"

namespace bandgate {
namespace {

using namespace scripted_test;
using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

std::unique_ptr<session> open(json const& attempt) {
  script_file const file(script_of(one_device(attempt)));
  auto const whole = std::make_shared<script const>(read_script(file.path(), {a_probe()}));
  return open_scripted(whole, whole->devices[0], {}, {}, {});
}

/// Three slices of 100 MB, of which the last has a quarter.
probe a_map() {
  auto p = a_probe();
  p.plan = [](parameters const&, device_facts const&) {
    work w{.bytes_per_pass = 100000000};
    w.slice_bytes = w.bytes_per_pass;
    w.slices = 3;
    w.buffers = {{"data", {225000000}}};
    return w;
  };
  return p;
}

double clock_in(health_snapshot const& state) {
  return std::get<double>(state.at("sm_clock_mhz").value);
}

TEST(ScriptedParts, AWindowHasOneValueHoweverManySamples) {
  auto const device = open({{"unit", "GB/s"}, {"parts", {100, 50}}});
  auto const what = device->prepare(a_probe(), {});
  auto& health = device->health();
  EXPECT_EQ(what->timed(0).sample(1), 10ms) << "the warm-up sees the first";
  health.on_phase(phase::sampling);
  for (auto const expected : {10ms, 20ms, 20ms}) {
    health.part_begins(1s);
    for (int i = 0; i < 3; ++i) EXPECT_EQ(what->timed(0).sample(1), expected);
    EXPECT_THAT(health.part_ends(), IsEmpty());
  }
}

TEST(ScriptedParts, EachWindowHasItsState) {
  auto const device = open({{"unit", "GB/s"},
                            {"parts", {100}},
                            {"part_health", {{{"sm_clock_mhz", 1980}}, {{"sm_clock_mhz", 1200}}}}});
  auto const what = device->prepare(a_probe(), {});
  auto& health = device->health();
  for (double const expected : {1980, 1200, 1200}) {
    health.part_begins(1s);
    EXPECT_EQ(clock_in(health.part_ends()), expected);
  }
}

TEST(ScriptedParts, ASliceHasTheValueOfItsNumberAndTheTimeOfItsBytes) {
  auto const device = open({{"unit", "GB/s"}, {"parts", {10, 5, 10}}});
  auto const what = device->prepare(a_map(), {});
  auto const timed = [&](std::uint64_t slice) {
    what->select(slice);
    return what->timed(0).sample(1);
  };
  EXPECT_EQ(timed(0), 10ms);
  EXPECT_EQ(timed(1), 20ms);
  EXPECT_EQ(timed(2), 2500us);
  EXPECT_EQ(timed(0), 10ms);
}

TEST(ScriptedParts, OnlyTheNamedSlicesAreWrong) {
  auto const found = [](json const& extra) {
    json attempt{{"unit", "GB/s"}, {"parts", {10}}};
    attempt.update(extra);
    auto const device = open(attempt);
    auto const what = device->prepare(a_map(), {});
    device->health().on_phase(phase::sampling);
    std::string all;
    for (std::uint64_t slice = 0; slice < 3; ++slice) {
      what->select(slice);
      auto const wrong = what->verify(0);
      all += wrong ? "[" + *wrong + "]" : "-";
    }
    return all;
  };
  EXPECT_EQ(found(json::object()), "---");
  EXPECT_EQ(found({{"wrong_parts", {2}}}),
            "-[GPU-1 at 0000:1b:00.0 (scripted): the words read are not those that were written]-");
  EXPECT_EQ(found({{"wrong_parts", {1, 3}}, {"verified_after_sampling", "no"}}),
            "[GPU-1 at 0000:1b:00.0 (scripted): no]-[GPU-1 at 0000:1b:00.0 (scripted): no]");
  EXPECT_THAT(found({{"verified_after_sampling", false}}), testing::Not(HasSubstr("-[")));
}

TEST(ScriptedParts, SamplesServeWhereThereAreNoParts) {
  auto const device = open({{"unit", "GB/s"}, {"samples", {100, 50}}});
  auto const what = device->prepare(a_probe(), {});
  device->health().on_phase(phase::sampling);
  device->health().part_begins(1s);
  EXPECT_EQ(what->timed(0).sample(1), 10ms);
  EXPECT_EQ(what->timed(0).sample(1), 20ms);
}

TEST(ScriptedParts, ThatCannotBeAreRefusedByName) {
  std::string const at = "/devices/0/probes/read/attempts/0/";
  auto const refusal = [](json const& attempt) -> std::string {
    try {
      open(attempt);
    } catch (usage_error const& e) {
      return std::string(e.what()).substr(std::string(e.what()).find(": ") + 2);
    }
    return "no exception";
  };
  auto const bad = [&](char const* member, json value) {
    json attempt{{"unit", "GB/s"}, {"parts", {1}}};
    attempt[member] = std::move(value);
    return refusal(attempt);
  };
  EXPECT_THAT(bad("parts", json::array()), StartsWith(at + "parts: "));
  EXPECT_THAT(bad("parts", {-1}), StartsWith(at + "parts/0: "));
  EXPECT_THAT(bad("wrong_parts", {0}), StartsWith(at + "wrong_parts/0: "));
  EXPECT_THAT(bad("wrong_parts", 3), StartsWith(at + "wrong_parts: "));
  EXPECT_THAT(bad("part_health", {1}), StartsWith(at + "part_health/0: "));
  EXPECT_THAT(refusal({{"parts", {1}}}), HasSubstr("samples and their unit"));
}

}  // namespace
}  // namespace bandgate
