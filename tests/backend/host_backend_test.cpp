// SPDX-License-Identifier: Apache-2.0
#include "backend/host/host_backend.hpp"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <bandgate/backend.hpp>
#include <string>
#include <vector>

namespace bandgate {
namespace {

using testing::AllOf;
using testing::ElementsAre;
using testing::HasSubstr;

/// What the backend asked of the kernel.
struct calls {
  int fills{};
  std::vector<std::uint64_t> seeds;
  std::vector<std::pair<launch_shape, std::uint64_t>> runs;
  std::vector<launch_shape> verified;
};

class recording_kernel final : public kernel {
 public:
  explicit recording_kernel(calls& seen) : seen_(seen) {}
  void fill() override { ++seen_.fills; }
  void run(launch_shape const& shape, std::uint64_t passes) override {
    seen_.runs.emplace_back(shape, passes);
  }
  std::optional<std::string> verify(launch_shape const& shape) override {
    seen_.verified.push_back(shape);
    if (shape.at("unroll") == 4) return "word 17 differs";
    return std::nullopt;
  }

 private:
  calls& seen_;
};

probe recording_probe(calls& seen) {
  probe p;
  p.name = "recording";
  p.plan = [](parameters const&, device_facts const& facts) {
    EXPECT_FALSE(facts.is_gpu);
    return work{.bytes_per_pass = 4096, .min_iterations = 3};
  };
  p.shapes = [](parameters const&, device_facts const&) {
    return std::vector<launch_shape>{{{"unroll", 1}}, {{"unroll", 4}}};
  };
  p.on_host = [&seen](host_context& cpu, work const&, parameters const&) {
    seen.seeds.push_back(cpu.seed());
    return std::make_unique<recording_kernel>(seen);
  };
  return p;
}

TEST(HostBackend, IsOneDevice) {
  auto const list = make_host_backend()->devices();
  ASSERT_EQ(list.devices.size(), 1U);
  EXPECT_EQ(list.devices[0].backend, "host");
  EXPECT_EQ(list.devices[0].uuid, "");
  EXPECT_TRUE(list.problems.empty());
}

TEST(HostBackend, HasNoSecondDevice) {
  EXPECT_THROW(make_host_backend()->open(1, {}), usage_error);
}

TEST(HostSession, TellsTheProbeAboutTheMachine) {
  auto const session = make_host_backend()->open(0, {});
  EXPECT_EQ(session->identity().backend, "host");
  auto const facts = session->facts();
  EXPECT_FALSE(facts.is_gpu);
  EXPECT_GE(facts.processors, 1U);
  EXPECT_GT(facts.memory_free.count, 0U);
  EXPECT_GE(facts.memory_total, facts.memory_free);
}

TEST(HostSession, DoesNotPromiseProportionalTimes) {
  EXPECT_FALSE(make_host_backend()->open(0, {})->proportional());
}

TEST(HostSession, HandsEverythingToTheKernelOfTheShape) {
  calls seen;
  auto const session = make_host_backend()->open(0, {});
  auto const ready = session->prepare(recording_probe(seen), {});
  launch_shape const by_one{{"unroll", 1}};
  launch_shape const by_four{{"unroll", 4}};
  EXPECT_THAT(ready->shapes(), ElementsAre(by_one, by_four));
  ready->fill();
  EXPECT_EQ(seen.fills, 1);
  EXPECT_EQ(ready->verify(0), std::nullopt);
  EXPECT_EQ(ready->verify(1), "word 17 differs");
  EXPECT_GT(ready->timed(1).sample(5), nanoseconds::zero());
  EXPECT_GT(ready->timed(0).sample(7), nanoseconds::zero());
  EXPECT_THAT(seen.runs, ElementsAre(std::pair(by_four, 5U), std::pair(by_one, 7U)));
  EXPECT_EQ(ready->timed(0).bytes_per_iteration(), 4096U);
  EXPECT_EQ(ready->timed(0).min_iterations(), 3U);
}

TEST(HostSession, DrawsAnotherSeedEveryTime) {
  calls seen;
  for (int i = 0; i < 2; ++i) make_host_backend()->open(0, {})->prepare(recording_probe(seen), {});
  ASSERT_EQ(seen.seeds.size(), 2U);
  EXPECT_NE(seen.seeds[0], seen.seeds[1]);
}

TEST(HostSession, SkipsAProbeThatOnlyAGpuHas) {
  calls seen;
  auto what = recording_probe(seen);
  what.name = "memcpy_d2d";
  what.on_host = nullptr;
  auto const session = make_host_backend()->open(0, {});
  try {
    session->prepare(what, {});
    FAIL() << "no exception";
  } catch (not_applicable const& e) {
    EXPECT_THAT(e.what(), AllOf(HasSubstr("'memcpy_d2d'"), HasSubstr("host")));
  }
}

TEST(HostSession, SaysThatNothingWatchesTheHost) {
  auto const session = make_host_backend()->open(0, {});
  session->health().on_phase(phase::sampling);
  EXPECT_EQ(session->health().report().source, "none: host");
}

}  // namespace
}  // namespace bandgate
