// SPDX-License-Identifier: Apache-2.0
/// From a management library to a verdict: the library is loaded as on a GPU machine (a stub of
/// it), the health is read round a sampling as there, and the verdict names what the library said.
#include <gmock/gmock.h>

#include <chrono>
#include <cstdlib>
#include <fstream>
#include <memory>
#include <string>
#include <thread>

#include "backend/gpu/cuda_health.hpp"
#include "device/nvml.hpp"
#include "gate/examples.hpp"
#include "gate/judge.hpp"

namespace bandgate::testing {
namespace {

using namespace std::chrono_literals;
using ::testing::AllOf;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;

std::string stub_named(char const* variant) {
  return std::string(BANDGATE_NVML_STUBS) + "/" + variant + "/libnvidia-ml.so.1";
}

/// What a probe measured and is held against.
struct probe_case {
  char const* name;
  char const* ceiling;
  double reference;  ///< GiB/s
};
constexpr probe_case read_probe{"read", "dram", 4000};
constexpr probe_case h2d_probe{"h2d", "link", 51.5};
constexpr probe_case peer_probe{"p2p_read", "link", 368};

health read_round_a_sampling(std::string const& library) {
  device_identity card;
  card.uuid = "GPU-1b1b1b1b-0000-0000-0000-000000000002";
  cuda_health health(std::make_shared<nvml const>(library), card);
  health.context_made();
  health.on_phase(phase::sampling);
  std::this_thread::sleep_for(150ms);  // its reading under load comes after 80 ms
  health.on_phase(phase::verify_again);
  return health.report();
}

verdict judged(probe_case const& what, double share, health seen) {
  auto r = examples::h200(what.reference * share);
  r.probe.name = what.name;
  r.probe.ceiling = what.ceiling;
  if (r.probe.name == peer_probe.name) r.probe.parameters["peer"] = std::string("GPU-2");
  r.health = std::move(seen);
  auto against = examples::entry(what.reference);
  against.probe = what.name;
  return judge(r, examples::model(against));
}

std::vector<std::string> causes_of(verdict const& v) {
  auto all = examples::codes(v);
  std::erase(all, "below-bound");
  return all;
}

struct ill {
  char const* name;
  char const* stub;  ///< NVML_STUB, beside "healthy"
  probe_case what;
  double share;       ///< of the reference that was measured
  char const* cause;  ///< the first; empty: none is named
};
void PrintTo(ill const& one, std::ostream* out) {
  *out << one.name;
}

class ills : public ::testing::TestWithParam<ill> {};

TEST_P(ills, are_named_where_they_cost_and_noted_where_they_do_not) {
  auto const& one = GetParam();
  setenv("NVML_STUB", (std::string("healthy,") + one.stub).c_str(), 1);
  auto const v = judged(one.what, one.share, read_round_a_sampling(stub_named("current")));
  EXPECT_EQ(v.status, one.share < 0.99 ? status::regression : status::pass);
  auto const causes = causes_of(v);
  if (*one.cause == '\0') {
    EXPECT_THAT(causes, IsEmpty()) << v.reasons.front().sentence;
  } else {
    ASSERT_THAT(causes, Not(IsEmpty()));
    EXPECT_EQ(causes.front(), one.cause) << v.reasons.back().sentence;
    EXPECT_NE(causes.front(), "no-cause-found");
  }
}

INSTANTIATE_TEST_SUITE_P(
    of_the_card, ills,
    ::testing::Values(
        ill{"none", "reasons=0x0", read_probe, 1, ""},
        ill{"idle_is_none", "reasons=0x1", read_probe, 1, ""},
        ill{"power_cap_that_costs_nothing", "reasons=0x4", read_probe, 1, "power-cap"},
        ill{"power_cap", "reasons=0x4", read_probe, 0.8, "power-cap"},
        ill{"power_cap_by_its_counter", "sw-power-cap=50%", read_probe, 0.8, "power-cap"},
        ill{"power_brake", "reasons=0x80", read_probe, 0.8, "power-brake"},
        ill{"power_brake_by_its_counter", "power-brake=80%", read_probe, 0.8, "power-brake"},
        ill{"heat", "reasons=0x48", read_probe, 0.8, "hw-thermal"},
        ill{"heat_by_its_counter", "sw-thermal=70%", read_probe, 0.8, "sw-thermal"},
        ill{"unknown_event", "reasons=0x100000", read_probe, 0.8, "unknown-clock-event"},
        ill{"memory_clock", "memory-clock=2619,memory-clock-max=3201", read_probe, 0.8,
            "memory-clock"},
        ill{"power_limit", "power-limit=400", read_probe, 0.8, "power-limit"},
        ill{"row_remapping", "remap-pending=1", read_probe, 0.8, "row-remap-pending"}),
    [](auto const& each) { return std::string(each.param.name); });

INSTANTIATE_TEST_SUITE_P(
    of_its_links, ills,
    ::testing::Values(ill{"generation_1_at_rest", "pcie-gen=1>5", h2d_probe, 1, ""},
                      ill{"generation_2_under_load", "pcie-gen=1>2", h2d_probe, 0.12,
                          "pcie-generation"},
                      ill{"eight_lanes", "pcie-width=8", h2d_probe, 0.5, "pcie-width"},
                      ill{"a_link_that_is_down", "links-down=2", peer_probe, 0.88, "nvlink-down"},
                      ill{"links_that_nobody_connected", "links-down=18", peer_probe, 1, ""}),
    [](auto const& each) { return std::string(each.param.name); });

/// What becomes of the library changes the health and nothing else.
void expect_the_verdict_of_no_health(std::string const& library) {
  auto const seen = read_round_a_sampling(library);
  auto const fine = judged(read_probe, 1, seen);
  EXPECT_EQ(fine.status, status::pass);
  EXPECT_THAT(causes_of(fine), IsEmpty());
  auto const low = judged(read_probe, 0.8, seen);
  EXPECT_EQ(low.status, status::regression);
  EXPECT_THAT(causes_of(low), ElementsAre("no-cause-found"));
  for (auto const* state : {&seen.idle, &seen.load})
    for (auto const& [name, field] : *state)
      EXPECT_EQ(field.status == health_field::state::unavailable, !field.why.empty()) << name;
}

class broken : public ::testing::TestWithParam<char const*> {};

TEST_P(broken, libraries_change_the_health_alone) {
  setenv("NVML_STUB", (std::string("healthy,processes=,") + GetParam()).c_str(), 1);
  expect_the_verdict_of_no_health(stub_named("current"));
}
INSTANTIATE_TEST_SUITE_P(stub, broken,
                         ::testing::Values("init=18", "init=999", "not-supported", "fail-after=10",
                                           "fail-after=60", "lost-after=30", "no-fields",
                                           "uuid=GPU-of-another-card,pci=0000:ff:00.0"));

TEST(broken_library, of_an_old_driver) {
  setenv("NVML_STUB", "healthy,reasons=0x0", 1);
  expect_the_verdict_of_no_health(stub_named("old"));
}

TEST(broken_library, that_is_missing_empty_or_for_another_machine) {
  expect_the_verdict_of_no_health("/no/such/libnvidia-ml.so.1");
  auto const folder = ::testing::TempDir();
  std::ofstream(folder + "empty.so.1").close();
  expect_the_verdict_of_no_health(folder + "empty.so.1");
  // The header of a library of an AArch64 machine (183), read as far as that.
  std::string header(
      "\x7f"
      "ELF\x02\x01\x01",
      7);
  header.resize(64, '\0');
  header[16] = 3;
  header[18] = static_cast<char>(183);
  std::ofstream(folder + "other.so.1") << header;
  expect_the_verdict_of_no_health(folder + "other.so.1");
}

TEST(broken_library, is_named_in_the_source_of_the_health) {
  setenv("NVML_STUB", "init=18", 1);
  EXPECT_THAT(read_round_a_sampling(stub_named("current")).source,
              AllOf(HasSubstr("none: "), HasSubstr("(18)")));
}

}  // namespace
}  // namespace bandgate::testing
