// SPDX-License-Identifier: Apache-2.0
#include "device/health_fields.hpp"

#include <utility>

namespace bandgate {
namespace {

constexpr std::string_view names[] = {
    "clock_event_board_limit_ns",
    "clock_event_hw_thermal_ns",
    "clock_event_power_brake_ns",
    "clock_event_reasons",
    "clock_event_reliability_ns",
    "clock_event_sw_power_cap_ns",
    "clock_event_sw_thermal_ns",
    "clock_event_sync_boost_ns",
    "compute_mode",
    "ecc_corrected_volatile",
    "ecc_enabled",
    "ecc_pending",
    "ecc_uncorrected_aggregate",
    "ecc_uncorrected_volatile",
    "fabric_state",
    "gpu_utilization_percent",
    "memory_clock_max_mhz",
    "memory_clock_mhz",
    "memory_reserved_bytes",
    "memory_temperature_c",
    "memory_used_bytes",
    "mig_enabled",
    "nvlink_active",
    "nvlink_errors",
    "nvlink_links",
    "page_retirement_pending",
    "pcie_generation",
    "pcie_generation_card",
    "pcie_generation_max",
    "pcie_replays",
    "pcie_width",
    "pcie_width_max",
    "persistence",
    "power_limit_default_w",
    "power_limit_w",
    "power_w",
    "pstate",
    "repair_pending",
    "row_remap_failure",
    "row_remap_pending",
    "sm_clock_max_mhz",
    "sm_clock_mhz",
    "temperature_c",
    "temperature_memory_max_c",
    "temperature_slowdown_c",
};

}  // namespace

std::span<std::string_view const> health_field_names() {
  return names;
}

health_field known(std::variant<double, bool, std::string> value) {
  health_field field;
  field.status = health_field::state::ok;
  field.value = std::move(value);
  return field;
}
health_field not_supported() {
  health_field field;
  field.status = health_field::state::not_supported;
  return field;
}
health_field unavailable(std::string why) {
  health_field field;
  field.why = std::move(why);
  return field;
}

health_snapshot nothing_known(std::string const& why) {
  health_snapshot fields;
  for (auto const name : names) fields.emplace(name, unavailable(why));
  return fields;
}

}  // namespace bandgate
