// SPDX-License-Identifier: Apache-2.0
#include "device/nvml_table.hpp"

namespace bandgate {
namespace {

using nvml_abi::device;

constexpr char const* field_names[] = {"sm_clock_mhz",
                                       "sm_clock_max_mhz",
                                       "memory_clock_mhz",
                                       "memory_clock_max_mhz",
                                       "pstate",
                                       "temperature_c",
                                       "power_w",
                                       "power_limit_w",
                                       "power_limit_default_w",
                                       "clock_event_reasons",
                                       "gpu_utilization_percent",
                                       "pcie_generation",
                                       "pcie_generation_max",
                                       "pcie_width",
                                       "pcie_width_max",
                                       "pcie_replays",
                                       "row_remap_pending",
                                       "row_remap_failure",
                                       "ecc_enabled",
                                       "ecc_uncorrected_volatile"};

health_field unavailable(std::string why) {
  return {health_field::state::unavailable, {}, std::move(why)};
}
health_field ok(std::variant<double, bool, std::string> value) {
  return {health_field::state::ok, std::move(value), {}};
}

template <class T>
health_field refused(answer<T> const& got) {
  if (got.code == nvml_abi::not_supported) return {health_field::state::not_supported, {}, {}};
  return unavailable(explain(got.from, got.code));
}

/// A count, of which 0 is an ordinary value.
template <class T>
health_field count(answer<T> const& got) {
  return got ? ok(static_cast<double>(got.value)) : refused(got);
}

/// A clock, a power or a link: 0 is what a driver says that does not know.
health_field amount(answer<unsigned> const& got, double units = 1) {
  if (got && got.value == 0) return unavailable(std::string(got.from) + " reported 0");
  return got ? ok(got.value / units) : refused(got);
}

health_field performance_state(answer<int> const& got) {
  if (!got) return refused(got);
  if (got.value < 0 || got.value > 15)
    return unavailable(std::string(got.from) + " reported an unknown state");
  return ok("P" + std::to_string(got.value));
}

void add_row_remapping(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  struct rows {
    unsigned correctable, uncorrectable, pending, failed;
  };
  answer<rows> got{nvml_abi::function_not_found, {}, symbols.remapped_rows.name};
  auto& r = got.value;
  if (symbols.remapped_rows.call != nullptr)
    got.code =
        symbols.remapped_rows.call(card, &r.correctable, &r.uncorrectable, &r.pending, &r.failed);
  fields["row_remap_pending"] = got ? ok(r.pending != 0) : refused(got);
  fields["row_remap_failure"] = got ? ok(r.failed != 0) : refused(got);
}

void add_power_and_clocks(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  constexpr double milliwatts = 1000;
  auto const sm = nvml_abi::clock_sm;
  auto const memory = nvml_abi::clock_memory;
  fields["sm_clock_mhz"] = amount(ask<unsigned>(symbols.clock, card, sm));
  fields["sm_clock_max_mhz"] = amount(ask<unsigned>(symbols.max_clock, card, sm));
  fields["memory_clock_mhz"] = amount(ask<unsigned>(symbols.clock, card, memory));
  fields["memory_clock_max_mhz"] = amount(ask<unsigned>(symbols.max_clock, card, memory));
  fields["pstate"] = performance_state(ask<int>(symbols.pstate, card));
  fields["temperature_c"] =
      count(ask<unsigned>(symbols.temperature, card, nvml_abi::temperature_gpu));
  fields["power_w"] = amount(ask<unsigned>(symbols.power, card), milliwatts);
  fields["power_limit_w"] = amount(ask<unsigned>(symbols.power_limit, card), milliwatts);
  fields["power_limit_default_w"] =
      amount(ask<unsigned>(symbols.power_limit_default, card), milliwatts);
  fields["clock_event_reasons"] = count(ask<unsigned long long>(symbols.clock_events, card));
  auto const busy = ask<nvml_abi::utilization>(symbols.utilization, card);
  fields["gpu_utilization_percent"] =
      busy ? ok(static_cast<double>(busy.value.gpu)) : refused(busy);
}

void add_link_and_errors(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  fields["pcie_generation"] = amount(ask<unsigned>(symbols.pcie_generation, card));
  fields["pcie_generation_max"] = amount(ask<unsigned>(symbols.pcie_generation_max, card));
  fields["pcie_width"] = amount(ask<unsigned>(symbols.pcie_width, card));
  fields["pcie_width_max"] = amount(ask<unsigned>(symbols.pcie_width_max, card));
  fields["pcie_replays"] = count(ask<unsigned>(symbols.pcie_replays, card));
  auto const ecc = ask_two<int>(symbols.ecc, card);
  fields["ecc_enabled"] = ecc ? ok(ecc.value.current != 0) : refused(ecc);
  fields["ecc_uncorrected_volatile"] = count(ask<unsigned long long>(
      symbols.ecc_errors, card, nvml_abi::memory_error_uncorrected, nvml_abi::ecc_volatile));
  add_row_remapping(fields, symbols, card);
}

}  // namespace

health_snapshot nvml::snapshot(device_identity const& wanted) const {
  std::lock_guard const alone(table_->guard);
  health_snapshot fields;
  auto const found = available() ? find_device(table_->symbols, wanted)
                                 : nvml_device{nullptr, nullptr, table_->why};
  if (found.card == nullptr) {
    for (char const* name : field_names) fields[name] = unavailable(found.why);
    return fields;
  }
  add_power_and_clocks(fields, table_->symbols, found.card);
  add_link_and_errors(fields, table_->symbols, found.card);
  return fields;
}

}  // namespace bandgate
