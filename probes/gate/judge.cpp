// SPDX-License-Identifier: Apache-2.0
#include "gate/judge.hpp"

#include <fmt/format.h>

#include "gate/causes.hpp"
#include "gate/compare.hpp"
#include "gate/invalid.hpp"
#include "gate/numbers.hpp"
#include "gate/series.hpp"

namespace bandgate {
namespace {

using side = comparison::side;

/// The result held against everything there is to hold it against.
struct comparisons {
  std::vector<comparison> made;
  std::vector<reason> impossible;

  /// The one furthest on that side, relative to its reference.
  comparison const* furthest(side wanted) const {
    comparison const* found = nullptr;
    for (auto const& c : made) {
      if (c.outcome != wanted) continue;
      if (found == nullptr || distance(c) > distance(*found)) found = &c;
    }
    return found;
  }

 private:
  /// Beyond the broken bound, as a share of it.
  static double distance(comparison const& c) {
    auto const& b = c.applied;
    if (b.lower && c.value < *b.lower) return 1 - c.value / *b.lower;
    return b.upper ? c.value / *b.upper - 1 : 0;
  }
};

comparisons compare_all(result const& measured, baseline_match const& against) {
  comparisons all;
  for (auto const* entry : {&against.model, &against.card}) {
    if (!*entry) continue;
    auto one = compare(measured, **entry);
    if (auto* made = std::get_if<comparison>(&one))
      all.made.push_back(std::move(*made));
    else
      all.impossible.push_back(std::get<reason>(std::move(one)));
  }
  return all;
}

verdict decided(status what, reason why, std::string next_step) {
  verdict v;
  v.status = what;
  v.reasons.push_back(std::move(why));
  v.next_step = std::move(next_step);
  return v;
}

std::string record_step(result const& measured, char const* where) {
  return fmt::format("{} `bandgate baseline record {}`{}.", where, measured.probe.name,
                     measured.probe.parameters.empty() ? "" : " with the same parameters");
}

reason unsettled_reason(measurement const& m) {
  if (!m.slope) return {"unsettled", "the samples did not settle"};
  return {"unsettled", fmt::format("the samples did not settle: {} {} along their trend",
                                   *m.slope < 0 ? "they fell by" : "they rose by",
                                   percent_text(*m.slope < 0 ? -*m.slope : *m.slope))};
}

verdict of_failure(result const& measured) {
  auto why = failure_reason(measured);
  auto const* const step = step_after(why.code);
  bool const used =
      *measured.failure == failure::exclusively_held || *measured.failure == failure::contended;
  return decided(used ? status::inconclusive : status::error, std::move(why), step);
}

verdict of_error(reason why) {
  auto const* const step = step_after(why.code);
  return decided(status::error, std::move(why), step);
}

/// What decided: the bound that was broken most, the drop of a series, or both.
std::vector<reason> losses(comparisons const& all, evidence const& known) {
  auto const& measured = *known.measured;
  std::vector<reason> found;
  if (auto const* worst = all.furthest(side::worse)) {
    char const* code = measured.probe.lower_is_better
                           ? (worst->applied.card ? "above-card-bound" : "above-bound")
                           : (worst->applied.card ? "below-card-bound" : "below-bound");
    found.push_back({code, worst->sentence()});
    if (auto which = slowest_part_reason(*measured.measurement, *worst))
      found.push_back(*std::move(which));
  }
  if (auto drop = dropped(*measured.measurement, all.made)) found.push_back(*std::move(drop));
  if (found.empty())
    if (auto gap = uneven(*measured.measurement, all.made)) found.push_back(*std::move(gap));
  return found;
}

char const* step_without_cause(measurement const& m) {
  if (m.unsettled)
    return "Measure again while watching clocks, temperature and power of the device.";
  if (m.series && m.series->axis == "address")
    return "Map the memory again: if slow slices come back, reset the device; if they still do, "
           "take it out of service.";
  return "Measure another device of this model with the same driver: if it is slow too, look at "
         "what changed (driver, firmware, tool), else at this device.";
}

/// Of a loss without a cause: the platform, unless the reference is this very card's; else what was
/// looked at in vain.
void add_why_not(verdict& v, evidence const& known, bool has_own_reference) {
  auto const& measured = *known.measured;
  if (!has_own_reference)
    if (auto const platform = find_last_resort(known)) {
      v.reasons.push_back(platform->why);
      v.next_step = record_step(measured, "Record an entry for this platform:");
      return;
    }
  v.reasons.push_back(no_cause(known));
  v.next_step = step_without_cause(*measured.measurement);
}

verdict of_regression(std::vector<reason> lost, evidence const& known, bool has_own_reference) {
  verdict v;
  v.status = status::regression;
  v.reasons = std::move(lost);
  auto const causes = find_causes(known);
  for (auto const& c : causes) v.reasons.push_back(c.why);
  auto const& m = *known.measured->measurement;
  if (m.unsettled) v.reasons.push_back(unsettled_reason(m));
  if (causes.empty())
    add_why_not(v, known, has_own_reference);
  else
    v.next_step = causes.front().rule->next_step;
  return v;
}

verdict without_baseline(result const& measured, baseline_match const& against,
                         comparisons const& all) {
  auto why =
      all.impossible.empty()
          ? reason{"no-baseline",
                   fmt::format("no baseline entry for {}{}{}", measured.probe.name,
                               against.looked_in.empty() ? "" : "; looked in ", against.looked_in)}
          : all.impossible.front();
  return decided(status::no_baseline, std::move(why),
                 record_step(measured, "Record one on devices that you trust:"));
}

verdict judged(result const& measured, baseline_match const& against, comparisons const& all,
               evidence const& known) {
  if (auto const other = find_contention(measured))
    return decided(status::inconclusive, other->why, other->rule->next_step);
  if (auto lost = losses(all, known); !lost.empty())
    return of_regression(std::move(lost), known, against.card.has_value());
  // What cannot be held against one of two entries is not judged: both must hold.
  if (all.made.empty() || !all.impossible.empty()) return without_baseline(measured, against, all);
  if (measured.measurement->unsettled)
    return decided(status::inconclusive, unsettled_reason(*measured.measurement),
                   "Let the device come to rest and measure again; look for what disturbs it.");
  if (auto const* better = all.furthest(side::better))
    return decided(status::improved, {"above-upper", better->sentence()},
                   record_step(measured, "If this is the new normal, adopt it:"));
  verdict v;
  v.status = status::pass;
  return v;
}

/// Entries for one board part, or for several, may be another's than the device's.
void add_board_part_note(verdict& v, device_identity const& device, baseline_match const& against) {
  if (!device.board_part.empty() || v.baselines.empty()) return;
  for (auto const* entry : {&against.model, &against.card})
    if (*entry && !(*entry)->board_part.empty()) {
      v.reasons.push_back(
          {"board-part-unknown",
           fmt::format("board part not known: judged by the bounds of {}", (*entry)->board_part)});
      return;
    }
}

/// Findings that explain nothing here, yet a person wants to see.
void add_notes(verdict& v, evidence const& known, comparisons const& all) {
  if (v.status != status::regression)
    for (auto const& c : find_causes(known)) v.reasons.push_back(c.why);
  for (auto const& c : all.made)
    if (c.applied.generic && c.relative_to.empty())
      v.reasons.push_back(
          {"generic", fmt::format("judged by the generic floor: no entry for it knows this model{}"
                                  "{}",
                                  known.device.name.empty() ? "" : ": ", known.device.name)});
}

/// As the model's entry states them, else the card's.
expectations expected_of(baseline_match const& against) {
  expectations all;
  for (auto const* entry : {&against.card, &against.model}) {
    if (!*entry) continue;
    auto const& e = (*entry)->expected;
    if (auto const ecc = e.ecc ? e.ecc : (*entry)->ecc) all.ecc = ecc;
    if (e.pcie_generation) all.pcie_generation = e.pcie_generation;
    if (e.pcie_width) all.pcie_width = e.pcie_width;
    if (e.nvlinks) all.nvlinks = e.nvlinks;
    if (e.power_limit_w) all.power_limit_w = e.power_limit_w;
  }
  return all;
}

}  // namespace

verdict judge(result const& measured, baseline_match const& against) {
  auto const known = evidence_of(measured, expected_of(against));
  comparisons all;
  verdict v;
  if (measured.failure) {
    v = of_failure(measured);
  } else if (!measured.skip_reason.empty()) {
    return decided(status::skipped, {"not-applicable", measured.skip_reason},
                   "Nothing to do: the probe has no meaning on this device.");
  } else if (auto why = invalid(measured)) {
    v = of_error(*std::move(why));
  } else if (why = above_ceiling(measured, against); why) {
    v = of_error(*std::move(why));
  } else {
    all = compare_all(measured, against);
    v = judged(measured, against, all, known);
    for (auto const& c : all.made) v.baselines.push_back(c.applied);
  }
  add_notes(v, known, all);
  add_board_part_note(v, measured.device, against);
  return v;
}

}  // namespace bandgate
