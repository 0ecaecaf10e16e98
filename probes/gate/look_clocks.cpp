// SPDX-License-Identifier: Apache-2.0
// What holds the clocks back, and what the card is allowed to draw.
#include <algorithm>
#include <cstdint>
#include <numeric>

#include <fmt/format.h>

#include "gate/looks.hpp"

namespace bandgate {
namespace {

using state = finding::state;

// NVML's clock event reasons (nvml.h, nvmlClocksEventReason*): bits 0 to 8. Bit 0, idle, has no
// rule: it is what a device at rest reports.
constexpr std::uint64_t known_bits = 0x1ff;

/// What covered less of the sampling explains nothing.
constexpr double least_share = 0.01;

/// How long the sampling took, from what it counted; of a map only the least that it can have been,
/// since each of its slices is the median of several samples.
struct span {
  double seconds;
  bool exact;
};
std::optional<span> sampling_of(result const& measured) {
  if (!measured.measurement) return std::nullopt;
  auto const& m = *measured.measurement;
  if (m.series && m.series->axis == "time")
    return span{m.series->step * static_cast<double>(m.series->points.size()), true};
  auto const passes = static_cast<double>(m.iterations);
  double const total =
      std::accumulate(m.samples.begin(), m.samples.end(), 0.0, [&](double sum, double sample) {
        return sum + passes * (m.is_time ? sample : static_cast<double>(m.bytes_per_pass) / sample);
      });
  if (!std::isfinite(total) || total <= 0) return std::nullopt;
  return span{total, !m.series};
}

std::optional<std::uint64_t> clock_events(evidence const& known) {
  auto const bits = number(at_work(known), "clock_event_reasons");
  if (!bits || *bits < 0 || *bits >= 0x1p63) return std::nullopt;
  return static_cast<std::uint64_t>(*bits);
}

finding events_among(evidence const& known, std::uint64_t mask) {
  auto const bits = clock_events(known);
  if (!bits) return {};
  if ((*bits & mask) == 0) return {state::fine};
  return {state::found, at_rest(known) ? "at rest" : "under load",
          fmt::format(" (clock event {:#x})", *bits & mask)};
}

/// What the counter says, if it moved: one that stands still while its bit is set counts nothing.
std::optional<finding> counted(evidence const& known, char const* counter) {
  if (at_rest(known)) return std::nullopt;
  auto const spent = number(known.health.change, counter);
  if (!spent || *spent < 0) return std::nullopt;
  if (*spent == 0) return finding{state::fine};
  double const seconds = *spent * 1e-9;
  auto const sampling = sampling_of(*known.measured);
  if (sampling && seconds < least_share * sampling->seconds) return finding{state::fine};
  if (!sampling || !sampling->exact)
    return finding{state::found, fmt::format("for {:.2g} s of the sampling", seconds)};
  double const share = std::min(1.0, seconds / sampling->seconds);
  return finding{state::found, fmt::format("for {:.0f} % of the sampling", 100 * share), "", share};
}

/// The counter over the whole sampling, else the one look at the bits under load.
finding slowed(evidence const& known, std::uint64_t bit, char const* counter) {
  auto const total = counted(known, counter);
  if (total && total->is == state::found) return *total;
  auto const spent = number(known.health.change, counter);
  // Below the least share it was counted, and the bit that was seen is that little.
  if (total && spent && *spent > 0) return *total;
  auto const seen = events_among(known, bit);
  return seen.is == state::unknown && total ? *total : seen;
}

finding hot(evidence const& known, char const* now_name, char const* limit_name,
            char const* limit_text) {
  auto const now = number(at_work(known), now_name);
  if (!now) return unread_or_none(known, now_name);
  // Some drivers state the threshold as a distance to it: no temperature at all.
  auto const limit = number_any_time(known, limit_name);
  if (!limit || *limit <= 0) return unread_or_none(known, limit_name);
  if (*now < *limit) return {state::fine};
  return {state::found, fmt::format("{:g} C, and {} {:g} C", *now, limit_text, *limit)};
}

}  // namespace

namespace look {

finding hw_thermal(evidence const& known) {
  return slowed(known, 0x40, "clock_event_hw_thermal_ns");
}
finding power_brake(evidence const& known) {
  return slowed(known, 0x80, "clock_event_power_brake_ns");
}
finding hw_slowdown(evidence const& known) {
  return events_among(known, 0x8);
}
finding sw_thermal(evidence const& known) {
  return slowed(known, 0x20, "clock_event_sw_thermal_ns");
}
finding power_cap(evidence const& known) {
  return slowed(known, 0x4, "clock_event_sw_power_cap_ns");
}
finding sync_boost(evidence const& known) {
  return slowed(known, 0x10, "clock_event_sync_boost_ns");
}
finding board_limit(evidence const& known) {
  return counted(known, "clock_event_board_limit_ns").value_or(finding{state::irrelevant});
}
finding reliability_limit(evidence const& known) {
  return counted(known, "clock_event_reliability_ns").value_or(finding{state::irrelevant});
}
finding application_clocks(evidence const& known) {
  return events_among(known, 0x2);
}
finding display_clocks(evidence const& known) {
  return events_among(known, 0x100);
}
finding unknown_clock_event(evidence const& known) {
  return events_among(known, ~known_bits);
}

finding gpu_temperature(evidence const& known) {
  return hot(known, "temperature_c", "temperature_slowdown_c", "the hardware slows down at");
}
finding memory_temperature(evidence const& known) {
  return hot(known, "memory_temperature_c", "temperature_memory_max_c", "its maximum is");
}

finding power_limit(evidence const& known) {
  auto const& device = known.device;
  auto const read_now = number_any_time(known, "power_limit_w");
  auto const now = read_now ? read_now : device.power_limit_w;
  auto const& expected = known.expected.power_limit_w;
  auto const read_normal = number_any_time(known, "power_limit_default_w");
  auto const normal = expected      ? expected
                      : read_normal ? read_normal
                                    : device.power_limit_default_w;
  if (!now || !normal || *now <= 0 || *normal <= 0) return {};
  if (*now >= *normal) return {state::fine};
  return {state::found, fmt::format("{}: {:g} W of {:g} W",
                                    expected ? "what is expected" : "its default", *now, *normal)};
}

finding memory_clock(evidence const& known) {
  if (at_rest(known)) return {state::irrelevant};  // it idles low
  auto const now = number(known.health.load, "memory_clock_mhz");
  auto const most = number_any_time(known, "memory_clock_max_mhz");
  // Some drivers report 0 for what they do not know.
  if (!now || !most || *now <= 0 || *most <= 0) return {};
  if (*now >= *most) return {state::fine};
  return {state::found, fmt::format("{:g} MHz of {:g} MHz", *now, *most)};
}

}  // namespace look
}  // namespace bandgate
