// SPDX-License-Identifier: Apache-2.0
#include "device/presence.hpp"

#include <algorithm>

#include "device/driver_library.hpp"
#include "device/file_text.hpp"
#include "device/kernel_module.hpp"
#include "device/pci_address.hpp"

namespace bandgate {
namespace {

using std::filesystem::path;

bool is_numbered_node(std::string const& name) {
  constexpr std::string_view stem = "nvidia";
  return name.starts_with(stem) && parse_number(name.substr(stem.size())).has_value();
}

/// "0x030200" as "0x0302"; empty for what is no GPU: sound, USB and bridges of one card have
/// functions of their own. 0x1200 is a processing accelerator, as the MI300 family calls itself.
std::string display_class(path const& device) {
  auto const text = read_line(device / "class").substr(0, 6);
  bool const known = text == "0x0300" || text == "0x0302" || text == "0x0380" || text == "0x1200";
  return known ? text : std::string{};
}

/// A container has the nodes of the cards that were handed to it, and all cards in /sys.
bool has_render_node(path const& root, path const& device) {
  auto const names = names_in(device / "drm");
  return std::any_of(names.begin(), names.end(), [&](std::string const& name) {
    return name.starts_with("renderD") && file_exists(root / "dev/dri" / name);
  });
}

bool of_known_vendor(std::string const& pci_device) {
  return pci_device.starts_with("10de:") || pci_device.starts_with("1002:");
}

/// Whether the card's capabilities list MIG instances: CUDA lists at most one of them, so that the
/// card itself is not to be expected.
bool has_mig_instances(path const& root, std::string const& minor) {
  auto const names = names_in(root / "proc/driver/nvidia/capabilities" / ("gpu" + minor) / "mig");
  return std::any_of(names.begin(), names.end(),
                     [](std::string const& name) { return name.starts_with("gi"); });
}

/// What /proc/driver/nvidia says of the card. A container's runtime shows only the cards given to
/// it, so one that is not described there is hidden.
void add_driver_view(visible_gpu& gpu, path const& root, bool enough_nodes) {
  auto const cards = root / "proc/driver/nvidia/gpus";
  auto const text = read_text(cards / gpu.pci_address / "information");
  if (!text) {
    gpu.node_present = !file_exists(cards) && enough_nodes;
    return;
  }
  auto const minor = value_of(*text, "Device Minor");
  gpu.node_present =
      parse_number(minor) ? file_exists(root / "dev" / ("nvidia" + minor)) : enough_nodes;
  gpu.set_aside = value_of(*text, "GPU Excluded") == "Yes" ||
                  (parse_number(minor) && has_mig_instances(root, minor));
}

std::vector<visible_gpu> scan_bus(path const& root) {
  auto const bus = root / "sys/bus/pci/devices";
  std::vector<std::pair<pci_address, visible_gpu>> found;
  for (auto const& name : names_in(bus)) {
    auto const at = parse_pci_address(name);
    auto const device = bus / name;
    visible_gpu gpu;
    gpu.pci_address = name;
    gpu.pci_class = display_class(device);
    gpu.pci_device = pci_id(device, "vendor", "device");
    if (!at || gpu.pci_class.empty() || !of_known_vendor(gpu.pci_device)) continue;
    // A virtual function belongs to a guest; the card it is part of is listed by itself.
    if (file_exists(device / "physfn")) continue;
    gpu.pci_subsystem = pci_id(device, "subsystem_vendor", "subsystem_device");
    std::error_code failed;
    gpu.kernel_driver = std::filesystem::read_symlink(device / "driver", failed).filename();
    if (gpu.kernel_driver == "amdgpu") gpu.node_present = has_render_node(root, device);
    found.emplace_back(*at, std::move(gpu));
  }
  std::sort(found.begin(), found.end(),
            [](auto const& a, auto const& b) { return a.first < b.first; });
  std::vector<visible_gpu> gpus;
  for (auto& [at, gpu] : found) gpus.push_back(std::move(gpu));
  return gpus;
}

}  // namespace

gpu_presence look_for_gpus(path const& root, std::string const& library_path) {
  gpu_presence machine;
  machine.gpus = scan_bus(root);
  std::ptrdiff_t numbered{};
  for (auto const& name : names_in(root / "dev")) {
    numbered += is_numbered_node(name);
    if (is_numbered_node(name) || name == "nvidiactl" || name == "kfd")
      machine.nodes.push_back("/dev/" + name);
  }
  auto const bound = std::count_if(machine.gpus.begin(), machine.gpus.end(),
                                   [](auto const& gpu) { return gpu.kernel_driver == "nvidia"; });
  for (auto& gpu : machine.gpus)
    if (gpu.kernel_driver == "nvidia") add_driver_view(gpu, root, numbered >= bound);

  machine.driver_library = find_driver_library(root, library_path);
  auto const module = nvidia_kernel_module(root);
  machine.driver_version = module.version;
  machine.module_flavour = module.flavour;
  return machine;
}

std::string describe(visible_gpu const& gpu) {
  return "PCI " + gpu.pci_address + " (" + gpu.pci_device + ", kernel driver " +
         (gpu.kernel_driver.empty() ? "none" : gpu.kernel_driver) + ")";
}

}  // namespace bandgate
