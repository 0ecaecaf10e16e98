// SPDX-License-Identifier: Apache-2.0
#include "device/sysfs_health.hpp"

#include <algorithm>
#include <optional>
#include <system_error>

#include "device/file_text.hpp"
#include "device/health_fields.hpp"
#include "device/pci_address.hpp"
#include "device/pcie_generation.hpp"

namespace bandgate {
namespace {

namespace fs = std::filesystem;

/// Generation and width of one end of a link.
struct link_end {
  std::optional<unsigned> generation, generation_max, width, width_max;
};

/// 255 is what the kernel writes where a port does not say, 0 where there is no link.
std::optional<unsigned> width_in(fs::path const& file) {
  auto const lanes = read_number(file);
  if (!lanes || *lanes == 0 || *lanes > 32) return std::nullopt;
  return static_cast<unsigned>(*lanes);
}

link_end end_at(fs::path const& device) {
  return {pcie_generation(read_line(device / "current_link_speed")),
          pcie_generation(read_line(device / "max_link_speed")),
          width_in(device / "current_link_width"), width_in(device / "max_link_width")};
}

/// The port above, where there is one with a link: a device of a virtual machine has none.
link_end port_above(fs::path const& device) {
  std::error_code failed;
  auto const real = fs::canonical(device, failed);
  if (failed || !parse_pci_address(real.parent_path().filename().string())) return {};
  return end_at(real.parent_path());
}

std::optional<unsigned> lesser(std::optional<unsigned> one, std::optional<unsigned> other) {
  if (!one || !other) return one ? one : other;
  return std::min(*one, *other);
}

health_field field(std::optional<unsigned> value, fs::path const& file) {
  if (value) return known(static_cast<double>(*value));
  return unavailable(file.string() + " says nothing of a PCIe link");
}

}  // namespace

health_snapshot sysfs_snapshot(device_identity const& wanted, fs::path const& root) {
  auto const address = parse_pci_address(wanted.pci_address);
  if (!address) return nothing_known("no PCI address to find the device in /sys by");
  auto fields = nothing_known("no management library was asked, and /sys does not tell");
  auto const device = root / "sys/bus/pci/devices" / to_string(*address);
  auto const card = end_at(device);
  auto const port = port_above(device);
  fields["pcie_generation"] = field(card.generation, device / "current_link_speed");
  fields["pcie_generation_card"] = field(card.generation_max, device / "max_link_speed");
  fields["pcie_width"] = field(card.width, device / "current_link_width");
  // A port alone says nothing of the card.
  fields["pcie_generation_max"] =
      field(card.generation_max ? lesser(card.generation_max, port.generation_max) : std::nullopt,
            device / "max_link_speed");
  fields["pcie_width_max"] =
      field(card.width_max ? lesser(card.width_max, port.width_max) : std::nullopt,
            device / "max_link_width");
  return fields;
}

health_snapshot with_sysfs(health_snapshot from_library, device_identity const& device,
                           fs::path const& root) {
  using state = health_field::state;
  for (auto& [name, found] : sysfs_snapshot(device, root)) {
    if (found.status != state::ok) continue;
    auto const [place, added] = from_library.try_emplace(name, found);
    if (!added && place->second.status != state::ok) place->second = found;
  }
  return from_library;
}

}  // namespace bandgate
