// SPDX-License-Identifier: Apache-2.0
// Others on a scripted device, devices that do not answer.
#include <gmock/gmock.h>

#include <bandgate/observer.hpp>
#include <memory>
#include <string>
#include <vector>

#include "backend/scripted/script.hpp"
#include "backend/scripted/scripted_session.hpp"
#include "scripted_helpers.hpp"

namespace bandgate {
namespace {

using namespace scripted_test;
using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::IsEmpty;
using testing::StartsWith;

json with_health(json health) {
  auto device = one_device();
  device["health"] = std::move(health);
  return device;
}

json burn(json more = json::object()) {
  json process{{"pid", 42}, {"name", "burn"}, {"active", true}};
  process.update(more);
  return {{"processes", {process}}};
}

std::unique_ptr<session> open(json const& device, open_options const& how,
                              std::vector<std::string>* heard = nullptr) {
  script_file const file(script_of(device));
  auto const whole = std::make_shared<script const>(read_script(file.path(), {a_probe()}));
  return open_scripted(whole, whole->devices[0], {}, how, [=](std::string const& step) {
    if (heard != nullptr) heard->push_back(step);
  });
}

std::string refusal(json const& device, open_options const& how = {}) {
  return failure_of([&] { open(device, how); });
}

TEST(ScriptedContention, IsRefusedNamingTheProcess) {
  EXPECT_THAT(refusal(with_health(burn())),
              AllOf(StartsWith("contended: GPU-1 at 0000:1b:00.0"), HasSubstr("process 42 (burn)"),
                    HasSubstr("waiting 5 s")));
}

TEST(ScriptedContention, OfAnIdleContextOrAnMpsServerIsNone) {
  EXPECT_EQ(refusal(with_health(burn({{"active", false}}))), "no exception");
  auto const device = with_health(burn({{"name", "nvidia-cuda-mps-server"}}));
  auto const session = open(device, {});
  ASSERT_EQ(session->health().report().processes.size(), 1U);
  EXPECT_FALSE(session->health().report().processes[0].active);
}

TEST(ScriptedContention, IsWaitedForOnTheScriptsOwnClock) {
  auto const device = with_health(burn({{"ends_after_s", 3}}));
  std::vector<std::string> heard;
  auto const session = open(device, {}, &heard);
  EXPECT_EQ(session->clock().now(), 3s);
  EXPECT_EQ(heard.size(), 15U);  // every 200 ms
  EXPECT_EQ(heard.front(), "waiting for others");
  EXPECT_THAT(session->health().report().processes, IsEmpty());
  EXPECT_THAT(refusal(device, {.wait_idle = 2s}), HasSubstr("waiting 2 s"));
}

TEST(ScriptedContention, MayBeSeenInTheUtilizationAlone) {
  json const health{{"idle", {{"gpu_utilization_percent", 97}}}};
  EXPECT_THAT(refusal(with_health(health)), HasSubstr("busy to 97 %"));
  auto ends = health;
  ends["utilization_ends_after_s"] = 1;
  auto const session = open(with_health(ends), {});
  EXPECT_EQ(session->clock().now(), 1s);
  EXPECT_EQ(std::get<double>(session->health().report().idle.at("gpu_utilization_percent").value),
            0);
}

TEST(ScriptedContention, ThatIsAllowedIsMeasuredBesideAndNoted) {
  auto const session = open(with_health(burn()), {.wait_idle = 0s, .allow_contention = true});
  EXPECT_EQ(session->clock().now(), 0s);
  EXPECT_TRUE(session->health().report().processes.at(0).active);
  auto const what = a_probe();
  EXPECT_THAT(session->prepare(what, {})->work().notes,
              ElementsAre("measured beside others: process 42 (burn)"));
}

TEST(ScriptedContention, MayComeLater) {
  auto const session = open(with_health(burn({{"begins_after_s", 0.5}})), {});
  EXPECT_THAT(session->health().report().processes, IsEmpty());
  auto const what = a_probe();
  session->prepare(what, {})->timed(0).sample(100);  // a second
  EXPECT_EQ(session->health().report().processes.size(), 1U);
}

TEST(ScriptedDevice, ThatIsLostIsListedAndCannotBeOpened) {
  auto device = one_device();
  device["lost"] = "the GPU is lost (15)";
  EXPECT_THAT(refusal(device), AllOf(StartsWith("device-lost: "), HasSubstr("GPU-1"),
                                     HasSubstr("0000:1b:00.0"), HasSubstr("lost (15)")));
}

TEST(ScriptedHealth, MayHaveNoSource) {
  auto const session = open(with_health({{"source", "none: libnvidia-ml.so.1: cannot open"}}), {});
  EXPECT_EQ(session->health().report().source, "none: libnvidia-ml.so.1: cannot open");
}

}  // namespace
}  // namespace bandgate
