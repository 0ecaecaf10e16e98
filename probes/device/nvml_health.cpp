// SPDX-License-Identifier: Apache-2.0
#include "device/nvml_fields.hpp"
#include "device/nvml_table.hpp"

namespace bandgate {
namespace {

using nvml_abi::device;

health_field performance_state(answer<int> const& got) {
  if (!got) return refused(got);
  if (got.value < 0 || got.value > 15)
    return unavailable(std::string(got.from) + " reported an unknown state");
  return known("P" + std::to_string(got.value));
}

health_field compute_mode(answer<int> const& got) {
  if (!got) return refused(got);
  constexpr char const* words[] = {"default", "exclusive-thread", "prohibited",
                                   "exclusive-process"};
  if (got.value < 0 || got.value > 3)
    return unavailable(std::string(got.from) + " reported an unknown mode");
  return known(std::string(words[got.value]));
}

answer<double> temperature(nvml_symbols const& symbols, device card) {
  auto const newer =
      ask_version<nvml_abi::temperature_v1>(1, symbols.temperature_v1, card);  // sensor 0: the GPU
  answer<double> const got{newer.code, double(newer.value.celsius), newer.from};
  if (got) return got;
  auto const older = ask<unsigned>(symbols.temperature, card, nvml_abi::temperature_gpu);
  return either(got, {older.code, double(older.value), older.from});
}

void add_clocks(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  int const sm = nvml_abi::clock_sm;
  int const memory = nvml_abi::clock_memory;
  fields["sm_clock_mhz"] = amount(ask<unsigned>(symbols.clock, card, sm));
  fields["sm_clock_max_mhz"] = amount(ask<unsigned>(symbols.max_clock, card, sm));
  fields["memory_clock_mhz"] = amount(ask<unsigned>(symbols.clock, card, memory));
  fields["memory_clock_max_mhz"] = amount(ask<unsigned>(symbols.max_clock, card, memory));
  fields["pstate"] = performance_state(ask<int>(symbols.pstate, card));
  fields["clock_event_reasons"] = count(ask<unsigned long long>(symbols.clock_events, card));
  auto const busy = ask<nvml_abi::utilization>(symbols.utilization, card);
  fields["gpu_utilization_percent"] =
      busy ? known(static_cast<double>(busy.value.gpu)) : refused(busy);
}

void add_power_and_temperature(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  constexpr double milliwatts = 1000;
  fields["power_w"] = amount(ask<unsigned>(symbols.power, card), milliwatts);
  fields["power_limit_w"] = amount(ask<unsigned>(symbols.power_limit, card), milliwatts);
  fields["power_limit_default_w"] =
      amount(ask<unsigned>(symbols.power_limit_default, card), milliwatts);
  fields["temperature_c"] = count(temperature(symbols, card));
  fields["memory_temperature_c"] = amount(ask_fields(
      symbols, card, {{nvml_abi::field::memory_temperature, 0, "NVML_FI_DEV_MEMORY_TEMP"}})[0]);
  fields["temperature_slowdown_c"] =
      amount(ask<unsigned>(symbols.threshold, card, int{nvml_abi::threshold_slowdown}));
  fields["temperature_memory_max_c"] =
      amount(ask<unsigned>(symbols.threshold, card, int{nvml_abi::threshold_memory_max}));
}

void add_modes(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  auto const mig = ask_two<unsigned>(symbols.mig, card);
  fields["mig_enabled"] = mig ? known(mig.value.current != 0) : refused(mig);
  fields["persistence"] = flag(ask<int>(symbols.persistence, card));
  fields["compute_mode"] = compute_mode(ask<int>(symbols.compute_mode, card));
}

}  // namespace

health_snapshot nvml::snapshot(device_identity const& wanted) const {
  std::lock_guard const alone(table_->guard);
  if (!available()) return nothing_known(table_->why);
  auto const& symbols = table_->symbols;
  auto const found = find_device(symbols, wanted);
  if (found.card == nullptr) return nothing_known(found.why);
  health_snapshot fields;
  // What changes fastest first: the rest may take milliseconds.
  add_clocks(fields, symbols, found.card);
  add_power_and_temperature(fields, symbols, found.card);
  add_clock_counters(fields, symbols, found.card);
  add_links(fields, symbols, found.card);
  add_memory_errors(fields, symbols, found.card);
  add_memory(fields, symbols, found.itself);
  add_modes(fields, symbols, found.card);
  return fields;
}

}  // namespace bandgate
