// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include <bandgate/session.hpp>

#include "backend/scripted/script.hpp"

namespace bandgate {

/// "GPU-1 at 0000:1b:00.0 (scripted)"
std::string scripted_label(device_identity const& d);

/// The course of one prepared probe, which its subjects and the health monitor share.
struct course {
  scripted_attempt const* attempt{};
  std::uint64_t sampling_calls{};
  std::uint64_t part{};  ///< the window or the slice that is measured, from 0 on
  std::uint64_t parts_begun{};
  bool sampling{};  ///< in that phase
  bool sampled{};   ///< it has begun
  bool lost{};
};

/// What a script says of a part: the last of a list repeats.
template <class T>
T const& of_part(std::vector<T> const& list, std::uint64_t part) {
  return list[std::min<std::size_t>(part, list.size() - 1)];
}

/// What a scripted device says of itself before, during and after the sampling.
class scripted_monitor final : public health_monitor {
 public:
  /// `since`: when the device was first looked at, by `time`.
  scripted_monitor(scripted_health const& of_device, clock& time, nanoseconds since)
      : of_device_(of_device), time_(time), since_(since) {}

  /// The first is what the result is about; another only serves a comparison.
  void watch(course& run) {
    if (run_ == nullptr) run_ = &run;
  }
  void on_phase(phase p) override;
  void part_begins(nanoseconds) override;
  health_snapshot part_ends() override;
  /// As on a real device: nothing is known of a load that never came.
  bandgate::health report() override;

 private:
  scripted_health const& of_device_;
  clock& time_;
  nanoseconds since_;
  course* run_{};
  bool sampled_{};
};

}  // namespace bandgate
