// SPDX-License-Identifier: Apache-2.0
#include "backend/scripted/script_json.hpp"

#include <nlohmann/json.hpp>

#include "device/identity.hpp"

namespace bandgate {
namespace {

using nlohmann::json;

/// Leaves `to` alone where the key is absent or null.
template <class T>
void read(json const& j, char const* key, T& to) {
  if (auto const found = j.find(key); found != j.end() && !found->is_null()) found->get_to(to);
}

template <class T>
void read(json const& j, char const* key, std::optional<T>& to) {
  if (auto const found = j.find(key); found != j.end() && !found->is_null()) to = found->get<T>();
}

std::variant<double, bool, std::string> value_from(json const& j) {
  if (j.is_boolean()) return j.get<bool>();
  if (j.is_string()) return j.get<std::string>();
  return j.get<double>();
}

health_field field_from(json const& j) {
  if (!j.is_object()) return {health_field::state::ok, value_from(j), {}};
  auto const state = j.at("state").get<std::string>();
  if (state == "not-supported") return {health_field::state::not_supported, {}, {}};
  auto const value = j.value("value", json());
  if (state == "ok" && !value.is_null()) return {health_field::state::ok, value_from(value), {}};
  return {health_field::state::unavailable, {}, j.value("why", "the script gives no value")};
}

health_snapshot snapshot_from(json const& fields) {
  health_snapshot snapshot;
  for (auto const& [name, field] : fields.items()) snapshot[name] = field_from(field);
  return snapshot;
}

health_snapshot snapshot_from(json const& j, char const* key) {
  auto const found = j.find(key);
  return found == j.end() ? health_snapshot{} : snapshot_from(*found);
}

std::optional<nanoseconds> time_from(json const& j, char const* key) {
  auto const found = j.find(key);
  if (found == j.end()) return std::nullopt;
  return std::chrono::round<nanoseconds>(std::chrono::duration<double>(found->get<double>()));
}

/// true: nothing is wrong; a text says what is.
std::optional<std::string> finding_from(json const& j, char const* key, char const* by_default) {
  auto const found = j.find(key);
  if (found == j.end() || *found == true) return std::nullopt;
  return found->is_string() ? found->get<std::string>() : by_default;
}

}  // namespace

device_identity scripted_identity_from(json const& j) {
  device_identity d;
  d.backend = "scripted";
  read(j, "name", d.name);
  read(j, "uuid", d.uuid);
  read(j, "pci_address", d.pci_address);
  read(j, "pci_device", d.pci_device);
  read(j, "pci_subsystem", d.pci_subsystem);
  read(j, "board_part", d.board_part);
  read(j, "serial", d.serial);
  read(j, "memory_bytes", d.memory_bytes);
  read(j, "bus_width_bits", d.bus_width_bits);
  read(j, "memory_clock_mhz", d.memory_clock_mhz);
  read(j, "peak_bytes_per_second", d.peak_bytes_per_second);
  read(j, "processors", d.processors);
  read(j, "last_level_cache_bytes", d.last_level_cache_bytes);
  read(j, "compute_capability", d.compute_capability);
  read(j, "ecc", d.ecc);
  read(j, "mig_profile", d.mig_profile);
  read(j, "mig_parent", d.mig_parent);
  read(j, "virtualization", d.virtualization);
  read(j, "power_limit_w", d.power_limit_w);
  read(j, "power_limit_default_w", d.power_limit_default_w);
  read(j, "vbios", d.vbios);
  read(j, "driver_version", d.driver_version);
  read(j, "runtime_version", d.runtime_version);
  read(j, "persistence_mode", d.persistence_mode);
  read(j, "compute_mode", d.compute_mode);
  read(j, "numa_node", d.numa_node);
  if (!j.contains("peak_bytes_per_second") && d.memory_clock_mhz && d.bus_width_bits)
    d.peak_bytes_per_second = peak_bandwidth(*d.memory_clock_mhz, *d.bus_width_bits);
  return d;
}

scripted_health scripted_health_from(json const& j) {
  scripted_health h;
  h.lasting.source = j.value("source", "scripted");
  h.lasting.idle = snapshot_from(j, "idle");
  h.lasting.load = snapshot_from(j, "load");
  h.lasting.change = snapshot_from(j, "change");
  h.utilization_ends = time_from(j, "utilization_ends_after_s");
  for (auto const& entry : j.value("processes", json::array())) {
    scripted_process process;
    read(entry, "pid", process.what.pid);
    read(entry, "name", process.what.name);
    read(entry, "memory_bytes", process.what.memory_bytes);
    read(entry, "active", process.what.active);
    process.begins = time_from(entry, "begins_after_s").value_or(nanoseconds{});
    process.ends = time_from(entry, "ends_after_s");
    h.processes.push_back(process);
  }
  return h;
}

scripted_attempt scripted_attempt_from(json const& j) {
  scripted_attempt a;
  if (auto const text = j.find("unit"); text != j.end())
    a.unit = parse_unit(text->get_ref<std::string const&>()).value();
  read(j, "samples", a.samples);
  read(j, "parts", a.parts);
  read(j, "wrong_parts", a.wrong_parts);
  for (auto const& state : j.value("part_health", json::array()))
    a.part_health.push_back(snapshot_from(state));
  a.wrong = finding_from(j, "verified", "the checksum of the data differs from the expected one");
  a.wrong_after = finding_from(j, "verified_after_sampling",
                               "after the sampling the checksum differs from the expected one");
  if (!a.wrong_after && !a.wrong_parts.empty())
    a.wrong_after = "the words read are not those that were written";
  read(j, "lost_at_sample", a.lost_at_sample);
  read(j, "hang_at_sample", a.hang_at_sample);
  read(j, "out_of_memory", a.out_of_memory);
  read(j, "exclusive", a.exclusive);
  read(j, "passes_ignored", a.passes_ignored);
  if (auto const own = j.find("health"); own != j.end()) a.health = scripted_health_from(*own);
  return a;
}

}  // namespace bandgate
