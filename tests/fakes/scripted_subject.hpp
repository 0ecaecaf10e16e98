// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cmath>
#include <functional>
#include <utility>
#include <vector>

#include "virtual_clock.hpp"

namespace bandgate::fakes {

/// What one sample reads on the device's timer, and what it costs of wall clock.
struct reading {
  nanoseconds elapsed{};
  nanoseconds cost{};
};

/// What a script may depend on.
struct call {
  std::uint64_t iterations{};
  nanoseconds now{};     ///< when the sample begins
  std::size_t number{};  ///< calls before this one
};

/// A subject whose every reading is written down; moves the virtual clock and remembers its calls.
class scripted_subject : public subject {
 public:
  using script = std::function<reading(call const&)>;

  scripted_subject(virtual_clock& time, script answer, std::uint64_t least = 1)
      : time_(time), answer_(std::move(answer)), least_(least) {}

  nanoseconds sample(std::uint64_t iterations) override {
    reading const r = answer_({iterations, time_.now(), counts.size()});
    counts.push_back(iterations);
    time_.advance(r.cost);
    return r.elapsed;
  }
  std::uint64_t bytes_per_iteration() const override { return 1000; }
  std::uint64_t min_iterations() const override { return least_; }

  std::vector<std::uint64_t> counts;  ///< passes asked for, call by call

 private:
  virtual_clock& time_;
  script answer_;
  std::uint64_t least_;
};

/// The time of `iterations` passes, and as much of wall clock.
inline reading passes(std::uint64_t iterations, double nanoseconds_per_pass) {
  nanoseconds const t{std::llround(static_cast<double>(iterations) * nanoseconds_per_pass)};
  return {t, t};
}

/// Always the same time per pass.
inline scripted_subject::script steady(double nanoseconds_per_pass) {
  return [=](call const& c) { return passes(c.iterations, nanoseconds_per_pass); };
}

/// A timer that reads the same whatever is asked, while the clock on the wall moves by `cost`.
inline scripted_subject::script always(nanoseconds elapsed, nanoseconds cost) {
  return [=](call const&) { return reading{elapsed, cost}; };
}

}  // namespace bandgate::fakes
