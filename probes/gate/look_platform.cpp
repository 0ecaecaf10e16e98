// SPDX-License-Identifier: Apache-2.0
// What is silent because a baseline file states it of the platform: the reference may be of more.
#include <fmt/format.h>
#include <fmt/ranges.h>

#include "gate/link.hpp"
#include "gate/looks.hpp"

namespace bandgate {
namespace {

using state = finding::state;

/// `now` is as stated, and the card could do more.
struct less_by_design {
  double stated, most;
};
template <class T>
std::optional<less_by_design> by_design(std::optional<double> now, std::optional<T> stated,
                                        std::optional<double> most) {
  if (!now || !stated || !most) return std::nullopt;
  auto const wanted = static_cast<double>(*stated);
  if (*now < wanted || *now >= *most) return std::nullopt;
  return less_by_design{wanted, *most};
}

std::optional<std::string> narrower_link(evidence const& known) {
  auto const found = by_design(number(known.health.load, "pcie_width"), known.expected.pcie_width,
                               number_any_time(known, "pcie_width_max"));
  if (!found) return std::nullopt;
  return fmt::format(
      "x{:g} is expected here of {:g} lanes: the reference may be that of a wider "
      "link",
      found->stated, found->most);
}

/// The card's own generation before that of card and slot: the reference may be of another slot.
std::optional<std::string> slower_link(evidence const& known) {
  auto const card = number_any_time(known, "pcie_generation_card");
  auto const found =
      by_design(number(known.health.load, "pcie_generation"), known.expected.pcie_generation,
                card ? card : number_any_time(known, "pcie_generation_max"));
  if (!found) return std::nullopt;
  return fmt::format(
      "PCIe generation {:g} is expected here of {:g}: the reference may be that of "
      "a faster link",
      found->stated, found->most);
}

std::optional<std::string> fewer_nvlinks(evidence const& known) {
  auto const found = by_design(number_any_time(known, "nvlink_active"), known.expected.nvlinks,
                               number_any_time(known, "nvlink_links"));
  if (!found) return std::nullopt;
  return fmt::format(
      "{:g} NVLinks are expected here of {:g}: the reference may be that of more "
      "links",
      found->stated, found->most);
}

std::optional<std::string> lower_power(evidence const& known) {
  auto const& device = known.device;
  auto const now = number_any_time(known, "power_limit_w");
  auto const normal = number_any_time(known, "power_limit_default_w");
  auto const found = by_design(now ? now : device.power_limit_w, known.expected.power_limit_w,
                               normal ? normal : device.power_limit_default_w);
  if (!found) return std::nullopt;
  return fmt::format(
      "a power limit of {:g} W is expected here of {:g} W: the reference may be "
      "that of a higher limit",
      found->stated, found->most);
}

/// A map is held against itself, not against a reference of another platform.
bool is_map(result const& measured) {
  return measured.measurement && measured.measurement->series &&
         measured.measurement->series->axis == "address";
}

}  // namespace

namespace look {

finding expected_platform(evidence const& known) {
  if (at_rest(known) || failed(known) || is_map(*known.measured)) return {state::irrelevant};
  std::vector<std::string> all;
  auto const add = [&](std::optional<std::string> one) {
    if (one) all.push_back(*std::move(one));
  };
  if (crosses_host_link(*known.measured)) {
    add(narrower_link(known));
    add(slower_link(known));
  }
  if (between_gpus(known)) add(fewer_nvlinks(known));
  if (known.measured->probe.ceiling == "dram") add(lower_power(known));
  if (all.empty()) return {state::irrelevant};
  return {state::found, fmt::format("{}", fmt::join(all, "; "))};
}

}  // namespace look
}  // namespace bandgate
