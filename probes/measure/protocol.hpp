// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace bandgate {

/// The constants of the measurement protocol, each with its reason. Tests and `doctor`-like callers
/// may change a copy; the defaults are what results are made with.
struct protocol {
  /// Every shape is timed over the same span, so none wears a larger share of the launch cost.
  std::chrono::nanoseconds target{std::chrono::milliseconds{20}};
  /// Bounds the growing of the count where the timer is too coarse ever to reach the target.
  std::chrono::nanoseconds warm_up_budget{std::chrono::seconds{2}};
  unsigned warm_up_rounds{50};
  /// A clock transition takes hundreds of ms; rounds sit microseconds apart, so patience alone
  /// proves nothing.
  double plateau_tolerance{0.03};
  unsigned plateau_patience{3};
  std::chrono::nanoseconds plateau_floor{std::chrono::milliseconds{250}};
  /// Wall clock, because a timer that reads zero would never spend a sum of samples.
  std::chrono::nanoseconds sampling_budget{std::chrono::milliseconds{200}};
  unsigned sampling_patience{12};
  double sampling_improvement{0.01};
  unsigned samples_least{5};
  unsigned samples_most{200};
  /// Far below 2^32: a kernel may count passes in 32 bits.
  std::uint64_t iteration_ceiling{1ULL << 24};
  /// Where the timer reads (nearly) zero, doubling converges on nothing and an iteration can be a
  /// real launch.
  std::uint64_t blind_ceiling{1ULL << 10};
  /// A count, not a time: under a time budget a short pass would draw more samples and look faster.
  unsigned ranking_samples{3};
  /// Twice the passes must take twice the time within this, or the work is not being done.
  double doubling_tolerance{0.05};
  /// Of a series: long against a clock transition, short against what heats a card.
  std::chrono::nanoseconds window{std::chrono::seconds{1}};
  /// Of each slice: an odd number for the median, so that neither the first one, which finds the
  /// addresses' translations missing, nor a single disturbed one decides; five times 5 ms keep the
  /// map of a card of 141 GB within seconds.
  unsigned slice_samples{5};
  std::chrono::nanoseconds slice_target{std::chrono::milliseconds{5}};
};

}  // namespace bandgate
