// SPDX-License-Identifier: Apache-2.0
#include "doubling.hpp"

#include <fmt/format.h>

#include <bandgate/errors.hpp>

#include "iterations.hpp"

namespace bandgate {
namespace {

struct pair_of_counts {
  std::uint64_t fewer, more;
};

/// n and 2n; n/2 and n where 2n is beyond what a kernel may be asked for. A subject that needs more
/// than n/2 passes is asked for 2n all the same.
pair_of_counts counts_around(subject const& what, std::uint64_t n, protocol const& rules) {
  bool const halves = n / 2 >= 1 && n / 2 >= what.min_iterations();
  if (2 * n > most_iterations(what, rules) && halves) return {n / 2, n};
  return {n, 2 * n};
}

double milliseconds(nanoseconds t) {
  return static_cast<double>(t.count()) / 1e6;
}

}  // namespace

void require_doubling(subject& what, std::uint64_t iterations, protocol const& rules) {
  constexpr int tries = 3;
  auto const [fewer, more] = counts_around(what, iterations, rules);
  double const factor = static_cast<double>(more) / static_cast<double>(fewer);
  nanoseconds short_run{}, long_run{};
  for (int i = 0; i < tries; ++i) {
    short_run = what.sample(fewer);
    long_run = what.sample(more);
    if (reads_nothing(short_run) || reads_nothing(long_run)) continue;
    double const expected = factor * static_cast<double>(short_run.count());
    if (static_cast<double>(long_run.count()) >= expected * (1 - rules.doubling_tolerance)) return;
  }
  if (reads_nothing(short_run) || reads_nothing(long_run))
    throw measurement_error(
        failure::zero_elapsed,
        fmt::format("the timer reads nothing for {} passes in one sample: the passes are not done, "
                    "or the timer is broken",
                    reads_nothing(long_run) ? more : fewer));
  throw measurement_error(
      failure::not_proportional,
      fmt::format(
          "{} passes took {:.3f} ms and {} passes {:.3f} ms, which is {:.2f} times the time "
          "for {:g} times the passes ({} tries): the kernel does not do its work",
          fewer, milliseconds(short_run), more, milliseconds(long_run),
          milliseconds(long_run) / milliseconds(short_run), factor, tries));
}

}  // namespace bandgate
