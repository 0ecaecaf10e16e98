// SPDX-License-Identifier: Apache-2.0
// PCIe, NVLink, and where the host's memory is.
#include <fmt/format.h>

#include <algorithm>
#include <string_view>

#include "gate/link.hpp"
#include "gate/looks.hpp"

namespace bandgate {
namespace {

using state = finding::state;

/// Only what crosses a link is slowed by it. GPUs may have other links between them than PCIe.
bool concerns_host_link(evidence const& known) {
  return at_rest(known) || (!failed(known) && crosses_host_link(*known.measured));
}
bool concerns_peers(evidence const& known) {
  return at_rest(known) || between_gpus(known);
}

std::optional<double> stated(std::optional<unsigned> value) {
  return value ? std::optional(static_cast<double>(*value)) : std::nullopt;
}

/// Of `now` against what is expected, else against what card and slot could do together.
struct against {
  double now, most;
  bool expected;
};
std::optional<against> compared(evidence const& known, std::optional<double> now,
                                std::optional<unsigned> expected, char const* most_name) {
  auto const most = expected ? stated(expected) : number_any_time(known, most_name);
  // A link of generation 0 or no lanes is one that could not be read.
  if (!now || !most || *now <= 0 || *most <= 0) return std::nullopt;
  return against{*now, *most, expected.has_value()};
}

finding advanced(evidence const& known, char const* counter, char const* one, char const* many) {
  if (at_rest(known)) return {state::irrelevant};
  auto const count = number(known.health.change, counter);
  if (!count || *count < 0) return unread_or_none(known, counter);
  if (*count == 0) return {state::fine};
  return {state::found, fmt::format("{:.0f} {}", *count, *count == 1 ? one : many)};
}

}  // namespace

namespace look {

finding pcie_width(evidence const& known) {
  if (!concerns_host_link(known)) return {state::irrelevant};
  auto const c = compared(known, number(at_work(known), "pcie_width"), known.expected.pcie_width,
                          "pcie_width_max");
  if (!c) return {};
  if (c->now >= c->most) return {state::fine};
  return {state::found,
          fmt::format("{} x{:g} of {}{:g} lanes", at_rest(known) ? "is" : "under load was", c->now,
                      c->expected ? "the expected " : "", c->most)};
}

/// The link idles at generation 1, so at rest only what it could do counts, where that is stated.
finding pcie_generation(evidence const& known) {
  if (!concerns_host_link(known)) return {state::irrelevant};
  auto const& expected = known.expected.pcie_generation;
  if (at_rest(known) && !expected) return {state::irrelevant};
  auto const now = at_rest(known) ? number(known.health.idle, "pcie_generation_max")
                                  : number(known.health.load, "pcie_generation");
  auto const c = compared(known, now, expected, "pcie_generation_max");
  if (!c) return {};
  if (c->now >= c->most) return {state::fine};
  return {state::found,
          fmt::format("{} {:g} of {}{:g}",
                      at_rest(known) ? "that the link can reach is" : "under load was", c->now,
                      c->expected ? "the expected " : "", c->most)};
}

finding pcie_slot(evidence const& known) {
  if (!at_rest(known) || known.expected.pcie_generation) return {state::irrelevant};
  auto const both = number(known.health.idle, "pcie_generation_max");
  auto const card = number(known.health.idle, "pcie_generation_card");
  if (!both || !card || *both <= 0 || *card <= 0) return {state::irrelevant};
  if (*both >= *card) return {state::fine};
  return {state::found, fmt::format("{:g}, the card {:g}", *both, *card)};
}

finding pcie_replays(evidence const& known) {
  if (!concerns_host_link(known)) return {state::irrelevant};
  return advanced(known, "pcie_replays", "packet", "packets");
}

/// What the backend noted of the memory that a transfer used; it binds it to the GPU's node.
finding far_numa_node(evidence const& known) {
  if (at_rest(known) || !concerns_host_link(known)) return {state::irrelevant};
  constexpr std::string_view near = "host memory on NUMA node ";
  constexpr std::string_view unbound = "host memory not bound to NUMA node ";
  constexpr std::string_view elsewhere = " lie elsewhere";
  finding found{state::irrelevant};
  for (auto const& note : known.measured->notes) {
    bool const away = note.starts_with(unbound) || note.find(elsewhere) != std::string::npos;
    if (away && note.starts_with("host memory ")) return {state::found, note};
    if (note.starts_with(near)) found.is = state::fine;
  }
  return found;
}

finding fabric(evidence const& known) {
  if (!concerns_peers(known) && !failed(known)) return {state::irrelevant};
  auto const now = text_any_time(known, "fabric_state");
  if (!now) return unread_or_none(known, "fabric_state");
  if (*now == "completed") return {state::fine};
  return {state::found, *now};
}

/// None up and none expected is a card whose links nobody connected: absent is not down.
finding nvlink_down(evidence const& known) {
  if (!concerns_peers(known)) return {state::irrelevant};
  auto const active = number_any_time(known, "nvlink_active");
  auto const expected = stated(known.expected.nvlinks);
  if (!active) {
    auto const found = unread_or_none(known, "nvlink_active");
    if (!expected || *expected <= 0 || found.is == state::unknown) return found;
    return {state::found, fmt::format("none of the expected {:g}", *expected)};
  }
  auto const most = expected ? expected : number_any_time(known, "nvlink_links");
  if (!most || (*active <= 0 && !expected)) return {state::fine};
  if (*active >= *most) return {state::fine};
  return {state::found,
          fmt::format("{:g} of {}{:g}", *active, expected ? "the expected " : "", *most)};
}

finding nvlink_errors(evidence const& known) {
  if (!concerns_peers(known)) return {state::irrelevant};
  return advanced(known, "nvlink_errors", "error", "errors");
}

}  // namespace look
}  // namespace bandgate
