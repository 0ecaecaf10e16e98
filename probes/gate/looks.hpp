// SPDX-License-Identifier: Apache-2.0
/// What the rules of the table look at. Internal to gate/.
#pragma once

#include <cmath>
#include <optional>
#include <string>

#include "gate/causes.hpp"

namespace bandgate {

template <class T>
std::optional<T> read(health_snapshot const& from, char const* name) {
  auto const found = from.find(name);
  if (found == from.end() || found->second.status != health_field::state::ok) return std::nullopt;
  auto const* value = std::get_if<T>(&found->second.value);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}
/// A number that is one.
std::optional<double> number(health_snapshot const& from, char const* name);

/// During the load; of a device at rest, as it is.
health_snapshot const& at_work(evidence const& known);
/// What does not depend on the load: read during it, else before.
std::optional<double> number_any_time(evidence const& known, char const* name);
std::optional<bool> flag_any_time(evidence const& known, char const* name);
std::optional<std::string> text_any_time(evidence const& known, char const* name);
/// The device says that it has no such thing: there is nothing to look at.
bool has_none(evidence const& known, char const* name);

inline bool at_rest(evidence const& known) {
  return known.measured == nullptr;
}
/// Nothing was measured because it failed: whatever keeps the device from working is of interest.
bool failed(evidence const& known);
/// The probe went from one GPU to another.
bool between_gpus(evidence const& known);

finding unread_or_none(evidence const& known, char const* name);

namespace look {

finding pcie_width(evidence const&);
finding pcie_generation(evidence const&);
finding pcie_slot(evidence const&);
finding pcie_replays(evidence const&);
finding far_numa_node(evidence const&);
finding fabric(evidence const&);
finding nvlink_down(evidence const&);
finding nvlink_errors(evidence const&);

finding hw_thermal(evidence const&);
finding power_brake(evidence const&);
finding hw_slowdown(evidence const&);
finding sw_thermal(evidence const&);
finding power_cap(evidence const&);
finding sync_boost(evidence const&);
finding board_limit(evidence const&);
finding reliability_limit(evidence const&);
finding application_clocks(evidence const&);
finding display_clocks(evidence const&);
finding unknown_clock_event(evidence const&);
finding gpu_temperature(evidence const&);
finding memory_temperature(evidence const&);
finding power_limit(evidence const&);
finding memory_clock(evidence const&);

finding row_remap_failure(evidence const&);
finding row_remap_pending(evidence const&);
finding page_retirement_pending(evidence const&);
finding repair_pending(evidence const&);
finding ecc_uncorrected(evidence const&);
finding ecc_corrected(evidence const&);
finding ecc_differs(evidence const&);
finding ecc_pending(evidence const&);
finding ecc_lifetime(evidence const&);

finding compute_prohibited(evidence const&);
finding compute_exclusive(evidence const&);
finding mig_without_instances(evidence const&);
finding vgpu(evidence const&);
finding persistence_off(evidence const&);

finding active_process(evidence const&);
finding busy_at_rest(evidence const&);
finding mps_server(evidence const&);
finding idle_process(evidence const&);

finding expected_platform(evidence const&);

}  // namespace look

/// The other processes that compute on the device, whatever was measured.
finding computing_processes(health const& seen);
/// Who computed beside a measurement.
finding computing_beside(result const& measured);

}  // namespace bandgate
