// SPDX-License-Identifier: Apache-2.0
// How a scripted device behaves, call by call.
#include "backend/scripted/scripted_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <sys/wait.h>

#include <chrono>
#include <csignal>
#include <fstream>
#include <thread>

#include "scripted_helpers.hpp"

namespace bandgate {
namespace {

using namespace scripted_test;
using namespace std::chrono_literals;
using nlohmann::json;
using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::StartsWith;

/// The first device of a script, opened.
std::unique_ptr<session> open(json const& document, unsigned attempt = 1) {
  script_file const file(document);
  return make_scripted_backend(file.path())->open(0, {.attempt = attempt});
}

std::unique_ptr<prepared> ready(session& device) {
  return device.prepare(a_probe(), {});
}

std::vector<nanoseconds> samples(session& device, prepared& what, int count) {
  device.health().on_phase(phase::sampling);
  std::vector<nanoseconds> all;
  for (int i = 0; i < count; ++i) all.push_back(what.timed(0).sample(1));
  return all;
}

TEST(ScriptedBackend, ListsAllButTheMissing) {
  auto document = script_of(one_device());
  auto gone = one_device();
  gone["identity"].update(
      json{{"uuid", "GPU-0"}, {"pci_address", "0000:0a:00.0"}, {"driver_version", "580.159.04"}});
  gone["missing"] = true;
  document["devices"].push_back(gone);
  script_file const file(document);
  auto const source = make_scripted_backend(file.path());
  auto const list = source->devices();
  ASSERT_EQ(list.devices.size(), 1U);
  EXPECT_EQ(list.devices[0].uuid, "GPU-1");
  ASSERT_EQ(list.problems.size(), 1U);
  EXPECT_EQ(list.problems[0].code, "device-missing");
  EXPECT_THAT(list.problems[0].message,
              AllOf(HasSubstr("0000:0a:00.0"), HasSubstr("GPU-0"), HasSubstr("580.159.04")));
  EXPECT_FALSE(list.problems[0].usage);
  EXPECT_EQ(source->open(0, {})->identity().uuid, "GPU-1");
  EXPECT_THAT(failure_of([&] { source->open(1, {}); }), StartsWith("device-missing: "));
}

TEST(ScriptedBackend, HandsTheProblemsOn) {
  script_file const file(
      json{{"schema", "bandgate.scripted/1"},
           {"devices", json::array()},
           {"problems",
            {{{"code", "driver-too-old"}, {"message", "525 is too old"}, {"usage", true}}}}});
  auto const list = make_scripted_backend(file.path())->devices();
  EXPECT_TRUE(list.devices.empty());
  ASSERT_EQ(list.problems.size(), 1U);
  EXPECT_EQ(list.problems[0].code, "driver-too-old");
  EXPECT_EQ(list.problems[0].message, "525 is too old");
  EXPECT_TRUE(list.problems[0].usage);
}

TEST(ScriptedSession, IsAGpuToTheProbe) {
  auto device = one_device();
  device["identity"].update(json{
      {"processors", 132}, {"last_level_cache_bytes", 62914560}, {"compute_capability", "10.3"}});
  auto const session = open(script_of(device));
  auto const facts = session->facts();
  EXPECT_TRUE(facts.is_gpu);
  EXPECT_EQ(facts.memory_total, gib(1));
  EXPECT_EQ(facts.memory_free, mib(512));
  EXPECT_EQ(facts.last_level_cache, mib(60));
  EXPECT_EQ(facts.processors, 132U);
  EXPECT_EQ(facts.compute_capability, 103U);
  EXPECT_TRUE(session->proportional());
  device["identity"]["compute_capability"] = "gfx942";
  EXPECT_EQ(open(script_of(device))->facts().compute_capability, 0U);
}

TEST(ScriptedSession, TakesWorkAndShapesFromTheProbe) {
  auto const session = open(script_of(one_device()));
  auto const what = ready(*session);
  EXPECT_EQ(what->work().bytes_per_pass, 1000000000U);
  EXPECT_EQ(what->shapes().size(), 2U);
  EXPECT_EQ(what->timed(1).bytes_per_iteration(), 1000000000U);
  EXPECT_EQ(what->timed(1).min_iterations(), 2U);
}

TEST(ScriptedSession, SpendsTheSamplesTimeOnAVirtualClock) {
  auto const session = open(script_of(one_device()));
  auto const what = ready(*session);
  EXPECT_EQ(session->clock().now(), 0ns);
  EXPECT_EQ(what->timed(0).sample(1), 10ms);
  EXPECT_EQ(what->timed(1).sample(3), 30ms);
  EXPECT_EQ(session->clock().now(), 40ms);
}

TEST(ScriptedSession, TakesItsTimeAtRealPace) {
  auto document = script_of(one_device());
  document["pace"] = "real";
  auto const session = open(document);
  auto const before = std::chrono::steady_clock::now();
  auto const begin = session->clock().now();
  EXPECT_EQ(ready(*session)->timed(0).sample(1), 10ms);
  EXPECT_GE(session->clock().now() - begin, 10ms);
  EXPECT_GE(std::chrono::steady_clock::now() - before, 10ms);
}

TEST(ScriptedSession, SamplesInOrderAndTheLastRepeats) {
  auto const session = open(script_of(one_device({{"unit", "GB/s"}, {"samples", {100, 50, 25}}})));
  auto const what = ready(*session);
  session->health().on_phase(phase::warm_up);
  for (int i = 0; i < 5; ++i) EXPECT_EQ(what->timed(0).sample(1), 10ms);
  EXPECT_THAT(samples(*session, *what, 5), ElementsAre(10ms, 20ms, 40ms, 40ms, 40ms));
}

TEST(ScriptedSession, ReadsItsUnits) {
  auto const first = [](char const* unit, double value) {
    auto const session = open(script_of(one_device({{"unit", unit}, {"samples", {value}}})));
    return ready(*session)->timed(0).sample(2);
  };
  EXPECT_EQ(first("B/s", 1e9), 2s);
  EXPECT_EQ(first("MB/s", 1000), 2s);
  EXPECT_EQ(first("GiB/s", 1), 1862645149ns);
  EXPECT_EQ(first("us", 8.5), 17us);
}

TEST(ScriptedSession, EveryAttemptHasItsOwnSamples) {
  auto device = one_device();
  device["probes"]["read"]["attempts"] = {{{"unit", "GB/s"}, {"samples", {50}}},
                                          {{"unit", "GB/s"}, {"samples", {100}}}};
  auto const slow = open(script_of(device), 1);
  auto const fine = open(script_of(device), 2);
  EXPECT_EQ(ready(*slow)->timed(0).sample(1), 20ms);
  EXPECT_EQ(ready(*fine)->timed(0).sample(1), 10ms);
}

TEST(ScriptedSession, ExtremeRatesNeitherOverflowNorDivideByZero) {
  auto const first = [](double value) {
    auto const session = open(script_of(one_device({{"unit", "B/s"}, {"samples", {value}}})));
    auto const what = ready(*session);
    auto const elapsed = what->timed(0).sample(1 << 24);
    for (int i = 0; i < 20; ++i) {
      auto const before = session->clock().now();
      what->timed(0).sample(1 << 24);
      EXPECT_GE(session->clock().now(), before);
    }
    return elapsed;
  };
  EXPECT_EQ(first(0), 0ns);
  EXPECT_EQ(first(1e300), 0ns);
  EXPECT_EQ(first(1e-300), nanoseconds(1000000000000000000));
}

TEST(ScriptedFault, AnEmptiedKernelIgnoresThePasses) {
  auto attempt = healthy_attempt();
  attempt["passes_ignored"] = true;
  auto const session = open(script_of(one_device(attempt)));
  auto const what = ready(*session);
  EXPECT_EQ(what->timed(0).sample(1), what->timed(0).sample(2));
}

TEST(ScriptedFault, VerificationFailsBeforeOrAfterTheSampling) {
  auto const findings = [](json const& extra) {
    auto attempt = healthy_attempt();
    attempt.update(extra);
    auto const session = open(script_of(one_device(attempt)));
    auto const what = ready(*session);
    auto const before = what->verify(0);
    samples(*session, *what, 1);
    session->health().on_phase(phase::verify_again);
    return std::pair(before, what->verify(1));
  };
  auto const right = std::optional<std::string>{};
  EXPECT_EQ(findings(json::object()), std::pair(right, right));
  EXPECT_EQ(findings({{"verified", true}}), std::pair(right, right));
  EXPECT_THAT(findings({{"verified", false}}).first.value(), HasSubstr("GPU-1 at 0000:1b:00.0"));
  EXPECT_THAT(findings({{"verified", "word 17"}}).first.value(), HasSubstr("word 17"));
  EXPECT_EQ(findings({{"verified", "word 17"}}).second, right);
  EXPECT_EQ(findings({{"verified_after_sampling", "word 18"}}).first, right);
  EXPECT_THAT(findings({{"verified_after_sampling", "word 18"}}).second.value(),
              HasSubstr("word 18"));
}

TEST(ScriptedFault, IsLostAtItsSampleAndStaysLost) {
  auto attempt = healthy_attempt();
  attempt["lost_at_sample"] = 3;
  auto const session = open(script_of(one_device(attempt)));
  auto const what = ready(*session);
  for (int i = 0; i < 5; ++i) what->timed(0).sample(1);  // warm-up does not count
  samples(*session, *what, 2);
  auto const third = failure_of([&] { what->timed(0).sample(1); });
  EXPECT_THAT(third, AllOf(StartsWith("device-lost: GPU lost"), HasSubstr("GPU-1"),
                           HasSubstr("0000:1b:00.0"), HasSubstr("sample 3")));
  session->health().on_phase(phase::verify_again);
  EXPECT_THAT(failure_of([&] { what->timed(0).sample(1); }), StartsWith("device-lost: "));
}

TEST(ScriptedFault, OutOfMemoryNamesTheSizes) {
  auto const session = open(script_of(one_device({{"out_of_memory", true}})));
  EXPECT_THAT(failure_of([&] { ready(*session); }),
              AllOf(StartsWith("out-of-memory: "), HasSubstr("268435456 bytes"),
                    HasSubstr("536870912"), HasSubstr("GPU-1")));
}

TEST(ScriptedFault, BuffersAboveTheFreeMemoryDoNotFit) {
  auto device = one_device();
  device["memory_free_bytes"] = (1 << 28) - 1;
  auto const session = open(script_of(device));
  EXPECT_THAT(failure_of([&] { ready(*session); }), StartsWith("out-of-memory: "));
}

TEST(ScriptedFault, ExclusivelyHeld) {
  auto const session = open(script_of(one_device({{"exclusive", true}})));
  EXPECT_THAT(failure_of([&] { ready(*session); }), StartsWith("exclusively-held: "));
}

TEST(ScriptedSession, SkipsAProbeThatTheScriptDoesNotHave) {
  auto const session = open(script_of(one_device()));
  try {
    session->prepare(a_probe("write"), {});
    FAIL() << "no exception";
  } catch (not_applicable const& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("'write'"), HasSubstr("/devices/0/probes")));
  }
}

