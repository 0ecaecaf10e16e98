// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <limits>

#include "iterations.hpp"
#include "measure.hpp"

namespace bandgate {
namespace {

/// Whether the time per pass has stopped falling. Patience and a floor in time, because the clocks
/// of a device rise in steps that are hundreds of milliseconds apart.
class plateau {
 public:
  explicit plateau(protocol const& rules) : rules_(rules) {}

  void restart() { best_ = std::numeric_limits<double>::infinity(); }

  bool holds(double per_pass, nanoseconds now) {
    if (per_pass < best_ * (1 - rules_.plateau_tolerance)) {
      best_ = per_pass;
      since_ = now;
      stable_rounds_ = 0;
      return false;
    }
    best_ = std::min(best_, per_pass);
    ++stable_rounds_;
    return stable_rounds_ >= rules_.plateau_patience && now - since_ >= rules_.plateau_floor;
  }

 private:
  protocol const& rules_;
  double best_{std::numeric_limits<double>::infinity()};
  nanoseconds since_{};
  unsigned stable_rounds_{};
};

}  // namespace

std::uint64_t warm_up(subject& what, clock& time, protocol const& rules) {
  std::uint64_t count = std::max<std::uint64_t>(1, what.min_iterations());
  nanoseconds const begin = time.now();
  plateau flat{rules};
  for (unsigned round = 0; round < rules.warm_up_rounds; ++round) {
    nanoseconds const elapsed = what.sample(count);
    nanoseconds const now = time.now();
    if (elapsed < rules.target) {
      // The count began at what the subject needs and only grows, so neither ceiling lowers it.
      std::uint64_t const most =
          reads_nothing(elapsed) ? rules.blind_ceiling : rules.iteration_ceiling;
      if (count >= most || now - begin >= rules.warm_up_budget) break;
      count = grown(count, elapsed, most, rules);
      flat.restart();
    } else if (flat.holds(static_cast<double>(elapsed.count()) / static_cast<double>(count), now)) {
      break;
    }
  }
  return count;
}

}  // namespace bandgate
