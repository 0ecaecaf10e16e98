// SPDX-License-Identifier: Apache-2.0
// The fire drills that the documentation shows, measured by the real protocol on the real probes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bandgate/observer.hpp>
#include <filesystem>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "backend/scripted/scripted_backend.hpp"
#include "measure/measure.hpp"
#include "measure/statistics.hpp"
#include "scripted_helpers.hpp"

namespace bandgate {
namespace {

using namespace scripted_test;
using testing::DoubleNear;
using testing::HasSubstr;
using testing::StartsWith;

std::filesystem::path const examples = BANDGATE_EXAMPLES;

std::unique_ptr<backend> drill(std::string const& name) {
  return make_scripted_backend(examples / (name + ".json"));
}

/// The health monitor hears of the phases, as it does in the program.
struct phases_to final : observer {
  explicit phases_to(session& device) : device_(device) {}
  void on_phase(phase p) override { device_.health().on_phase(p); }
  session& device_;
};

measurement run(backend& source, std::string const& name, unsigned attempt = 1) {
  auto const device = source.open(0, {.attempt = attempt, .allow_contention = true});
  auto const& what = find_probe(name);
  phases_to listener(*device);
  auto const ready = device->prepare(what, complete(what.parameters, {}));
  if (auto const wrong = ready->verify(0)) throw measurement_error(failure::wrong_result, *wrong);
  std::vector<subject*> shapes;
  for (std::size_t i = 0; i < ready->shapes().size(); ++i) shapes.push_back(&ready->timed(i));
  auto const timed = measure(shapes, device->clock(), listener, device->proportional());
  listener.on_phase(phase::verify_again);
  if (auto const wrong = ready->verify(timed.shape))
    throw measurement_error(failure::wrong_result, *wrong);
  return summarize(timed.seconds_per_pass, ready->work().bytes_per_pass, false);
}

double median_gib(std::string const& script, std::string const& probe, unsigned attempt = 1) {
  return run(*drill(script), probe, attempt).median / 1073741824.0;
}

std::string fault(std::string const& script, std::string const& probe = "read") {
  return failure_of([&] { run(*drill(script), probe); });
}

TEST(FireDrill, EveryExampleIsAValidScriptWithANote) {
  int count = 0;
  for (auto const& entry : std::filesystem::directory_iterator(examples)) {
    EXPECT_NO_THROW(make_scripted_backend(entry.path())) << entry.path();
    std::ifstream file(entry.path());
    EXPECT_TRUE(nlohmann::json::parse(file).contains("note")) << entry.path();
    ++count;
  }
  EXPECT_GT(count, 40);  // which there are, the next test tells
}

/// The documentation's table has a line for every example and for nothing else.
TEST(FireDrill, TheDocumentationNamesEveryExample) {
  std::ifstream file(BANDGATE_FIRE_DRILL_DOC);
  std::set<std::string> documented;
  std::set<std::string> present;
  for (std::string line; std::getline(file, line);)
    if (line.rfind("| `", 0) == 0 && line.find(".json`") != std::string::npos)
      documented.insert(line.substr(3, line.find(".json`") - 3));
  for (auto const& entry : std::filesystem::directory_iterator(examples))
    present.insert(entry.path().stem());
  EXPECT_EQ(documented, present);
}

TEST(FireDrill, TheHealthyCardReachesWhatRealOnesReach) {
  std::map<std::string, double> const expected{{"read", 4302.1},     {"write", 4379.2},
                                               {"copy", 3996.85},    {"read_unroll", 4185.8},
                                               {"read_seq", 2427.8}, {"read_window", 4150.5}};
  for (auto const& [probe, median] : expected)
    EXPECT_THAT(median_gib("healthy-h200", probe), DoubleNear(median, 0.3)) << probe;
  EXPECT_FALSE(run(*drill("healthy-h200"), "read").unsettled);
  EXPECT_NEAR(drill("healthy-h200")->devices().devices[0].peak_bytes_per_second.value(), 4814304e6,
              1);
}

TEST(FireDrill, LossesAreWhatTheirNamesSay) {
  EXPECT_NEAR(median_gib("slow-5-percent", "read"), 4302.1 * 0.95, 1);
  EXPECT_NEAR(median_gib("slow-5-percent", "copy"), 3996.85 * 0.95, 1);
  EXPECT_LT(median_gib("slow-once", "read", 1), 4302 * 0.95);
  EXPECT_NEAR(median_gib("slow-once", "read", 2), 4302.1, 0.3);
  EXPECT_NEAR(median_gib("slow-once", "write", 1), 4379.2, 0.3);
  EXPECT_LT(median_gib("contended", "read"), 4302 * 0.95);
}

TEST(FireDrill, SlopesAreUnsettled) {
  auto const throttling = run(*drill("throttling-slope"), "read");
  EXPECT_TRUE(throttling.unsettled);
  EXPECT_LT(throttling.median / 1073741824.0, 4302 * 0.95);
  auto const within = run(*drill("slope-within-bounds"), "read");
  EXPECT_TRUE(within.unsettled);
  EXPECT_NEAR(within.median / 1073741824.0, 4302, 5);
}

TEST(FireDrill, FaultsEndTheMeasurement) {
  EXPECT_THAT(fault("wrong-checksum"), StartsWith("wrong-result: "));
  EXPECT_THAT(fault("wrong-after-sampling"), StartsWith("wrong-result: "));
  EXPECT_EQ(fault("wrong-checksum", "write"), "no exception");
  EXPECT_THAT(fault("lost-at-sample-3"), StartsWith("device-lost: "));
  EXPECT_THAT(fault("lost-at-sample-3", "copy"), HasSubstr("0000:1b:00.0"));
  EXPECT_THAT(fault("out-of-memory"), StartsWith("out-of-memory: "));
  EXPECT_THAT(fault("exclusive"), StartsWith("exclusively-held: "));
  EXPECT_THAT(fault("emptied-kernel"), StartsWith("not-proportional: "));
  EXPECT_THAT(fault("timer-reads-nothing"), StartsWith("zero-elapsed: "));
}

TEST(FireDrill, AboveThePeakIsMeasuredAndLeftToTheJudge) {
  EXPECT_GT(run(*drill("above-peak"), "read").median, 4814304e6);
}

TEST(FireDrill, OtherProcessesAreSeen) {
  auto const device = drill("contended")->open(0, {.allow_contention = true});
  auto const h = device->health().report();
  ASSERT_EQ(h.processes.size(), 1U);
  EXPECT_TRUE(h.processes[0].active);
}

TEST(FireDrill, ClockEventsAreSeenUnderLoad) {
  auto const reasons = [](char const* script) {
    auto const source = drill(script);
    auto const device = source->open(0, {});
    device->health().on_phase(phase::sampling);
    return std::get<double>(device->health().report().load.at("clock_event_reasons").value);
  };
  EXPECT_EQ(reasons("healthy-h200"), 0);
  EXPECT_EQ(reasons("power-cap-normal"), 4);
  EXPECT_EQ(reasons("throttling-slope"), 96);
}

TEST(FireDrill, MachinesHaveTheirDevices) {
  auto const counts = [](char const* script) {
    auto const list = drill(script)->devices();
    return std::pair(list.devices.size(), list.problems.size());
  };
  using sizes = std::pair<std::size_t, std::size_t>;
  EXPECT_EQ(counts("no-device"), sizes(0, 0));
  EXPECT_EQ(counts("missing-gpu"), sizes(1, 1));
  EXPECT_EQ(counts("two-gpus"), sizes(2, 0));
  EXPECT_EQ(counts("eight-gpus-one-missing"), sizes(7, 1));
  EXPECT_EQ(drill("memory-clock-zero")->devices().devices[0].peak_bytes_per_second, std::nullopt);
}

}  // namespace
}  // namespace bandgate
