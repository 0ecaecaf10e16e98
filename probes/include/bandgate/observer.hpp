// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstdint>

namespace bandgate {

/// The phases of one attempt, in the order in which they happen.
enum class phase { fill, verify, warm_up, ranking, sampling, verify_again, done };

constexpr char const* to_string(phase p) {
  switch (p) {
    case phase::fill:
      return "fill";
    case phase::verify:
      return "verify";
    case phase::warm_up:
      return "warm-up";
    case phase::ranking:
      return "ranking";
    case phase::sampling:
      return "sampling";
    case phase::verify_again:
      return "verify again";
    case phase::done:
      return "done";
  }
  return "?";
}

/// Hears of each phase as it begins: health sampling, the progress line and scripted devices
/// listen, so that the code which measures knows none of them.
class observer {
 public:
  virtual ~observer() = default;
  virtual void on_phase(phase) {}
  /// Part `done` of `all` of the phase is over.
  virtual void on_progress(std::uint64_t /*done*/, std::uint64_t /*all*/) {}
};

}  // namespace bandgate