/// Waits until the process sleeps ('S') or has ended ('Z'); 10 s at most.
char settled_state(pid_t process) {
  char state = '?';
  for (int tries = 0; tries < 10000 && state != 'S' && state != 'Z'; ++tries) {
    std::this_thread::sleep_for(1ms);
    std::ifstream stat("/proc/" + std::to_string(process) + "/stat");
    std::string const text(std::istreambuf_iterator<char>(stat), {});
    state = text.at(text.rfind(')') + 2);
  }
  return state;
}

TEST(ScriptedFault, AHangEndsOnlyByASignal) {
  auto attempt = healthy_attempt();
  attempt["hang_at_sample"] = 2;
  script_file const file(script_of(one_device(attempt)));
  int ends[2];
  ASSERT_EQ(::pipe(ends), 0);
  auto const child = ::fork();
  if (child == 0) {
    auto const session = make_scripted_backend(file.path())->open(0, {});
    auto const what = ready(*session);
    samples(*session, *what, 1);
    if (::write(ends[1], "1", 1) != 1) ::_exit(1);
    samples(*session, *what, 1);
    ::_exit(2);  // it came back
  }
  char first = 0;
  ASSERT_EQ(::read(ends[0], &first, 1), 1);  // the first sample came back
  EXPECT_EQ(settled_state(child), 'S');
  ASSERT_EQ(::kill(child, SIGKILL), 0);
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_TRUE(WIFSIGNALED(status) && WTERMSIG(status) == SIGKILL);
  ::close(ends[0]);
  ::close(ends[1]);
}

