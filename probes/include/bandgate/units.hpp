// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <compare>
#include <cstdint>
#include <optional>
#include <string_view>

namespace bandgate {

/// A size or an amount of traffic, in bytes.
struct bytes {
  std::uint64_t count{};
  friend constexpr auto operator<=>(bytes, bytes) = default;
};

/// A throughput, in bytes per second (never GB/s inside the program).
struct bytes_per_second {
  double value{};
  friend constexpr auto operator<=>(bytes_per_second, bytes_per_second) = default;
};

constexpr bytes kib(std::uint64_t n) {
  return {n << 10};
}
constexpr bytes mib(std::uint64_t n) {
  return {n << 20};
}
constexpr bytes gib(std::uint64_t n) {
  return {n << 30};
}

/// The units a person may write. Powers of ten and of two are told apart by the "i" alone;
/// a bare "GB" is none of them.
enum class unit { b_per_s, mb_per_s, mib_per_s, gb_per_s, gib_per_s, microseconds };

struct unit_name {
  unit value;
  std::string_view text;
  double base;  ///< one of it in base units: bytes per second, or seconds
};

inline constexpr std::array<unit_name, 6> unit_names{{
    {unit::b_per_s, "B/s", 1.0},
    {unit::mb_per_s, "MB/s", 1e6},
    {unit::mib_per_s, "MiB/s", 1048576.0},
    {unit::gb_per_s, "GB/s", 1e9},
    {unit::gib_per_s, "GiB/s", 1073741824.0},
    {unit::microseconds, "us", 1e-6},
}};

constexpr std::string_view to_string(unit u) {
  for (auto const& n : unit_names)
    if (n.value == u) return n.text;
  return "?";
}

/// Exact spelling only: "GB/s" is a unit, "GB", "gb/s" and "GiB" are not.
constexpr std::optional<unit> parse_unit(std::string_view text) {
  for (auto const& n : unit_names)
    if (n.text == text) return n.value;
  return std::nullopt;
}

/// A value in `u` as base units (bytes per second, seconds).
constexpr double to_base(double value, unit u) {
  for (auto const& n : unit_names)
    if (n.value == u) return value * n.base;
  return value;
}

/// A value in base units as `u`.
constexpr double from_base(double value, unit u) {
  for (auto const& n : unit_names)
    if (n.value == u) return value / n.base;
  return value;
}

/// Whether two units measure the same thing (a throughput or a time).
constexpr bool same_dimension(unit a, unit b) {
  return (a == unit::microseconds) == (b == unit::microseconds);
}

}  // namespace bandgate
