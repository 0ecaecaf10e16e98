// SPDX-License-Identifier: Apache-2.0
#include "device/file_text.hpp"
#include "device/identity.hpp"
#include "device/pci_address.hpp"

namespace bandgate {

void add_sysfs(device_identity& identity, std::filesystem::path const& root) {
  auto const address = parse_pci_address(identity.pci_address);
  if (!address) return;
  identity.pci_address = to_string(*address);
  auto const device = root / "sys/bus/pci/devices" / identity.pci_address;
  if (auto const id = pci_id(device, "vendor", "device"); !id.empty()) identity.pci_device = id;
  if (auto const id = pci_id(device, "subsystem_vendor", "subsystem_device"); !id.empty())
    identity.pci_subsystem = id;
  // -1 where the machine has one node or does not say; read_number refuses the sign.
  if (auto const node = read_number(device / "numa_node"); node && *node < 4096)
    identity.numa_node = static_cast<int>(*node);
}

std::optional<double> peak_bandwidth(double clock_mhz, unsigned bus_width_bits,
                                     unsigned transfers_per_clock) {
  if (!(clock_mhz > 0) || clock_mhz > 1e9 || bus_width_bits == 0) return std::nullopt;
  return clock_mhz * 1e6 * transfers_per_clock * bus_width_bits / 8;
}

}  // namespace bandgate