TEST(ScriptedHealth, KnowsTheLoadOnlyAfterThereWasOne) {
  auto device = one_device();
  device["health"] = {{"idle", {{"power_w", 70}}},
                      {"load", {{"power_w", 600}}},
                      {"change", {{"pcie_replays", 2}}},
                      {"processes", {{{"pid", 42}, {"name", "x"}, {"active", false}}}}};
  auto const session = open(script_of(device));
  EXPECT_TRUE(session->health().report().load.empty());
  auto const what = ready(*session);
  session->health().on_phase(phase::warm_up);
  EXPECT_EQ(std::get<double>(session->health().report().idle.at("power_w").value), 70);
  EXPECT_TRUE(session->health().report().load.empty());
  EXPECT_TRUE(session->health().report().change.empty());
  samples(*session, *what, 1);
  session->health().on_phase(phase::done);
  auto const h = session->health().report();
  EXPECT_EQ(h.source, "scripted");
  EXPECT_EQ(std::get<double>(h.load.at("power_w").value), 600);
  EXPECT_EQ(std::get<double>(h.change.at("pcie_replays").value), 2);
  ASSERT_EQ(h.processes.size(), 1U);
  EXPECT_EQ(h.processes[0].pid, 42U);
}

TEST(ScriptedHealth, AnAttemptMayHaveItsOwn) {
  auto device = one_device();
  device["health"] = {{"idle", {{"power_w", 70}}}};
  device["probes"]["read"]["attempts"][0]["health"] = {{"idle", {{"power_w", 90}}}};
  auto const session = open(script_of(device));
  auto const what = ready(*session);
  EXPECT_EQ(std::get<double>(session->health().report().idle.at("power_w").value), 90);
}

}  // namespace
}  // namespace bandgate
