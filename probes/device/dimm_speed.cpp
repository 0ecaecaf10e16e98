// SPDX-License-Identifier: Apache-2.0
#include "device/dimm_speed.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>

namespace bandgate {
namespace {

// Offsets of the SMBIOS reference specification (DMTF DSP0134), structure type 17.
constexpr unsigned memory_device = 17;
constexpr std::size_t size_at = 0x0c, speed_at = 0x20, extended_speed_at = 0x58;
constexpr std::size_t header_length = 4;

/// A little-endian number; 0, which all these fields use for "unknown", past the end.
std::uint64_t number(std::string_view structure, std::size_t at, std::size_t width) {
  std::uint64_t value{};
  for (std::size_t i = width; i-- > 0;)
    value = value << 8 |
            (at + i < structure.size() ? static_cast<unsigned char>(structure[at + i]) : 0U);
  return value;
}

/// 0 for an empty slot and for a module whose speed is not stated.
unsigned configured_speed(std::string_view structure) {
  if (number(structure, size_at, 2) == 0) return 0;
  auto const speed = number(structure, speed_at, 2);
  return static_cast<unsigned>(speed == 0xffff ? number(structure, extended_speed_at, 4) : speed);
}

}  // namespace

std::optional<unsigned> configured_dimm_speed(std::string_view table) {
  std::optional<unsigned> lowest;
  while (table.size() >= header_length) {
    auto const type = static_cast<unsigned char>(table[0]);
    std::size_t const length = static_cast<unsigned char>(table[1]);
    if (length < header_length || length > table.size()) break;
    if (type == memory_device) {
      auto const speed = configured_speed(table.substr(0, length));
      if (speed != 0) lowest = std::min(lowest.value_or(speed), speed);
    }
    // Strings follow, and two zeros end them.
    auto const end = table.find(std::string_view("\0\0", 2), length);
    if (end == std::string_view::npos) break;
    table.remove_prefix(end + 2);
  }
  return lowest;
}

}  // namespace bandgate
