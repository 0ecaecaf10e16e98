// SPDX-License-Identifier: Apache-2.0
// Rows and pages that wait for a repair, and ECC.
#include <fmt/format.h>

#include "gate/looks.hpp"

namespace bandgate {
namespace {

using state = finding::state;

finding flag(evidence const& known, char const* name) {
  auto const value = flag_any_time(known, name);
  if (!value) return unread_or_none(known, name);
  return {*value ? state::found : state::fine};
}

finding count(evidence const& known, std::optional<double> seen, char const* name) {
  if (!seen || *seen < 0) return unread_or_none(known, name);
  if (*seen == 0) return {state::fine};
  return {state::found, fmt::format("{:.0f}", *seen)};
}

std::optional<bool> ecc_now(evidence const& known) {
  return known.device.ecc ? known.device.ecc : flag_any_time(known, "ecc_enabled");
}

}  // namespace

namespace look {

finding row_remap_failure(evidence const& known) {
  return flag(known, "row_remap_failure");
}
finding row_remap_pending(evidence const& known) {
  return flag(known, "row_remap_pending");
}
finding page_retirement_pending(evidence const& known) {
  return flag(known, "page_retirement_pending");
}
finding repair_pending(evidence const& known) {
  return flag(known, "repair_pending");
}

finding ecc_uncorrected(evidence const& known) {
  constexpr auto name = "ecc_uncorrected_volatile";
  auto const during = number(known.health.change, name);
  auto const before = number_any_time(known, name);
  // The errors of the sampling itself may have come after the look under load.
  return count(known, during && *during > before.value_or(0) ? during : before, name);
}

/// They are ordinary one by one; those of the sampling itself may have slowed it.
finding ecc_corrected(evidence const& known) {
  constexpr auto name = "ecc_corrected_volatile";
  if (at_rest(known)) return {state::irrelevant};
  return count(known, number(known.health.change, name), name);
}

finding ecc_differs(evidence const& known) {
  if (!known.expected.ecc) return {state::irrelevant};
  auto now = ecc_now(known);
  if (!now) return {};
  // Where two sources differ, the one that speaks against the device counts.
  auto const seen = flag_any_time(known, "ecc_enabled");
  if (*now == *known.expected.ecc && seen) now = seen;
  if (*now == *known.expected.ecc) return {state::fine};
  return {state::found, *now ? "on here, off in the baseline" : "off here, on in the baseline"};
}

finding ecc_pending(evidence const& known) {
  if (!at_rest(known)) return {state::irrelevant};
  auto const next = flag_any_time(known, "ecc_pending");
  auto const now = ecc_now(known);
  if (!next || !now) return unread_or_none(known, "ecc_pending");
  if (*next == *now) return {state::fine};
  return {state::found, *next ? "on" : "off"};
}

finding ecc_lifetime(evidence const& known) {
  constexpr auto name = "ecc_uncorrected_aggregate";
  if (!at_rest(known)) return {state::irrelevant};
  auto const since_restart = number(known.health.idle, "ecc_uncorrected_volatile");
  if (since_restart && *since_restart > 0) return {state::irrelevant};  // said already
  return count(known, number(known.health.idle, name), name);
}

}  // namespace look
}  // namespace bandgate
