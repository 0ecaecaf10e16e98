// SPDX-License-Identifier: Apache-2.0
/// How long the clocks were held down, and why: counters of nanoseconds.
#include <charconv>
#include <iterator>
#include <optional>
#include <string_view>
#include <utility>

#include "device/nvml_fields.hpp"

namespace bandgate {
namespace {

using nvml_abi::device;
namespace field = nvml_abi::field;

struct counter {
  char const* name;
  field_question asked;
  std::optional<nvml_abi::policy> before;  ///< its place in nvmlDeviceGetViolationStatus
};
constexpr counter steady_counters[] = {
    {"clock_event_sw_power_cap_ns",
     {field::power_policy, 0, "NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP"},
     nvml_abi::policy_power},
    {"clock_event_sync_boost_ns",
     {field::sync_boost_policy, 0, "NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST"},
     nvml_abi::policy_sync_boost},
    {"clock_event_board_limit_ns",
     {field::board_limit_policy, 0, "NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT"},
     nvml_abi::policy_board_limit},
    {"clock_event_reliability_ns",
     {field::reliability_policy, 0, "NVML_FI_DEV_PERF_POLICY_RELIABILITY"},
     nvml_abi::policy_reliability},
};
/// Their numbers depend on the library's version.
constexpr counter moved_counters[] = {
    {"clock_event_sw_thermal_ns",
     {field::sw_thermal, 0, "NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN"},
     nvml_abi::policy_thermal},
    {"clock_event_hw_thermal_ns",
     {field::hw_thermal, 0, "NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN"},
     {}},
    {"clock_event_power_brake_ns",
     {field::power_brake, 0, "NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN"},
     {}},
};

/// Driver branch and release, 580 and 82 of the library's "13.580.82" or the driver's "580.82.07";
/// (0, 0) where neither tells.
std::pair<unsigned, unsigned> branch_and_release(nvml_symbols const& symbols) {
  auto text = ask_text(symbols.version_of_library);
  std::string_view rest = text.value;
  if (auto const dot = rest.find('.'); text && dot != std::string_view::npos)
    rest.remove_prefix(dot + 1);
  else
    rest = (text = ask_text(symbols.driver_version)).value;
  std::pair<unsigned, unsigned> version;
  auto const* const end = rest.data() + rest.size();
  auto const [dot, error] = std::from_chars(rest.data(), end, version.first);
  if (error == std::errc{} && dot != end && *dot == '.')
    std::from_chars(dot + 1, end, version.second);
  return version;
}

/// What to take from the numbers of nvml_abi::field, or none where the library lacks the counters.
std::optional<unsigned> shift(std::pair<unsigned, unsigned> version) {
  if (version >= std::pair{580U, 82U}) return 0;
  if (version.first >= 575) return field::earlier_by;
  return std::nullopt;
}

answer<double> violation(nvml_symbols const& symbols, device card, counter const& wanted) {
  if (!wanted.before) return {nvml_abi::function_not_found, {}, symbols.violation.name};
  auto const got = ask<nvml_abi::violation_time>(symbols.violation, card, int{*wanted.before});
  return {got.code, static_cast<double>(got.value.violation_ns), got.from};
}

}  // namespace

void add_clock_counters(health_snapshot& fields, nvml_symbols const& symbols, device card) {
  auto const moved_by = shift(branch_and_release(symbols));
  std::vector<counter> wanted(std::begin(steady_counters), std::end(steady_counters));
  for (auto moved : moved_counters) {
    moved.asked.field -= moved_by.value_or(0);
    wanted.push_back(moved);
  }
  std::vector<field_question> questions;
  for (auto const& each : wanted)
    if (moved_by || each.asked.field < field::sw_thermal) questions.push_back(each.asked);
  auto const answers = ask_fields(symbols, card, questions);
  for (std::size_t i = 0; i < wanted.size(); ++i) {
    answer<double> got{nvml_abi::function_not_found, {}, wanted[i].asked.name};
    if (i < answers.size()) got = answers[i];
    bool const moved = i >= std::size(steady_counters);
    // A field that is no 64-bit count is another than the one meant.
    if (got && moved && answers[i].type != nvml_abi::type_unsigned_long_long)
      got.code = nvml_abi::no_data;
    fields[wanted[i].name] = count(got ? got : either(got, violation(symbols, card, wanted[i])));
  }
}

}  // namespace bandgate
