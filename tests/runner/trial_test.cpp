// SPDX-License-Identifier: Apache-2.0
/// A history held against baselines: attempts joined, look-ups shared, what is absent completed.
#include "runner/trial.hpp"

#include <gmock/gmock.h>

#include <string>
#include <vector>

#include "records/baseline_fixture.hpp"

namespace bandgate {
namespace {

using ::testing::ElementsAre;
using testing::entry;
using testing::file;
using testing::h200;
using testing::in_a_folder;
using ::testing::IsEmpty;
using testing::probes;

constexpr double gib = 1073741824.0;

result attempt(double gib_per_s, std::string group, unsigned number = 1,
               std::string probe = "read") {
  result r;
  r.run.id = group + "/" + std::to_string(number);
  r.run.group_id = std::move(group);
  r.run.attempt = number;
  r.device = h200();
  for (auto const& known : probes())
    if (known.name == probe) r.probe.parameters = complete(known.parameters, {});
  r.probe.name = std::move(probe);
  measurement m;
  m.median = m.peak = gib_per_s * gib;
  m.samples = {m.median};
  m.verified = true;
  r.measurement = m;
  return r;
}

class a_trial : public in_a_folder {
 protected:
  std::vector<tried> of(std::vector<result> history, double reference = 4302) {
    auto const path = write("new.json", file(R"("aliases": ["NVIDIA H200"])", entry(reference)));
    baseline_library const library({path}, all_);
    trial one(library, all_);
    std::vector<tried> found;
    for (auto& r : history)
      if (auto done = one.add(std::move(r))) found.push_back(std::move(*done));
    if (auto done = one.finish()) found.push_back(std::move(*done));
    return found;
  }
  static std::vector<std::string> statuses(std::vector<tried> const& found) {
    std::vector<std::string> all;
    for (auto const& one : found) all.push_back(to_string(one.last.verdict.status));
    return all;
  }
  std::vector<probe> const all_{probes()};
};

TEST_F(a_trial, judges_each_invocation_by_itself) {
  auto const found = of({attempt(4302, "a"), attempt(4200, "b"), attempt(4400, "c")});
  EXPECT_THAT(statuses(found), ElementsAre("pass", "regression", "improved"));
  EXPECT_THAT(found[1].files, ElementsAre((folder_ / "new.json").string()));
  EXPECT_EQ(found[1].attempts, 1U);
}

TEST_F(a_trial, joins_the_attempts_of_an_invocation) {
  auto const found = of({attempt(4200, "a", 1), attempt(4201, "a", 2),    // confirmed
                         attempt(4200, "b", 1), attempt(4302, "b", 2),    // unstable
                         attempt(4302, "c", 1), attempt(4303, "c", 2)});  // fine by these bounds
  EXPECT_THAT(statuses(found), ElementsAre("regression", "pass", "pass"));
  EXPECT_TRUE(found[1].last.verdict.unstable);
  EXPECT_FALSE(found[2].last.verdict.unstable);
  EXPECT_EQ(found[0].attempts, 2U);
  EXPECT_EQ(found[0].last.run.id, "a/2");
}

TEST_F(a_trial, joins_nothing_that_only_stands_side_by_side) {
  auto const found = of({attempt(4200, "a", 1), attempt(4302, "b", 2),  // another invocation
                         attempt(4200, "c", 1), attempt(4302, "c", 1),  // a first once more
                         attempt(4200, "", 1), attempt(4302, "", 2),    // of none that is known
                         attempt(4200, "d", 1), attempt(4302, "d", 2, "triad")});  // another probe
  EXPECT_EQ(found.size(), 8U);
}

TEST_F(a_trial, takes_ceiling_and_sense_from_the_probe_where_the_result_has_none) {
  auto slow = attempt(0, "a", 1, "launch");
  slow.measurement->is_time = true;
  slow.measurement->median = slow.measurement->peak = 9e-6;
  slow.measurement->samples = {9e-6};
  auto const path =
      write("launch.json",
            file(R"("aliases": ["NVIDIA H200"])",
                 R"({"probe": "launch", "unit": "us", "value": 4.5, "tolerance": {"lower": -0.1,
              "upper": 0.1}, "provenance": {"kind": "measured"}})"));
  baseline_library const library({path}, all_);
  trial one(library, all_);
  EXPECT_FALSE(one.add(slow));
  auto const found = one.finish();
  ASSERT_TRUE(found);
  EXPECT_EQ(found->last.verdict.status, status::regression);
  EXPECT_EQ(found->last.verdict.reasons.front().code, "above-bound");
}

TEST_F(a_trial, calls_what_is_above_the_peak_an_error) {
  EXPECT_THAT(statuses(of({attempt(4800, "a")})), ElementsAre("error"));
}

TEST_F(a_trial, leaves_a_probe_that_it_does_not_know_without_a_baseline) {
  auto const found = of({attempt(4302, "a", 1, "of_another_build")});
  EXPECT_THAT(statuses(found), ElementsAre("no-baseline"));
  EXPECT_THAT(found[0].files, IsEmpty());
}

TEST_F(a_trial, tells_devices_apart_that_one_file_tells_apart) {
  auto off = attempt(4200, "b");
  off.device.ecc = false;
  auto const path =
      write("new.json", file(R"("aliases": ["NVIDIA H200"], "ecc": "on")", entry(4302)));
  baseline_library const library({path}, all_);
  trial one(library, all_);
  one.add(attempt(4200, "a"));
  auto const first = one.add(off);
  auto const second = one.finish();
  EXPECT_THAT(first->files, ElementsAre(path.string()));
  EXPECT_THAT(second->files, ::testing::Not(ElementsAre(path.string())));
}

}  // namespace
}  // namespace bandgate
