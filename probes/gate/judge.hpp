// SPDX-License-Identifier: Apache-2.0
/// The verdict: a pure function of values. No I/O, no clock, no environment.
#pragma once

#include <optional>
#include <vector>

#include <bandgate/baseline.hpp>
#include <bandgate/result.hpp>

namespace bandgate {

/// Judges one attempt. `measured.verdict` is ignored; everything else of the result is read.
/// Order: failed or invalid measurement -> error (exclusively held or contended: inconclusive);
/// above the ceiling -> error; contended -> inconclusive; no entry -> no_baseline; beyond a bound
/// -> regression, also when unsettled, and so is a series that fell by more than the tolerance from
/// its first to its last window; unsettled within -> inconclusive; above upper -> improved; else
/// pass. A skip reason -> skipped. Where model and card have an entry both must hold.
///
/// `reasons`: first what decided, with its numbers (none for a plain pass), then what may have
/// caused a loss, most specific first, or what was checked in vain; on other verdicts the same
/// findings are notes. Throws usage_error, naming file and pointer, for an entry that cannot be
/// meant for this probe (a time for a throughput).
verdict judge(result const& measured, baseline_match const& against);

/// The throttling that a run's health shows under load (clock events), most specific first, unless
/// a counter tells that it covered less than a tenth of the sampling; nothing of it makes a
/// verdict, but no baseline is made of such a run.
std::vector<reason> causes_present(result const& measured);

/// The physical limit that a value of this result must stay below, bytes per second: the device's
/// own peak for `dram`, that of the PCIe link as it was under load for `link`, in as many
/// directions as a pass uses at once. None where it is not known (between two GPUs) or the probe
/// has none.
std::optional<double> ceiling_of(result const& measured);

/// Whether a first verdict asks for a second measurement in a fresh process: low, or unsettled
/// within its bounds.
bool needs_confirmation(verdict const& first);

/// Joins the verdicts of the first attempt and its confirmation: both low: regression; second fine:
/// the second's with `unstable`; second failed: the second's, naming the first. Else inconclusive:
/// one low and one unsettled, both unsettled, or a second that judged nothing.
verdict confirm(verdict const& first, verdict const& second);

/// Of several results: the first present of error, regression, (no usage errors here),
/// inconclusive, judged; skipped only if all were; error for none, since nothing was done.
/// Documented in the README as exit codes.
status worst(std::vector<status> const& all);

}  // namespace bandgate
