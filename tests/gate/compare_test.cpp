// SPDX-License-Identifier: Apache-2.0
#include "gate/compare.hpp"

#include <gmock/gmock.h>

#include <cmath>
#include <limits>

#include <bandgate/errors.hpp>

#include "gate/examples.hpp"
#include "gate/judge.hpp"

namespace bandgate {
namespace {

using namespace examples;
using ::testing::HasSubstr;
using ::testing::StartsWith;

comparison compared(result const& r, baseline_entry const& e) {
  return std::get<comparison>(compare(r, e));
}

std::string refusal(result const& r, baseline_entry const& e) {
  try {
    compare(r, e);
  } catch (usage_error const& error) {
    return error.what();
  }
  return "(accepted)";
}

TEST(compare, units_are_converted) {
  auto e = entry(3667);
  e.unit = unit::mib_per_s;
  auto r = h200(1);
  r.measurement->median = 3.845e9;  // GB/s
  EXPECT_NEAR(compared(r, e).applied.ratio, 1.0, 1e-4);
  e.unit = unit::gb_per_s;
  e.value = 3.845;
  EXPECT_DOUBLE_EQ(compared(r, e).applied.ratio, 1.0);
  e.unit = unit::gib_per_s;
  EXPECT_NEAR(compared(r, e).applied.ratio, 1 / 1.073741824, 1e-12);
}

TEST(compare, the_statistic_is_the_entrys) {
  auto r = h200(4000);
  r.measurement->peak = 4010 * gibps;
  auto e = entry();
  EXPECT_DOUBLE_EQ(compared(r, e).value, 4000 * gibps);
  e.statistic = "peak";
  auto const c = compared(r, e);
  EXPECT_DOUBLE_EQ(c.value, 4010 * gibps);
  EXPECT_EQ(c.applied.statistic, "peak");
  EXPECT_THAT(c.sentence(), StartsWith("the peak of 4010.0 GiB/s is 0.25 % above"));
  e.statistic = "mean";
  EXPECT_THAT(refusal(r, e), StartsWith("nvidia-h200.json: /entries/0/statistic: \"mean\""));
}

TEST(compare, a_published_peak_without_upper_bound) {
  // Tesla V100, 833.067 GiB/s of 836.4.
  auto e = entry(833.067, -0.10, std::nullopt);
  e.statistic = "peak";
  e.provenance.kind = "published";
  auto r = h200(760);
  r.device.peak_bytes_per_second = 898.05e9;
  EXPECT_EQ(judge(r, model(e)).status, status::pass);
  r.measurement = rate(836);
  EXPECT_EQ(judge(r, model(e)).status, status::pass);
  r.measurement = rate(837);
  EXPECT_EQ(judge(r, model(e)).status, status::error);
  r.measurement = rate(749);
  EXPECT_EQ(judge(r, model(e)).status, status::regression);
}

TEST(compare, a_share_of_the_peak) {
  auto e = entry(0.9, -0.1, std::nullopt);
  e.unit.reset();
  auto r = h200(4000);
  auto const c = compared(r, e);
  EXPECT_DOUBLE_EQ(c.applied.reference, 0.9 * 4814.3e9);
  EXPECT_DOUBLE_EQ(c.applied.lower.value(), 0.81 * 4814.3e9);
}

TEST(compare, a_share_of_an_unknown_peak_cannot_be_judged_and_says_so) {
  auto e = entry(0.9);
  e.unit.reset();
  auto r = h200(4000);
  for (std::optional<double> const peak :
       {std::optional<double>{}, std::optional<double>{0.0}, std::optional<double>{NAN}}) {
    r.device.peak_bytes_per_second = peak;
    auto const v = judge(r, model(e));
    EXPECT_EQ(v.status, status::no_baseline);
    EXPECT_EQ(v.reasons.front().code, "peak-unknown");
    EXPECT_THAT(v.reasons.front().sentence, HasSubstr("memory clock or no bus width"));
    EXPECT_TRUE(v.baselines.empty());
  }
}

TEST(compare, a_share_of_a_links_peak_is_not_one_of_the_memorys) {
  auto e = entry(0.9);
  e.unit.reset();
  auto r = h200(50);
  r.probe.ceiling = "link";
  EXPECT_EQ(judge(r, model(e)).status, status::no_baseline);
}

TEST(compare, a_ratio_to_another_probe_of_the_process) {
  auto e = entry(0.5, -0.1, 0.1);
  e.unit.reset();
  e.relative_to = "copy";
  auto r = h200(1800);
  r.measurement->more = {{"traffic with index bytes", "B/s", 5}, {"ratio to copy", "", 0.45}};
  auto const c = compared(r, e);
  // The copy ran at 1800 / 0.45 = 4000 GiB/s, so half of it is the reference.
  EXPECT_DOUBLE_EQ(c.applied.reference, 2000 * gibps);
  EXPECT_DOUBLE_EQ(c.applied.lower.value(), 1800 * gibps);
  EXPECT_DOUBLE_EQ(c.applied.ratio, 0.9);
  EXPECT_EQ(c.sentence(),
            "1800.0 GiB/s is 10.00 % below the reference 2000.0 GiB/s that follows from copy, "
            "bound 1800.0 GiB/s (nvidia-h200.json)");
  r.measurement->more[1].value = 0.449;
  EXPECT_EQ(judge(r, model(e)).status, status::regression);
  r.measurement->more[1].value = 0.451;
  EXPECT_EQ(judge(r, model(e)).status, status::pass);
}

TEST(compare, a_ratio_that_was_not_measured_cannot_be_judged) {
  auto e = entry(0.5);
  e.unit.reset();
  e.relative_to = "copy";
  auto r = h200(1800);
  auto v = judge(r, model(e));
  EXPECT_EQ(v.status, status::no_baseline);
  EXPECT_EQ(sentence(v, "ratio-unknown"),
            "the entry is relative to copy, which this process did not measure");
  r.measurement->more = {{"ratio to triad", "", 0.5}};
  EXPECT_EQ(judge(r, model(e)).status, status::no_baseline);
  for (double const bad : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity()}) {
    r.measurement->more = {{"ratio to copy", "", bad}};
    EXPECT_EQ(judge(r, model(e)).status, status::no_baseline) << bad;
  }
}

TEST(compare, a_time_for_a_throughput_is_refused_by_file_and_pointer) {
  auto e = entry(12);
  e.unit = unit::microseconds;
  EXPECT_EQ(refusal(h200(4000), e),
            "nvidia-h200.json: /entries/0/unit: us is a time, but read measures a throughput; "
            "write GiB/s");
  auto r = h200(1);
  r.measurement = time_us(3);
  EXPECT_EQ(refusal(r, entry()),
            "nvidia-h200.json: /entries/0/unit: GiB/s is a throughput, but read measures a time; "
            "write us");
  e.unit.reset();
  EXPECT_THAT(refusal(r, e), HasSubstr("a share of the peak is a throughput"));
}

TEST(compare, where_lower_is_better_the_upper_bound_is_the_regression) {
  auto e = entry(10, -0.2, 0.1);
  e.unit = unit::microseconds;
  auto r = h200(1);
  r.probe.name = "launch";
  r.probe.ceiling = "none";
  r.probe.lower_is_better = true;
  auto status_at = [&](double us) {
    r.measurement = time_us(us);
    return judge(r, model(e)).status;
  };
  EXPECT_EQ(status_at(10), status::pass);
  EXPECT_EQ(status_at(11.1), status::regression);
  EXPECT_EQ(status_at(8.1), status::pass);
  EXPECT_EQ(status_at(7.9), status::improved);
  r.measurement = time_us(12);
  auto const v = judge(r, model(e));
  EXPECT_EQ(v.reasons.front().code, "above-bound");
  EXPECT_EQ(v.reasons.front().sentence,
            "12.000 us is 20.00 % above the reference 10.000 us, bound 11.000 us "
            "(nvidia-h200.json)");
  e.upper.reset();
  EXPECT_THAT(refusal(r, e), HasSubstr("/entries/0/tolerance/upper: null, but lower is better"));
}

TEST(compare, a_throughput_where_lower_is_better_has_its_loss_above_too) {
  auto r = h200(4100);
  r.probe.lower_is_better = true;
  EXPECT_EQ(judge(r, model()).status, status::regression);
}

TEST(compare, an_entry_that_would_pass_everything_is_refused) {
  auto const r = h200(4000);
  for (double const value : {0.0, -1.0, std::nan(""), std::numeric_limits<double>::infinity(),
                             std::numeric_limits<double>::denorm_min()}) {
    auto e = entry(value);
    EXPECT_THAT(refusal(r, e), HasSubstr("/entries/0/value")) << value;
  }
  for (double const lower : {0.0, 0.01, -1.0, -1.5, std::nan("")})
    EXPECT_THAT(refusal(r, entry(4000, lower)), HasSubstr("/tolerance/lower")) << lower;
  for (double const upper : {0.0, -0.01, std::nan(""), std::numeric_limits<double>::infinity()})
    EXPECT_THAT(refusal(r, entry(4000, -0.01, upper)), HasSubstr("/tolerance/upper")) << upper;
}

}  // namespace
}  // namespace bandgate
