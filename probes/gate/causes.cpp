// SPDX-License-Identifier: Apache-2.0
#include "gate/causes.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>

#include <fmt/format.h>

#include "gate/judge.hpp"
#include "gate/link.hpp"
#include "gate/numbers.hpp"

namespace bandgate {
namespace {

using state = finding::state;

template <class T>
std::optional<T> read(health_snapshot const& from, char const* name) {
  auto const found = from.find(name);
  if (found == from.end() || found->second.status != health_field::state::ok) return std::nullopt;
  auto const* value = std::get_if<T>(&found->second.value);
  return value == nullptr ? std::nullopt : std::optional<T>(*value);
}

std::optional<double> number(health_snapshot const& from, char const* name) {
  auto const value = read<double>(from, name);
  return value && std::isfinite(*value) ? value : std::nullopt;
}

std::optional<double> under_load(evidence const& known, char const* name) {
  return number(known.health.load, name);
}

/// What does not depend on the load: read during it, else before.
std::optional<double> any_time(evidence const& known, char const* name) {
  auto const loaded = under_load(known, name);
  return loaded ? loaded : number(known.health.idle, name);
}

// NVML's clock event reasons (nvml.h, nvmlClocksEventReason*): bits 0 to 8. Bit 0, idle, has no
// rule: it is what a device at rest reports.
constexpr std::uint64_t known_bits = 0x1ff;

std::optional<std::uint64_t> clock_events(evidence const& known) {
  auto const bits = under_load(known, "clock_event_reasons");
  if (!bits || *bits < 0 || *bits >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(*bits);
}

finding events_among(evidence const& known, std::uint64_t mask) {
  auto const bits = clock_events(known);
  if (!bits) return {};
  if ((*bits & mask) == 0) return {state::fine};
  return {state::found, fmt::format("{:#x}", *bits & mask)};
}

template <std::uint64_t Bit>
finding clock_event(evidence const& known) {
  return events_among(known, Bit);
}

finding unknown_clock_event(evidence const& known) {
  return events_among(known, ~known_bits);
}

finding below(std::optional<double> now, std::optional<double> most, char const* unit_text) {
  if (!now || !most) return {};
  if (*now >= *most) return {state::fine};
  return {state::found, fmt::format("{:g}{} of {:g}{}", *now, unit_text, *most, unit_text)};
}

finding power_limit(evidence const& known) {
  auto const& device = known.device;
  auto const now = any_time(known, "power_limit_w");
  auto const normal = any_time(known, "power_limit_default_w");
  return below(now ? now : device.power_limit_w, normal ? normal : device.power_limit_default_w,
               " W");
}

finding memory_clock(evidence const& known) {
  return below(under_load(known, "memory_clock_mhz"), any_time(known, "memory_clock_max_mhz"),
               " MHz");
}

/// The link idles at generation 1, and only what crosses it is slowed: under load, for transfers
/// between host and device. GPUs may have other links between them.
finding link(evidence const& known, char const* now, char const* most) {
  if (known.measured == nullptr || !crosses_host_link(*known.measured)) return {state::irrelevant};
  return below(under_load(known, now), any_time(known, most), "");
}
finding link_generation(evidence const& known) {
  return link(known, "pcie_generation", "pcie_generation_max");
}
finding link_width(evidence const& known) {
  return link(known, "pcie_width", "pcie_width_max");
}

finding flag(evidence const& known, char const* name) {
  auto const loaded = read<bool>(known.health.load, name);
  auto const value = loaded ? loaded : read<bool>(known.health.idle, name);
  if (!value) return {};
  return {*value ? state::found : state::fine};
}
finding row_remap_pending(evidence const& known) {
  return flag(known, "row_remap_pending");
}
finding row_remap_failure(evidence const& known) {
  return flag(known, "row_remap_failure");
}

finding ecc_state(evidence const& known) {
  auto const now = known.device.ecc;
  if (!known.expected.ecc) return {state::irrelevant};
  if (!now) return {};
  if (*now == *known.expected.ecc) return {state::fine};
  return {state::found, *now ? "on here, off in the baseline" : "off here, on in the baseline"};
}

std::string process_text(device_process const& p) {
  return fmt::format("process {} ({}){}", p.pid, p.name.empty() ? "name not known" : p.name,
                     p.memory_bytes ? ", " + memory_text(*p.memory_bytes) : "");
}

finding processes(evidence const& known, bool active) {
  auto const& health = known.health;
  std::string all;
  for (auto const& p : health.processes)
    if (p.active == active) all += (all.empty() ? "" : "; ") + process_text(p);
  if (!all.empty()) return {state::found, all};
  bool const looked = !health.source.empty() && health.source.rfind("none", 0) != 0;
  return {looked ? state::fine : state::unknown};
}
finding active_process(evidence const& known) {
  return processes(known, true);
}
finding idle_process(evidence const& known) {
  return processes(known, false);
}

constexpr char const* cooling =
    "Check the cooling: fans, air flow, the inlet's temperature, the temperatures under load.";
constexpr char const* power_supply =
    "Check the node's power supply and its power limits (the brake is pulled from outside).";

constexpr std::array<cause_rule, 17> rules{{
    {"hw-thermal", "clock events", true,
     "the hardware slowed the clocks under load because of heat (clock event {})", cooling,
     clock_event<0x40>},
    {"power-brake", "clock events", true,
     "the external power brake slowed the clocks under load (clock event {})", power_supply,
     clock_event<0x80>},
    {"hw-slowdown", "clock events", true,
     "the hardware slowed the clocks under load: heat, power brake or a fast drop of the supply "
     "(clock event {})",
     cooling, clock_event<0x8>},
    {"sw-thermal", "clock events", true,
     "the driver slowed the clocks under load because of heat (clock event {})", cooling,
     clock_event<0x20>},
    {"power-cap", "clock events", true,
     "the power cap slowed the clocks under load (clock event {})",
     "Compare the power limit with its default (`nvidia-smi -q -d POWER`).", clock_event<0x4>},
    {"sync-boost", "clock events", true,
     "sync boost held the clocks at those of the slowest device of its group (clock event {})",
     "Look for the slow device of the sync boost group.", clock_event<0x10>},
    {"application-clocks", "clock events", false,
     "an application clocks setting limits the clocks (clock event {})",
     "Reset the application clocks (`nvidia-smi -rac`) unless they are wanted.", clock_event<0x2>},
    {"display-clocks", "clock events", false,
     "a display clock setting limits the clocks (clock event {})",
     "Measure with no display attached, or record a baseline with it.", clock_event<0x100>},
    {"unknown-clock-event", "clock events", true,
     "a clock event that this version does not know was active under load ({})",
     "Look the bit up in the driver's nvml.h (nvmlClocksEventReasons).", unknown_clock_event},
    {"power-limit", "power limit", false, "the power limit is below its default: {}",
     "Restore the default power limit, or record a baseline for this setting.", power_limit},
    {"memory-clock", "memory clock", false, "the memory clock under load was {}",
     "Look for a locked memory clock (`nvidia-smi -rmc` resets it) or a low performance state.",
     memory_clock},
    {"pcie-generation", "PCIe generation", false, "the PCIe generation under load was {}",
     "Reseat the card or its riser and check the slot's setting in the BIOS.", link_generation},
    {"pcie-width", "PCIe width", false, "the PCIe width under load was x{} lanes",
     "Reseat the card or its riser; look for a slot that shares its lanes.", link_width},
    {"row-remap-failure", "row remapping", false, "remapping of memory rows has failed",
     "Replace the card: its spare memory rows are used up.", row_remap_failure},
    {"row-remap-pending", "row remapping", false, "a remapping of memory rows is pending",
     "Reset the device (drain the node first), which carries the remapping out.",
     row_remap_pending},
    {"ecc-differs", "ECC state", false, "ECC is {}",
     "Set ECC as in the baseline, or record a baseline for this setting.", ecc_state},
    {"other-process", "other processes", false, "another process holds the device, idle: {}",
     "End the other process and measure again.", idle_process},
}};

constexpr cause_rule contention{"contended",
                                "other processes",
                                true,
                                "another process computes on the device: {}",
                                "Measure again when the device is free.",
                                active_process};

std::optional<cause> apply(cause_rule const& rule, evidence const& known) {
  auto const found = rule.look(known);
  if (found.is != state::found) return std::nullopt;
  return cause{&rule, {rule.code, fmt::format(fmt::runtime(rule.sentence), found.detail)}};
}

std::string joined(std::vector<std::string> const& words) {
  std::string text;
  for (auto const& w : words) text += (text.empty() ? "" : ", ") + w;
  return text.empty() ? "nothing" : text;
}

}  // namespace

evidence evidence_of(result const& measured, expectations const& expected) {
  return {measured.device, measured.health, &measured, expected};
}

std::span<cause_rule const> cause_rules() {
  return rules;
}

std::optional<cause> find_contention(result const& measured) {
  return apply(contention, evidence_of(measured));
}

std::vector<cause> find_causes(evidence const& known) {
  std::vector<cause> all;
  for (auto const& rule : rules)
    if (auto found = apply(rule, known)) all.push_back(*std::move(found));
  return all;
}

looked_groups groups_of(evidence const& known) {
  looked_groups all;
  for (auto const& rule : rules) {
    auto const is = rule.look(known).is;
    if (is == state::irrelevant) continue;
    auto& list = is == state::unknown ? all.unread : all.read;
    if (std::find(list.begin(), list.end(), rule.checks) == list.end())
      list.emplace_back(rule.checks);
  }
  return all;
}

reason no_cause(evidence const& known) {
  auto const [checked, unread] = groups_of(known);
  auto const& source = known.health.source;
  return {
      "no-cause-found",
      fmt::format("no cause found; looked at and in order: {}; could not be read: {} (health: {})",
                  joined(checked), joined(unread), source.empty() ? "none" : source)};
}

std::vector<reason> causes_present(result const& measured) {
  std::vector<reason> all;
  for (auto const& found : find_causes(evidence_of(measured)))
    if (found.rule->throttles) all.push_back(found.why);
  return all;
}

}  // namespace bandgate
