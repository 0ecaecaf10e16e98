// SPDX-License-Identifier: Apache-2.0
// How the card is set up, and who else uses it.
#include <fmt/format.h>

#include <string_view>

#include "gate/looks.hpp"
#include "gate/numbers.hpp"

namespace bandgate {
namespace {

using state = finding::state;

/// From the health table, else as the identity has it.
std::string compute_mode(evidence const& known) {
  return text_any_time(known, "compute_mode").value_or(known.device.compute_mode);
}

finding mode_is(evidence const& known, std::string const& prefix) {
  auto const mode = compute_mode(known);
  if (mode.empty()) return unread_or_none(known, "compute_mode");
  if (!mode.starts_with(prefix)) return {state::fine};
  return {state::found, mode};
}

std::string process_text(device_process const& p) {
  return fmt::format("process {} ({}){}", p.pid, p.name.empty() ? "name not known" : p.name,
                     p.memory_bytes ? ", " + memory_text(*p.memory_bytes) : "");
}

/// It computes nothing of its own, whatever its clients do.
bool is_mps(device_process const& p) {
  return p.name.find("nvidia-cuda-mps") != std::string::npos;
}

enum class who { computing, mps, idle };
who kind_of(device_process const& p) {
  return is_mps(p) ? who::mps : p.active ? who::computing : who::idle;
}

finding processes(health const& seen, who wanted) {
  std::string all;
  for (auto const& p : seen.processes)
    if (kind_of(p) == wanted) all += (all.empty() ? "" : "; ") + process_text(p);
  if (!all.empty()) return {state::found, all};
  bool const looked = !seen.source.empty() && !seen.source.starts_with("none");
  return {looked ? state::fine : state::unknown};
}

}  // namespace

finding computing_processes(health const& seen) {
  return processes(seen, who::computing);
}

/// Whoever computes may not be visible as a process; before the measurement began the device was
/// found in use all the same.
finding computing_beside(result const& measured) {
  auto const seen = computing_processes(measured.health);
  if (seen.is == state::found) return seen;
  constexpr std::string_view noted = "measured beside others: ";
  for (auto const& note : measured.notes)
    if (note.starts_with(noted)) return {state::found, note.substr(noted.size())};
  return seen;
}

namespace look {

finding compute_prohibited(evidence const& known) {
  if (!at_rest(known) && !failed(known)) return {state::irrelevant};
  return mode_is(known, "prohibited");
}
finding compute_exclusive(evidence const& known) {
  if (!at_rest(known)) return {state::irrelevant};
  return mode_is(known, "exclusive");
}

/// In MIG mode only slices compute; where there are any, they and not the card are devices.
finding mig_without_instances(evidence const& known) {
  if (!at_rest(known) && !failed(known)) return {state::irrelevant};
  if (!known.device.mig_profile.empty()) return {state::irrelevant};
  auto const on = flag_any_time(known, "mig_enabled");
  if (!on) return unread_or_none(known, "mig_enabled");
  return {*on ? state::found : state::fine};
}

finding vgpu(evidence const& known) {
  if (!at_rest(known)) return {state::irrelevant};
  return {known.device.virtualization.find("vgpu") != std::string::npos ? state::found
                                                                        : state::irrelevant,
          known.device.virtualization};
}

finding persistence_off(evidence const& known) {
  if (!at_rest(known)) return {state::irrelevant};
  auto on = flag_any_time(known, "persistence");
  if (!on && !known.device.persistence_mode.empty())
    on = known.device.persistence_mode != "disabled";
  if (!on) return unread_or_none(known, "persistence");
  return {*on ? state::fine : state::found};
}

/// Of a measurement it decides the verdict, and is no cause beside others.
finding active_process(evidence const& known) {
  if (!at_rest(known)) return {state::irrelevant};
  return computing_processes(known.health);
}

/// In a container the processes of others may not be visible; what they use is.
finding busy_at_rest(evidence const& known) {
  constexpr double idle_at_most = 10;  // percent
  if (!at_rest(known)) return {state::irrelevant};
  if (computing_processes(known.health).is == state::found) return {state::irrelevant};
  auto const used = number(known.health.idle, "gpu_utilization_percent");
  if (!used) return unread_or_none(known, "gpu_utilization_percent");
  if (*used <= idle_at_most) return {state::fine};
  return {state::found, fmt::format("{:.0f} %", *used)};
}

finding mps_server(evidence const& known) {
  return processes(known.health, who::mps);
}
finding idle_process(evidence const& known) {
  return processes(known.health, who::idle);
}

}  // namespace look
}  // namespace bandgate
