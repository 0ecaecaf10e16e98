// SPDX-License-Identifier: Apache-2.0
/// Whether others compute on a device before a measurement begins there, and waiting for them.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include <bandgate/result.hpp>
#include <bandgate/subject.hpp>

namespace bandgate {

/// Above this a device computes for somebody, whether or not a process is visible.
inline constexpr double busy_above_percent = 10;
/// How often those who compute are looked at again.
inline constexpr nanoseconds between_looks = std::chrono::milliseconds(200);

/// What one look at a device finds of others. Nothing is made of what is not known.
struct occupancy {
  std::vector<device_process> processes;
  std::optional<double> utilization_percent;
};
occupancy occupancy_of(health_snapshot const& seen, std::vector<device_process> processes);

/// The MPS server: it holds a context for its clients and computes nothing of its own.
bool is_mps_server(device_process const& process);

/// "process 4711 (python3), 12345 MiB", or what the device's utilisation says where none is
/// visible; empty where nobody computes, or nobody is known to.
std::string who_computes(occupancy const& seen);

struct waited {
  std::string computing;  ///< who still does, as who_computes(); empty: the device is idle
  nanoseconds time{};
};

/// Looks until nobody computes, or until `wait_idle` is over; at least once, and a last time when
/// it is over. `pause` lets time pass on `clock`.
waited wait_until_idle(std::function<occupancy()> const& look, clock& time,
                       std::function<void(nanoseconds)> const& pause, nanoseconds wait_idle);

/// A device that takes part in a measurement.
struct participant {
  std::string name;  ///< for the message
  std::function<occupancy()> look;
};
/// Waits until nobody computes on any of these, for `wait_idle` in all. Of each that stays busy a
/// note, if that is allowed; else throws measurement_error contended, which names the first.
std::vector<std::string> wait_for_others(std::vector<participant> const& all, clock& time,
                                         std::function<void(nanoseconds)> const& pause,
                                         nanoseconds wait_idle, bool allow_contention);

}  // namespace bandgate
