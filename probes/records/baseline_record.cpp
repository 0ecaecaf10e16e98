// SPDX-License-Identifier: Apache-2.0
#include <fmt/format.h>

#include <algorithm>
#include <cmath>
#include <numeric>

#include "records/baseline_match.hpp"
#include "records/baselines.hpp"
#include "records/significant.hpp"

namespace bandgate {
namespace {

double median(std::vector<double> values) {
  std::sort(values.begin(), values.end());
  auto const half = values.size() / 2;
  return values.size() % 2 == 1 ? values[half] : (values[half - 1] + values[half]) / 2;
}

/// Of the values of one card, as a share of their median; one value has no spread to learn from.
double relative_sd(std::vector<double> const& values) {
  if (values.size() < 2) return 0;
  auto const n = static_cast<double>(values.size());
  double const mean = std::accumulate(values.begin(), values.end(), 0.0) / n;
  double squares = 0;
  for (double const value : values) squares += (value - mean) * (value - mean);
  return std::sqrt(squares / (n - 1)) / median(values);
}

/// To four decimals, up: rounding must not make a bound tighter than what was learned. The small
/// term keeps 0.03, which binary arithmetic has as 0.0300…04, at 0.03.
double rounded_up(double share) {
  return std::ceil(share * 1e4 - 1e-6) / 1e4;
}

void check(recorded_probe const& seen, std::optional<std::size_t> card) {
  auto const name = seen.what->name;
  if (seen.medians_by_card.empty() || seen.cards.size() != seen.medians_by_card.size() ||
      (card && *card >= seen.cards.size()))
    throw usage_error(name + ": nothing was measured that a baseline could be recorded from");
  for (auto const& medians : seen.medians_by_card) {
    if (medians.empty())
      throw usage_error(name + ": a card has no measurement; nothing is recorded for part of them");
    for (double const value : medians)
      if (!std::isfinite(value) || value <= 0)
        throw usage_error(
            fmt::format("{}: {} is no measurement that can be a reference", name, value));
  }
}

/// Between the healthy cards that the entry will hold for.
double spread_of(recorded_probe const& seen) {
  // Measured on fourteen H200s: cards of one board part agree to 0.2 % at the limit of the memory
  // where the model's two board parts differ by 1.7 %, and to 1.2 % below it where they differ by
  // 3 %. Of a link, and of the parts of a series, the board part says nothing.
  constexpr double within_board_part = 0.25;
  bool const narrow = seen.one_board_part && seen.what->ceiling == ceiling::dram &&
                      seen.what->procedure == procedure::settle;
  return seen.what->expected_spread * (narrow ? within_board_part : 1);
}

double tolerance(recorded_probe const& seen, std::optional<std::size_t> card) {
  constexpr double least = 0.01, least_of_a_card = 0.005, deviations = 6;
  double share = least;
  if (card) {
    share = std::max(least_of_a_card, deviations * relative_sd(seen.medians_by_card[*card]));
  } else {
    for (auto const& medians : seen.medians_by_card)
      share = std::max(share, deviations * relative_sd(medians));
    share = std::max(share, tolerance_for_other_cards(seen));
  }
  if (share >= 1)
    throw usage_error(fmt::format(
        "{}: the processes differ so much that the tolerance would be {:.0f} %; find out what "
        "disturbs them and record again",
        seen.what->name, share * 100));
  return rounded_up(share);
}

}  // namespace

double tolerance_for_other_cards(recorded_probe const& seen) {
  constexpr double margin = 1.5;
  constexpr std::size_t enough_cards = 3;
  // What was learned on one card must not condemn the next seven.
  return seen.cards.size() < enough_cards ? margin * spread_of(seen) : 0;
}

baseline_entry make_entry(recorded_probe const& seen, std::optional<std::size_t> card,
                          provenance const& origin) {
  check(seen, card);
  std::vector<double> medians;
  std::size_t processes = SIZE_MAX;
  for (std::size_t i = 0; i < seen.cards.size(); ++i) {
    if (card && i != *card) continue;
    medians.push_back(median(seen.medians_by_card[i]));
    processes = std::min(processes, seen.medians_by_card[i].size());
  }
  baseline_entry entry;
  entry.probe = seen.what->name;
  entry.parameters = keyed(seen.what->parameters, seen.values);
  double const share = tolerance(seen, card);
  entry.lower = -share;
  if (seen.what->procedure != procedure::settle) entry.statistic = "worst";
  if (seen.what->procedure == procedure::slices) {  // a ratio of at most 1: no upper bound
    entry.relative_to = "median";
    entry.value = significant(median(medians), 6);
  } else {
    bool const time = seen.what->direction == direction::lower_is_better;
    entry.unit = time ? unit::microseconds : unit::gib_per_s;
    entry.value = significant(from_base(median(medians), *entry.unit), 6);
    entry.upper = share;
  }
  if (card) entry.card = seen.cards[*card];
  entry.provenance = origin;
  if (entry.provenance.kind.empty()) entry.provenance.kind = "measured";
  entry.provenance.cards = static_cast<unsigned>(medians.size());
  entry.provenance.processes = static_cast<unsigned>(processes);
  return entry;
}

std::filesystem::path recording_path(std::filesystem::path const& folder,
                                     device_identity const& device,
                                     std::vector<probe> const& probes) {
  namespace fs = std::filesystem;
  std::vector<std::string> warnings;
  std::vector<baseline_file> files;
  if (fs::exists(folder)) files = read_folder(folder, probes, warnings);
  for (auto const& who : {device, model_of(device)})
    for (auto const& file : files)
      if (!file.generic && fit(file, who).level != closeness::none) return file.origin;
  auto name = baseline_name(device);
  if (!device.mig_profile.empty()) name += " mig " + device.mig_profile;
  if (device.ecc == false) name += " ecc off";
  auto const stem = file_name_for(name);
  auto path = folder / (stem + ".json");
  for (int copy = 2; fs::exists(path); ++copy)
    path = folder / (stem + "-" + std::to_string(copy) + ".json");
  return path;
}

}  // namespace bandgate
