// SPDX-License-Identifier: Apache-2.0
#include "gate/judge.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <functional>
#include <limits>

#include <bandgate/errors.hpp>

#include "gate/examples.hpp"

namespace bandgate {
namespace {

using namespace examples;
using ::testing::Contains;
using ::testing::ElementsAre;
using ::testing::HasSubstr;
using ::testing::IsEmpty;
using ::testing::Not;
using ::testing::StartsWith;

struct judged_case {
  char const* name;
  std::function<void(result&, baseline_match&)> change;
  status expected;
  char const* first_code;  ///< nullptr: no reason at all
};

void PrintTo(judged_case const& c, std::ostream* out) {
  *out << c.name;
}

device_process const busy{4242, "python3", 3ULL << 30, true};

std::vector<judged_case> const table{
    {"healthy", [](result&, baseline_match&) {}, status::pass, nullptr},
    {"on_the_lower_bound",
     [](result& r, baseline_match& b) {
       b.model = entry(4096, -0.25);
       r.measurement = rate(3072);
     },
     status::pass, nullptr},
    {"just_below", [](result& r, baseline_match&) { r.measurement = rate(3959.9); },
     status::regression, "below-bound"},
    {"just_above_the_lower_bound", [](result& r, baseline_match&) { r.measurement = rate(3960.1); },
     status::pass, nullptr},
    {"above_upper", [](result& r, baseline_match&) { r.measurement = rate(4040.1); },
     status::improved, "above-upper"},
    {"no_upper",
     [](result& r, baseline_match& b) {
       b.model->upper.reset();
       r.measurement = rate(4480);
     },
     status::pass, nullptr},
    {"failed",
     [](result& r, baseline_match&) {
       r.measurement.reset();
       r.failure = failure::device_lost;
     },
     status::error, "device-lost"},
    {"exclusively_held",
     [](result& r, baseline_match&) {
       r.measurement.reset();
       r.failure = failure::exclusively_held;
     },
     status::inconclusive, "exclusively-held"},
    {"contended_all_the_time",
     [](result& r, baseline_match&) {
       r.measurement.reset();
       r.failure = failure::contended;
     },
     status::inconclusive, "contended"},
    {"measured_beside_others_that_are_not_visible",
     [](result& r, baseline_match&) {
       r.measurement = rate(2000);
       r.notes = {"measured beside others: it is busy to 37 %"};
     },
     status::inconclusive, "contended"},
    {"an_mps_server_is_a_note",
     [](result& r, baseline_match&) {
       r.health.processes = {{71, "nvidia-cuda-mps-server", {}, true}};
     },
     status::pass, "mps-server"},
    {"skipped",
     [](result& r, baseline_match&) {
       r.measurement.reset();
       r.skip_reason = "needs two GPUs";
     },
     status::skipped, "not-applicable"},
    {"a_failure_is_not_skipped",
     [](result& r, baseline_match&) {
       r.measurement.reset();
       r.failure = failure::crashed;
       r.skip_reason = "needs two GPUs";
     },
     status::error, "crashed"},
    {"nothing_at_all", [](result& r, baseline_match&) { r.measurement.reset(); }, status::error,
     "no-measurement"},
    {"no_samples", [](result& r, baseline_match&) { r.measurement->samples.clear(); },
     status::error, "no-samples"},
    {"zero", [](result& r, baseline_match&) { r.measurement = rate(0); }, status::error,
     "not-a-rate"},
    {"median_nan", [](result& r, baseline_match&) { r.measurement->median = std::nan(""); },
     status::error, "not-a-rate"},
    {"median_negative", [](result& r, baseline_match&) { r.measurement->median = -1; },
     status::error, "not-a-rate"},
    {"peak_infinite",
     [](result& r, baseline_match&) {
       r.measurement->peak = std::numeric_limits<double>::infinity();
     },
     status::error, "not-a-rate"},
    {"one_sample_zero", [](result& r, baseline_match&) { r.measurement->samples[3] = 0; },
     status::error, "not-a-rate"},
    {"not_verified", [](result& r, baseline_match&) { r.measurement->verified = false; },
     status::error, "not-verified"},
    {"not_verified_and_slow",
     [](result& r, baseline_match&) {
       r.measurement = rate(100);
       r.measurement->verified = false;
     },
     status::error, "not-verified"},
    {"above_the_ceiling", [](result& r, baseline_match&) { r.measurement = rate(4484); },
     status::error, "above-ceiling"},
    {"below_the_ceiling", [](result& r, baseline_match&) { r.measurement = rate(4483); },
     status::improved, "above-upper"},
    {"one_sample_above_the_ceiling",
     [](result& r, baseline_match&) { r.measurement->samples[3] = 4484 * gibps; }, status::error,
     "above-ceiling"},
    {"peak_above_the_ceiling",
     [](result& r, baseline_match&) { r.measurement->peak = 4484 * gibps; }, status::error,
     "above-ceiling"},
    {"above_the_ceiling_without_baseline",
     [](result& r, baseline_match& b) {
       b.model.reset();
       r.measurement = rate(4484);
     },
     status::error, "above-ceiling"},
    {"above_the_ceiling_and_contended",
     [](result& r, baseline_match&) {
       r.measurement = rate(4484);
       r.health.processes = {busy};
     },
     status::error, "above-ceiling"},
    {"the_files_peak_where_the_device_has_none",
     [](result& r, baseline_match& b) {
       r.device.peak_bytes_per_second.reset();
       b.model->model_peak_bytes_per_second = 4814.3e9;
       r.measurement = rate(4484);
     },
     status::error, "above-ceiling"},
    {"a_cache_has_no_ceiling",
     [](result& r, baseline_match& b) {
       r.probe.ceiling = "none";
       b.model = entry(9000);
       r.measurement = rate(9000);
     },
     status::pass, nullptr},
    {"a_cache_may_be_faster_than_the_files_peak",
     [](result& r, baseline_match& b) {
       r.probe.ceiling = "none";
       b.model = entry(9000);
       b.model->model_peak_bytes_per_second = 4814.3e9;
       r.measurement = rate(9000);
     },
     status::pass, nullptr},
    {"contended", [](result& r, baseline_match&) { r.health.processes = {busy}; },
     status::inconclusive, "contended"},
    {"contended_and_slow",
     [](result& r, baseline_match&) {
       r.measurement = rate(2000);
       r.health.processes = {busy};
     },
     status::inconclusive, "contended"},
    {"contended_without_baseline",
     [](result& r, baseline_match& b) {
       b.model.reset();
       r.health.processes = {busy};
     },
     status::inconclusive, "contended"},
    {"an_idle_process_is_a_note",
     [](result& r, baseline_match&) {
       r.health.processes = {{4242, "python3", 3ULL << 30, false}};
     },
     status::pass, "other-process"},
    {"no_baseline", [](result&, baseline_match& b) { b.model.reset(); }, status::no_baseline,
     "no-baseline"},
    {"unsettled_within",
     [](result& r, baseline_match&) {
       r.measurement->unsettled = true;
       r.measurement->slope = -0.015;
     },
     status::inconclusive, "unsettled"},
    {"unsettled_below",
     [](result& r, baseline_match&) {
       r.measurement = rate(3700);
       r.measurement->unsettled = true;
       r.measurement->slope = -0.15;
     },
     status::regression, "below-bound"},
    {"unsettled_above",
     [](result& r, baseline_match&) {
       r.measurement = rate(4100);
       r.measurement->unsettled = true;
       r.measurement->slope = 0.15;
     },
     status::inconclusive, "unsettled"},
    {"unsettled_without_baseline",
     [](result& r, baseline_match& b) {
       b.model.reset();
       r.measurement->unsettled = true;
     },
     status::no_baseline, "no-baseline"},
    {"generic",
     [](result&, baseline_match& b) {
       b.model->generic = true;
       b.model->provenance.kind = "peak-fraction";
       b.model->unit.reset();
       b.model->value = 0.7;
       b.model->lower = -0.1;
       b.model->upper.reset();
     },
     status::pass, "generic"},
    {"ecc_differs", [](result& r, baseline_match&) { r.device.ecc = false; }, status::pass,
     "ecc-differs"},
    {"ecc_not_known", [](result& r, baseline_match&) { r.device.ecc.reset(); }, status::pass,
     nullptr},
};

class judge_table : public ::testing::TestWithParam<judged_case> {};

TEST_P(judge_table, gives) {
  auto r = h200(4000);
  auto against = model();
  GetParam().change(r, against);
  auto const v = judge(r, against);
  EXPECT_STREQ(to_string(v.status), to_string(GetParam().expected));
  EXPECT_FALSE(v.unstable);
  if (GetParam().first_code == nullptr) {
    EXPECT_THAT(codes(v), IsEmpty());
  } else {
    ASSERT_THAT(codes(v), Not(IsEmpty()));
    EXPECT_EQ(v.reasons.front().code, GetParam().first_code);
  }
  if (v.status != status::pass) {
    EXPECT_NE(v.next_step, "") << "a person must be told what to do";
  }
  for (auto const& b : v.baselines) {
    EXPECT_TRUE(std::isfinite(b.ratio) && std::isfinite(b.reference));
    EXPECT_TRUE(std::isfinite(b.lower.value_or(0)) && std::isfinite(b.upper.value_or(0)));
  }
}

INSTANTIATE_TEST_SUITE_P(all, judge_table, ::testing::ValuesIn(table),
                         [](auto const& each) { return each.param.name; });

TEST(judge, a_regression_says_number_loss_reference_bound_and_file) {
  auto const v = judge(h200(3800), model());
  EXPECT_EQ(v.reasons.front().sentence,
            "3800.0 GiB/s is 5.00 % below the reference 4000.0 GiB/s, bound 3960.0 GiB/s "
            "(nvidia-h200.json)");
}

TEST(judge, an_improvement_says_how_to_adopt_it) {
  auto const v = judge(h200(4100), model());
  EXPECT_EQ(v.reasons.front().sentence,
            "4100.0 GiB/s is 2.50 % above the reference 4000.0 GiB/s, bound 4040.0 GiB/s "
            "(nvidia-h200.json)");
  EXPECT_EQ(v.next_step, "If this is the new normal, adopt it: `bandgate baseline record read`.");
}

TEST(judge, no_baseline_says_where_it_looked_and_how_to_record_one) {
  auto r = h200(4000);
  r.probe.parameters["buffer"] = std::uint64_t{1} << 32;
  auto const v = judge(r, {{}, {}, "built-in files, key 10de:2335 10de:18bf"});
  EXPECT_EQ(v.reasons.front().sentence,
            "no baseline entry for read; looked in built-in files, key 10de:2335 10de:18bf");
  EXPECT_EQ(v.next_step,
            "Record one on devices that you trust: `bandgate baseline record read` with the same "
            "parameters.");
}

TEST(judge, contention_names_pid_name_and_memory) {
  auto r = h200(4000);
  r.health.processes = {busy, {7, "", {}, true}, {8, "idler", {}, false}};
  auto const v = judge(r, model());
  EXPECT_EQ(v.reasons.front().sentence,
            "another process computes on the device: process 4242 (python3), 3.0 GiB; process 7 "
            "(name not known)");
  EXPECT_EQ(v.baselines.size(), 1u) << "what it would have been held against";
}

TEST(judge, contention_says_how_to_wait_and_how_to_measure_anyway) {
  auto r = h200(4000);
  r.notes = {"measured beside others: it is busy to 37 %"};
  auto const beside = judge(r, model());
  EXPECT_EQ(beside.reasons.front().sentence,
            "another process computes on the device: it is busy to 37 %");
  r.measurement.reset();
  r.failure = failure::contended;
  r.failure_message = "GPU-11111111-2222-3333-4444-555555555555 is in use: process 7 (train)";
  auto const waited = judge(r, model());
  EXPECT_EQ(waited.reasons.front().sentence,
            "GPU-11111111-2222-3333-4444-555555555555 is in use: process 7 (train) "
            "[0000:1b:00.0]");
  for (auto const& v : {beside, waited}) {
    EXPECT_THAT(v.next_step, HasSubstr("--wait-idle 10m"));
    EXPECT_THAT(v.next_step, HasSubstr("--allow-contention"));
  }
}

TEST(judge, above_the_ceiling_says_whose_peak) {
  auto r = h200(4500);
  EXPECT_EQ(judge(r, model()).reasons.front().sentence,
            "the fastest sample, 4500.0 GiB/s, is 0.36 % above the device's own peak, 4483.7 "
            "GiB/s: the work cannot have been done");
  r.device.peak_bytes_per_second = 0;
  auto against = model();
  against.model->model_peak_bytes_per_second = 4814.3e9;
  EXPECT_THAT(judge(r, against).reasons.front().sentence,
              HasSubstr("the peak that the baseline file states for this model"));
}

TEST(judge, a_failure_names_the_device) {
  auto r = h200(4000);
  r.measurement.reset();
  r.failure = failure::device_lost;
  r.failure_message = "GPU lost at sample 3: unspecified launch failure";
  EXPECT_EQ(judge(r, model()).reasons.front().sentence,
            "GPU lost at sample 3: unspecified launch failure "
            "[GPU-11111111-2222-3333-4444-555555555555] [0000:1b:00.0]");
  r.failure_message = "GPU-11111111-2222-3333-4444-555555555555 (0000:1b:00.0) is lost";
  EXPECT_EQ(judge(r, model()).reasons.front().sentence, r.failure_message);
  r.failure_message = "";
  EXPECT_THAT(judge(r, model()).reasons.front().sentence,
              StartsWith("the measurement failed: device-lost"));
}

TEST(judge, every_failure_has_a_next_step_and_its_own_code) {
  for (auto const f : {failure::wrong_result, failure::above_ceiling, failure::zero_elapsed,
                       failure::not_proportional, failure::device_lost, failure::device_missing,
                       failure::device_failed, failure::exclusively_held, failure::contended,
                       failure::out_of_memory, failure::timed_out, failure::crashed}) {
    auto r = h200(4000);
    r.measurement.reset();
    r.failure = f;
    auto const v = judge(r, {});
    EXPECT_EQ(v.reasons.front().code, to_string(f));
    EXPECT_NE(v.next_step, "") << to_string(f);
    EXPECT_THAT(v.baselines, IsEmpty());
  }
}

TEST(judge, a_slope_down_below_the_bound_is_a_regression_and_within_inconclusive) {
  auto sloping = [](double median, double slope) {
    auto r = h200(median);
    r.measurement->unsettled = true;
    r.measurement->slope = slope;
    return r;
  };
  auto const below = judge(sloping(3700, -0.15), model());
  EXPECT_EQ(below.status, status::regression);
  EXPECT_EQ(sentence(below, "unsettled"),
            "the samples did not settle: they fell by 15.00 % along their trend");
  auto const within = judge(sloping(3980, -0.02), model());
  EXPECT_EQ(within.status, status::inconclusive);
  EXPECT_THAT(codes(within), ElementsAre("unsettled"));
}

TEST(judge, a_card_entry_catches_a_loss_of_0_8_percent_that_the_models_bound_lets_through) {
  auto const measured = h200(4000 * 0.992);
  EXPECT_EQ(judge(measured, model()).status, status::pass);
  auto const v = judge(measured, both(entry(4000), card_entry(4000)));
  EXPECT_EQ(v.status, status::regression);
  EXPECT_EQ(v.reasons.front().code, "below-card-bound");
  EXPECT_EQ(v.reasons.front().sentence,
            "3968.0 GiB/s is 0.80 % below this card's own reference 4000.0 GiB/s, bound 3980.0 "
            "GiB/s (site/nvidia-h200.json)");
}

TEST(judge, a_card_entry_never_loosens_the_models_floor) {
  // Somebody recorded a sick card at 3800: for itself it is fine, for the model it is not.
  auto const v = judge(h200(3800), both(entry(4000), card_entry(3800)));
  EXPECT_EQ(v.status, status::regression);
  EXPECT_EQ(v.reasons.front().code, "below-bound");
  ASSERT_EQ(v.baselines.size(), 2u);
  EXPECT_FALSE(v.baselines[0].card);
  EXPECT_TRUE(v.baselines[1].card);
}

TEST(judge, where_both_bounds_are_broken_the_one_broken_more_speaks) {
  EXPECT_EQ(judge(h200(3900), both(entry(4000), card_entry(4020))).reasons.front().code,
            "below-card-bound");
  EXPECT_EQ(judge(h200(3700), both(entry(4000), card_entry(3800))).reasons.front().code,
            "below-bound");
}

TEST(judge, above_the_models_upper_and_fine_for_the_card_is_improved) {
  auto const v = judge(h200(4100), both(entry(4000), card_entry(4100)));
  EXPECT_EQ(v.status, status::improved);
  EXPECT_THAT(codes(v), ElementsAre("above-upper"));
}

TEST(judge, a_loss_against_the_card_outweighs_a_gain_against_the_model) {
  EXPECT_EQ(judge(h200(4100), both(entry(4000), card_entry(4200))).status, status::regression);
}

TEST(judge, a_card_entry_alone_is_held_against) {
  EXPECT_EQ(judge(h200(3900), {{}, card_entry(4000), ""}).status, status::regression);
  EXPECT_EQ(judge(h200(4000), {{}, card_entry(4000), ""}).status, status::pass);
}

TEST(judge, one_of_two_entries_that_cannot_be_applied_is_not_a_pass) {
  auto share = entry(0.9);
  share.unit.reset();
  auto r = h200(4000);
  r.device.peak_bytes_per_second.reset();
  EXPECT_EQ(judge(r, both(share, card_entry(4000))).status, status::no_baseline);
  EXPECT_EQ(judge(r, both(share, card_entry(4100))).status, status::regression);
}

TEST(judge, applied_bounds_are_absolute_and_of_both_entries) {
  auto const v = judge(h200(3980), both(entry(4000, -0.01, std::nullopt), card_entry(4000)));
  ASSERT_EQ(v.baselines.size(), 2u);
  auto const& m = v.baselines[0];
  EXPECT_EQ(m.file, "nvidia-h200.json");
  EXPECT_EQ(m.entry, "/entries/0");
  EXPECT_EQ(m.kind, "measured");
  EXPECT_EQ(m.statistic, "median");
  EXPECT_DOUBLE_EQ(m.reference, 4000 * gibps);
  EXPECT_DOUBLE_EQ(m.lower.value(), 3960 * gibps);
  EXPECT_EQ(m.upper, std::nullopt);
  EXPECT_DOUBLE_EQ(m.ratio, 0.995);
  auto const& c = v.baselines[1];
  EXPECT_EQ(c.file, "site/nvidia-h200.json");
  EXPECT_DOUBLE_EQ(c.lower.value(), 3980 * gibps);
  EXPECT_DOUBLE_EQ(c.upper.value(), 4020 * gibps);
}

TEST(judge, the_generic_floor_names_the_model_it_does_not_know) {
  auto e = entry(0.7, -0.1, std::nullopt);
  e.unit.reset();
  e.generic = true;
  auto r = h200(2500);  // the floor is 0.63 of 4483.7 = 2824.7
  auto const v = judge(r, model(e));
  EXPECT_EQ(v.status, status::regression);
  EXPECT_EQ(sentence(v, "generic"),
            "judged by the generic floor: no entry for it knows this model: NVIDIA H200");
  EXPECT_TRUE(v.baselines.front().generic);
}

TEST(judge, the_verdict_that_was_there_is_ignored) {
  auto r = h200(4000);
  r.verdict.status = status::regression;
  r.verdict.unstable = true;
  r.verdict.reasons = {{"old", "old"}};
  auto const v = judge(r, model());
  EXPECT_EQ(v.status, status::pass);
  EXPECT_FALSE(v.unstable);
  EXPECT_THAT(v.reasons, IsEmpty());
}

result transfer_at(double generation, double lanes, double gib_per_s) {
  auto r = h200(gib_per_s);
  r.probe.ceiling = "link";
  r.health.load["pcie_generation"] = {health_field::state::ok, generation, {}};
  r.health.load["pcie_width"] = {health_field::state::ok, lanes, {}};
  return r;
}

TEST(ceiling, is_the_devices_own_peak_for_dram_alone) {
  auto r = h200(4000);
  EXPECT_EQ(ceiling_of(r), 4814.3e9);
  r.health.load.clear();
  for (auto const* kind : {"link", "none", ""}) {
    r.probe.ceiling = kind;
    EXPECT_EQ(ceiling_of(r), std::nullopt) << kind;
  }
}

TEST(ceiling, of_a_link_is_what_pcie_carries_after_encoding) {
  EXPECT_NEAR(*ceiling_of(transfer_at(1, 16, 3)), 4.0e9, 1e3);
  EXPECT_NEAR(*ceiling_of(transfer_at(2, 8, 3)), 4.0e9, 1e3);
  EXPECT_NEAR(*ceiling_of(transfer_at(3, 16, 3)), 15.754e9, 1e6);
  EXPECT_NEAR(*ceiling_of(transfer_at(4, 16, 3)), 31.508e9, 1e6);
  EXPECT_NEAR(*ceiling_of(transfer_at(5, 16, 3)), 63.015e9, 1e6);
  EXPECT_NEAR(*ceiling_of(transfer_at(6, 16, 3)), 121.0e9, 1e6);
  for (auto const generation : {0.0, 7.0, 4.5, std::nan("")})
    EXPECT_EQ(ceiling_of(transfer_at(generation, 16, 3)), std::nullopt) << generation;
  for (auto const lanes : {0.0, -1.0, 64.0, std::nan("")})
    EXPECT_EQ(ceiling_of(transfer_at(5, lanes, 3)), std::nullopt) << lanes;
}

TEST(ceiling, of_a_link_holds_for_each_direction) {
  auto both = transfer_at(5, 16, 90);
  both.probe.directions = 2;
  EXPECT_NEAR(*ceiling_of(both), 126.031e9, 1e6);
  EXPECT_NE(judge(both, model(entry(90))).status, status::error);
  both.probe.directions = 1;
  auto const v = judge(both, model(entry(90)));
  EXPECT_EQ(v.status, status::error);
  EXPECT_EQ(v.reasons.front().code, "above-ceiling");
  EXPECT_THAT(v.reasons.front().sentence, HasSubstr("the peak of the PCIe link as it was under"));
}

TEST(ceiling, of_a_link_that_is_not_known_is_none) {
  auto peer = transfer_at(5, 16, 360);
  peer.probe.parameters[peer_parameter] = std::string("GPU-1");
  EXPECT_EQ(ceiling_of(peer), std::nullopt) << "GPUs may have links of their own";
  auto superchip = transfer_at(5, 16, 360);
  superchip.device.name = "NVIDIA GH200 480GB";
  EXPECT_EQ(ceiling_of(superchip), std::nullopt);
  auto unread = transfer_at(5, 16, 360);
  unread.health.load.erase("pcie_width");
  unread.health.idle["pcie_width"] = {health_field::state::ok, 16.0, {}};
  EXPECT_EQ(ceiling_of(unread), std::nullopt) << "not read under load";
}

TEST(ceiling, a_peak_that_is_not_known_is_none) {
  auto r = h200(4000);
  for (auto const peak : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    r.device.peak_bytes_per_second = peak;
    EXPECT_EQ(ceiling_of(r), std::nullopt) << peak;
  }
  r.device.peak_bytes_per_second.reset();
  EXPECT_EQ(ceiling_of(r), std::nullopt);
}

TEST(judge, says_whose_bounds_hold_where_the_board_part_is_not_known) {
  auto e = entry(4000);
  e.board_part = "2 board parts (/entries/0, /entries/1)";
  auto const pass = judge(h200(4000), model(e));
  EXPECT_EQ(pass.status, status::pass);
  EXPECT_THAT(codes(pass), ElementsAre("board-part-unknown"));
  EXPECT_EQ(sentence(pass, "board-part-unknown"),
            "board part not known: judged by the bounds of 2 board parts (/entries/0, /entries/1)");
  EXPECT_THAT(codes(judge(h200(3000), model(e))),
              ElementsAre("below-bound", "no-cause-found", "board-part-unknown"));
  auto known = h200(4000);
  known.device.board_part = "692-2G520-0282-001";
  EXPECT_THAT(codes(judge(known, model(e))), ElementsAre());
  EXPECT_THAT(codes(judge(h200(4000), model())), ElementsAre());
}

}  // namespace
}  // namespace bandgate
