// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/session.hpp>
#include <chrono>
#include <condition_variable>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>
#include <vector>

#include "device/management.hpp"

namespace bandgate {

/// Reads the device's state at idle (on construction: before the device has a context), once while
/// it is being sampled and in the middle of each part of a series (from a thread of its own, so
/// that the sampling never waits for it), and its counters round the sampling.
class cuda_health final : public health_monitor {
 public:
  /// `library` must answer in a bounded time.
  cuda_health(std::shared_ptr<management const> library, device_identity identity);
  ~cuda_health() override;

  /// To be called once this process has its context on the device.
  void context_made();
  void on_phase(phase now) override;
  void part_begins(nanoseconds expected_length) override;
  /// Nothing where the part was over before its middle, or the reading before it was over.
  health_snapshot part_ends() override;
  bandgate::health report() override;

 private:
  void watch();
  void watch_parts(std::unique_lock<std::mutex>& lock);
  void stop();

  std::vector<device_process> others_now() const;

  std::shared_ptr<management const> library_;
  device_identity identity_;
  bandgate::health health_;
  std::vector<device_process> others_;
  std::vector<std::uint64_t> own_;
  health_snapshot before_;
  std::thread watcher_;
  std::mutex mutex_;
  std::condition_variable wake_;
  bool sampling_{};
  std::uint64_t part_{};  ///< changes where a part begins and where it ends
  std::optional<std::chrono::steady_clock::time_point> look_at_;  ///< the middle of this part
  health_snapshot state_;                                         ///< read in this part
};

/// The state under load where `now` was read after `before`: the later one, with the clock events
/// of both, since what held the device back in one window must not be forgotten for the next one's.
health_snapshot under_load_so_far(health_snapshot const& before, health_snapshot now);

/// The process IDs that are this process on the device, from what the device listed before and
/// after it made its context: in a PID namespace the driver may know it by another number.
std::vector<std::uint64_t> own_processes(std::vector<device_process> const& before,
                                         std::vector<device_process> const& after,
                                         std::uint64_t pid);

/// The source of what a library says, as a result names it.
std::string source_of(management const& library);

/// after - before of the fields that only ever count up; of one that was set back in between,
/// nothing is known.
health_snapshot counted(health_snapshot const& before, health_snapshot const& after);

}  // namespace bandgate
