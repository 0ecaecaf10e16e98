// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <compare>
#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <string_view>

namespace bandgate {

/// Where a device sits on the PCI bus; ordered as the bus is.
struct pci_address {
  std::uint32_t domain{}, bus{}, device{}, function{};
  friend constexpr auto operator<=>(pci_address const&, pci_address const&) = default;
};

/// Reads any spelling of it: "0000:1b:00.0", "00000000:1B:00.0" (NVML), "1B:00.0".
std::optional<pci_address> parse_pci_address(std::string_view text);

/// As /sys spells it: "0000:1b:00.0".
std::string to_string(pci_address const& address);

/// Two files of a device's folder in /sys as "10de:2335"; empty unless both are there.
std::string pci_id(std::filesystem::path const& device, char const* vendor, char const* id);
std::string pci_id(std::uint32_t vendor, std::uint32_t id);

}  // namespace bandgate
