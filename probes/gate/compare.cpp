// SPDX-License-Identifier: Apache-2.0
#include "gate/compare.hpp"

#include <cmath>
#include <optional>

#include <fmt/format.h>

#include "gate/numbers.hpp"

namespace bandgate {
namespace {

[[noreturn]] void refuse(baseline_entry const& entry, char const* key, std::string const& why) {
  throw usage_error(fmt::format("{}: {}{}: {}", entry.file, entry.pointer, key, why));
}

double statistic_of(measurement const& m, baseline_entry const& entry) {
  if (entry.statistic == "median") return m.median;
  if (entry.statistic == "peak") return m.peak;
  if (entry.statistic == "worst") {
    if (m.worst) return *m.worst;
    refuse(entry, "/statistic", "worst is of a series, which this probe does not measure");
  }
  refuse(entry, "/statistic",
         fmt::format("\"{}\" is none of median, peak, worst; write one of them", entry.statistic));
}

/// The reference in base units, or why there is none.
using reference = std::variant<double, reason>;

reference absolute_reference(result const& measured, baseline_entry const& entry) {
  bool const is_time = measured.measurement->is_time;
  if (is_time != (*entry.unit == unit::microseconds))
    refuse(entry, "/unit",
           fmt::format("{} is a {}, but {} measures a {}; write {}", to_string(*entry.unit),
                       is_time ? "throughput" : "time", measured.probe.name,
                       is_time ? "time" : "throughput", is_time ? "us" : "GiB/s"));
  return to_base(entry.value, *entry.unit);
}

reference share_of_peak(result const& measured, baseline_entry const& entry) {
  if (measured.measurement->is_time)
    refuse(entry, "/unit",
           fmt::format("a share of the peak is a throughput, but {} measures a time; write us",
                       measured.probe.name));
  if (measured.probe.ceiling == "link")
    return reason{"peak-unknown",
                  "the entry is a share of the peak, and the peak of this link is not known"};
  auto const& peak = measured.device.peak_bytes_per_second;
  if (!peak || !std::isfinite(*peak) || *peak <= 0)
    return reason{"peak-unknown",
                  "the entry is a share of the peak, and the peak of this device is not known: the "
                  "driver gives no memory clock or no bus width, or reports 0"};
  return entry.value * *peak;
}

/// The reference follows the other probe's rate in this process, so bounds stay rates.
reference relative_reference(result const& measured, baseline_entry const& entry, double value) {
  if (entry.relative_to == "median") {
    if (entry.statistic != "worst")
      refuse(entry, "/relative_to", "only the worst part of a series is held against its median");
    return entry.value * measured.measurement->median;
  }
  auto const name = "ratio to " + entry.relative_to;
  for (auto const& further : measured.measurement->more) {
    if (further.name != name) continue;
    if (std::isfinite(further.value) && further.value > 0)
      return entry.value * (value / further.value);
    return reason{"ratio-unknown",
                  fmt::format("the measured {} is zero, negative or not a number", name)};
  }
  return reason{"ratio-unknown",
                fmt::format("the entry is relative to {}, which this process did not measure",
                            entry.relative_to)};
}

comparison::side side_of(double value, applied_baseline const& b, bool lower_is_better) {
  bool const low = b.lower && value < *b.lower;
  bool const high = b.upper && value > *b.upper;
  if (lower_is_better ? high : low) return comparison::side::worse;
  if (lower_is_better ? low : high) return comparison::side::better;
  return comparison::side::within;
}

applied_baseline apply(baseline_entry const& entry, double absolute, double value) {
  applied_baseline b;
  b.file = entry.file;
  b.entry = entry.pointer;
  b.kind = entry.provenance.kind;
  b.statistic = entry.statistic;
  b.generic = entry.generic;
  b.card = !entry.card.empty();
  b.reference = absolute;
  b.lower = absolute * (1 + entry.lower);
  if (entry.upper) b.upper = absolute * (1 + *entry.upper);
  b.ratio = value / absolute;
  return b;
}

/// Bad entries are refused when a file is read; this is the last line, since a bound that compares
/// false with everything passes everything.
void require_usable(applied_baseline const& b, baseline_entry const& entry, bool lower_is_better) {
  if (!std::isfinite(b.reference) || b.reference <= 0 || !std::isfinite(b.ratio))
    refuse(entry, "/value", "not a reference above zero; record the entry again");
  if (!(entry.lower > -1 && entry.lower < 0))
    refuse(entry, "/tolerance/lower", "not between -1 and 0; write -0.01 for one percent");
  if (entry.upper && !(*entry.upper > 0 && std::isfinite(*entry.upper)))
    refuse(entry, "/tolerance/upper", "not above 0; write 0.01 for one percent, or null");
  if (lower_is_better && !entry.upper)
    refuse(entry, "/tolerance/upper",
           "null, but lower is better here, so this is the bound of a regression; write a number");
}

}  // namespace

std::variant<comparison, reason> compare(result const& measured, baseline_entry const& entry) {
  auto const& m = *measured.measurement;
  double const value = statistic_of(m, entry);
  reference const found = !entry.relative_to.empty() ? relative_reference(measured, entry, value)
                          : entry.unit               ? absolute_reference(measured, entry)
                                                     : share_of_peak(measured, entry);
  if (auto const* why = std::get_if<reason>(&found)) return *why;
  comparison c;
  c.applied = apply(entry, std::get<double>(found), value);
  require_usable(c.applied, entry, measured.probe.lower_is_better);
  c.tolerance = measured.probe.lower_is_better ? *entry.upper : -entry.lower;
  c.value = value;
  c.is_time = m.is_time;
  c.relative_to = entry.relative_to;
  c.outcome = side_of(value, c.applied, measured.probe.lower_is_better);
  return c;
}

std::string comparison::sentence() const {
  bool const below = value < applied.reference;
  auto const& bound = below ? applied.lower : applied.upper;
  std::string const whose = applied.card ? "this card's own reference" : "the reference";
  return fmt::format("{}{} is {} {} {} {}{}, {} ({})",
                     applied.statistic == "median" ? "" : "the " + applied.statistic + " of ",
                     value_text(value, is_time), percent_text(std::abs(applied.ratio - 1)),
                     below ? "below" : "above", whose, value_text(applied.reference, is_time),
                     relative_to.empty() ? "" : " that follows from " + relative_to,
                     bound ? "bound " + value_text(*bound, is_time) : "no bound", applied.file);
}

}  // namespace bandgate
