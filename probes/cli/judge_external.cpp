// SPDX-License-Identifier: Apache-2.0
#include "cli/judge_external.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <bandgate/errors.hpp>

#include "gate/compare.hpp"

namespace bandgate::cli {
namespace {

double median_of(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  auto const half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

bool wants_time(baseline_entry const& entry, external_benchmark const& one) {
  return entry.unit == unit::microseconds || (!entry.relative_to.empty() && one.rates.empty());
}

std::vector<double> const& values_of(external_benchmark const& one, baseline_entry const& entry,
                                     bool is_time) {
  auto const& values = is_time ? one.seconds : one.rates;
  if (values.empty())
    throw usage_error(fmt::format("{}: {}: the entry {} of {} wants {}, but {}", one.where,
                                  one.full_name, entry.pointer, entry.file,
                                  is_time ? "a time" : "bytes per second",
                                  is_time ? "it states no time" : one.why_no_rate));
  return values;
}

measurement measured(std::vector<double> const& values, bool is_time) {
  measurement m;
  m.is_time = is_time;
  m.samples = values;
  m.median = median_of(values);
  auto const [least, most] = std::minmax_element(values.begin(), values.end());
  m.peak = is_time ? *least : *most;
  return m;
}

external_benchmark const* other_of(external_benchmark const& one, baseline_entry const& entry,
                                   external_results const& all) {
  external_benchmark const* found = nullptr;
  for (auto const& b : all.benchmarks) {
    if (!b.on_device_of(one) || (b.name != entry.relative_to && b.full_name != entry.relative_to))
      continue;
    if (b.values == one.values) return &b;
    if (b.values.empty()) found = &b;
  }
  return found;
}

/// As a process that measures both would state it.
void add_ratio(measurement& m, external_benchmark const& one, baseline_entry const& entry,
               external_results const& all) {
  if (entry.relative_to.empty()) return;
  auto const* other = other_of(one, entry, all);
  if (other == nullptr || !other->failure.empty()) return;
  auto const& values = m.is_time ? other->seconds : other->rates;
  if (!values.empty())
    m.more.push_back({"ratio to " + entry.relative_to, "1", m.median / median_of(values)});
}

std::string origin_of(external_benchmark const& one, external_results const& all, std::size_t n) {
  auto text = "verified: external, measured by " + all.tool + ", which checks no result";
  if (n > 0) text += n == 1 ? "; n = 1, a single value" : fmt::format("; the median of n = {}", n);
  for (auto const& note : one.notes) text += "; " + note;
  return text;
}

void decide(verdict& v, comparison const& c, bool lower_is_better) {
  v.baselines.push_back(c.applied);
  if (c.outcome == comparison::side::within) {
    v.status = status::pass;
  } else if (c.outcome == comparison::side::better) {
    v.status = status::improved;
    v.reasons.push_back({"above-upper", c.sentence()});
    v.next_step = "If this is the new normal, write it into the entry.";
  } else {
    v.status = status::regression;
    v.reasons.push_back({lower_is_better ? "above-bound" : "below-bound", c.sentence()});
    v.next_step =
        "Run the benchmark again, in a process of its own, and `bandgate check` for the device: if "
        "that is fine, look at what changed in the kernel.";
  }
}

verdict without_entry(external_benchmark const& one) {
  verdict v;
  v.status = status::no_baseline;
  v.reasons.push_back({"no-baseline", fmt::format("no entry whose probe is \"{}\"{}", one.name,
                                                  one.values.empty() ? ""
                                                                     : " with its axes as "
                                                                       "parameters")});
  v.next_step = "Write one, from runs on devices that you trust.";
  return v;
}

/// A probe's name as `list` would print it: the benchmark with its axes, and of several devices of
/// one name which.
std::string title_of(external_benchmark const& one, external_results const& all) {
  auto text = one.name;
  for (auto const& [name, value] : one.values)
    text += " " + name + "=" + std::get<std::string>(value);
  bool const has_twin =
      std::any_of(all.benchmarks.begin(), all.benchmarks.end(), [&](auto const& other) {
        return other.device == one.device && other.device_index != one.device_index;
      });
  if (has_twin && one.device_index) text += fmt::format(" on device {}", *one.device_index);
  return text;
}

}  // namespace

judged_benchmark judge_external(external_benchmark const& one, baseline_entry const* entry,
                                external_results const& all) {
  judged_benchmark judged{&one, {}};
  auto& r = judged.result;
  r.device.name = one.device;
  r.device.peak_bytes_per_second = one.peak_bytes_per_second;
  r.probe.name = title_of(one, all);
  r.probe.ceiling = "none";
  if (!one.failure.empty()) {
    r.verdict.status = status::error;
    r.verdict.reasons = {{"benchmark-failed", one.failure}};
    r.verdict.next_step = "Run the benchmark by hand and look at what it prints.";
  } else if (!one.skipped.empty()) {
    r.skip_reason = one.skipped;
    r.verdict.status = status::skipped;
    r.verdict.reasons = {{"not-applicable", one.skipped}};
  } else if (entry == nullptr) {
    auto const is_time = one.rates.empty();
    auto const& values = is_time ? one.seconds : one.rates;
    if (!values.empty()) r.measurement = measured(values, is_time);
    r.verdict = without_entry(one);
  } else {
    if (!entry->relative_to.empty() && entry->statistic != "median")
      throw usage_error(entry->file + ": " + entry->pointer +
                        "/statistic: the ratio to another benchmark is that of the medians; remove "
                        "it");
    bool const is_time = wants_time(*entry, one);
    r.probe.lower_is_better = is_time;
    r.measurement = measured(values_of(one, *entry, is_time), is_time);
    add_ratio(*r.measurement, one, *entry, all);
    auto const made = compare(r, *entry);
    if (auto const* why = std::get_if<reason>(&made)) {
      r.verdict = without_entry(one);
      r.verdict.reasons = {*why};
    } else {
      decide(r.verdict, std::get<comparison>(made), is_time);
    }
  }
  r.notes.push_back(origin_of(one, all, r.measurement ? r.measurement->samples.size() : 0));
  return judged;
}

}  // namespace bandgate::cli
