// SPDX-License-Identifier: Apache-2.0
#include "gate/since.hpp"

#include <algorithm>
#include <array>
#include <cmath>

#include <fmt/format.h>

#include "gate/causes.hpp"

namespace bandgate {
namespace {

/// A time below this share of the span is not worth a person's.
constexpr double least_share = 0.01;

enum class kind { duration, count, flag };

struct counter {
  char const* field;
  char const* code;  ///< of the cause whose next step it shares
  kind is;
  bool harmful;
  char const* one;
  char const* many;
};

constexpr std::array<counter, 16> counters{{
    {"clock_event_hw_thermal_ns", "hw-thermal", kind::duration, true, "hardware thermal slowdown",
     ""},
    {"clock_event_power_brake_ns", "power-brake", kind::duration, true, "power brake slowdown", ""},
    {"clock_event_sw_thermal_ns", "sw-thermal", kind::duration, true, "software thermal slowdown",
     ""},
    {"ecc_uncorrected_volatile", "ecc-uncorrected", kind::count, true, "uncorrected ECC error",
     "uncorrected ECC errors"},
    {"ecc_uncorrected_aggregate", "ecc-uncorrected", kind::count, true,
     "uncorrected ECC error in the card's lifetime",
     "uncorrected ECC errors in the card's lifetime"},
    {"row_remap_failure", "row-remap-failure", kind::flag, true,
     "a remapping of memory rows failed", ""},
    {"row_remap_pending", "row-remap-pending", kind::flag, true,
     "a remapping of memory rows became pending", ""},
    {"page_retirement_pending", "page-retirement-pending", kind::flag, true,
     "a retirement of memory pages became pending", ""},
    {"repair_pending", "repair-pending", kind::flag, true, "a repair became pending", ""},
    {"pcie_replays", "pcie-replays", kind::count, true, "PCIe replay", "PCIe replays"},
    {"nvlink_errors", "nvlink-errors", kind::count, true, "NVLink error", "NVLink errors"},
    {"ecc_corrected_volatile", "ecc-corrected", kind::count, true, "corrected ECC error",
     "corrected ECC errors"},
    {"clock_event_sw_power_cap_ns", "power-cap", kind::duration, false, "power cap", ""},
    {"clock_event_sync_boost_ns", "sync-boost", kind::duration, false, "sync boost", ""},
    {"clock_event_reliability_ns", "reliability-limit", kind::duration, false,
     "voltage reliability limit", ""},
    {"clock_event_board_limit_ns", "board-limit", kind::duration, false, "board limit", ""},
}};

health_field const* field_of(health_snapshot const& from, counter const& c) {
  auto const found = from.find(c.field);
  return found == from.end() ? nullptr : &found->second;
}

/// A flag counts as 0 or 1.
std::optional<double> value_of(health_field const* field, kind is) {
  if (field == nullptr || field->status != health_field::state::ok) return std::nullopt;
  if (is == kind::flag) {
    auto const* flag = std::get_if<bool>(&field->value);
    return flag == nullptr ? std::nullopt : std::optional(*flag ? 1.0 : 0.0);
  }
  auto const* number = std::get_if<double>(&field->value);
  if (number == nullptr || !std::isfinite(*number) || *number < 0) return std::nullopt;
  return *number;
}

/// The device has no such counter, and says so both times.
bool has_none(health_field const* before, health_field const* after) {
  auto const none = [](health_field const* f) {
    return f != nullptr && f->status == health_field::state::not_supported;
  };
  return none(before) && none(after);
}

std::string seconds_text(double seconds) {
  return seconds < 10 ? fmt::format("{:.1f} s", seconds) : fmt::format("{:.0f} s", seconds);
}

/// What it says of an advance by that much; empty for too little.
std::string text_of(counter const& c, double advanced, double span_s) {
  if (!(advanced > 0)) return "";
  if (c.is == kind::flag) return c.one;
  if (c.is == kind::count)
    return fmt::format("{:.0f} {}", advanced, advanced == 1 ? c.one : c.many);
  double const seconds = advanced * 1e-9;
  if (seconds < least_share * span_s) return "";
  return fmt::format("{} of {} ({:.0f} % of {})", seconds_text(seconds), c.one,
                     100 * std::min(1.0, seconds / span_s), seconds_text(span_s));
}

std::string remedy_of(char const* code) {
  for (auto const& rule : cause_rules())
    if (std::string(rule.code) == code) return rule.next_step;
  return "";
}

bool holds(std::vector<counter_change> const& found, char const* code) {
  return std::any_of(found.begin(), found.end(),
                     [&](counter_change const& change) { return change.code == code; });
}

std::string name_of(counter const& c) {
  switch (c.is) {
    case kind::duration:
      return c.one;
    case kind::count:
      return c.many;
    case kind::flag:
      break;
  }
  std::string name = c.field;
  std::replace(name.begin(), name.end(), '_', ' ');
  return name;
}

}  // namespace

changes changes_between(health_snapshot const& before, health_snapshot const& after,
                        double span_s) {
  changes all;
  if (!std::isfinite(span_s) || span_s <= 0) {
    all.not_comparable = "the second look is not later than the first: the clock was set back";
    return all;
  }
  std::vector<std::string> absent;
  for (auto const& c : counters) {
    auto const *first = field_of(before, c), *second = field_of(after, c);
    auto const then = value_of(first, c.is), now = value_of(second, c.is);
    if (!then || !now) {
      (has_none(first, second) ? absent : all.unread).push_back(name_of(c));
      continue;
    }
    ++all.compared;
    if (*now < *then && c.is != kind::flag) {
      all.found.clear();
      all.not_comparable = fmt::format(
          "the driver was restarted or the device reset in between: {} went from {:.0f} to {:.0f}",
          c.field, *then, *now);
      return all;
    }
    auto text = text_of(c, *now - *then, span_s);
    // The same errors, counted since the restart and in the lifetime.
    if (text.empty() || holds(all.found, c.code)) continue;
    all.found.push_back({c.code, std::move(text), remedy_of(c.code), c.harmful});
  }
  // Who has none of the counters was not looked at, whatever the reason.
  if (all.compared == 0) all.unread.insert(all.unread.end(), absent.begin(), absent.end());
  return all;
}

}  // namespace bandgate
