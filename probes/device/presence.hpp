// SPDX-License-Identifier: Apache-2.0
/// What the machine says of its GPUs without asking a driver: /sys, /proc, /dev. Every function
/// takes the root of the file system, so that tests lay out machines of their own.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <bandgate/result.hpp>
#include <bandgate/session.hpp>

namespace bandgate {

struct visible_gpu {
  std::string pci_address;  ///< "0000:1b:00.0"
  std::string pci_device, pci_subsystem;
  std::string pci_class;      ///< "0x0302": a 3D controller, without a display
  std::string kernel_driver;  ///< "nvidia", "vfio-pci", "" (none bound)
  bool node_present{};        ///< its /dev/nvidiaN, or one of /dev/dri/renderD*, exists
  bool set_aside{};           ///< excluded by a driver option, or split into MIG instances
};

struct gpu_presence {
  std::vector<visible_gpu> gpus;   ///< display controllers of NVIDIA and AMD, in PCI order
  std::vector<std::string> nodes;  ///< /dev/nvidia*, /dev/kfd that exist
  std::string driver_library;      ///< path of libcuda.so.1, empty where there is none
  std::string driver_version;      ///< from /proc/driver/nvidia/version
  std::string module_flavour;      ///< "open" or "proprietary", where readable
  /// A GPU driver or device node is there: this is a GPU machine, never quietly a host run.
  bool any() const { return !nodes.empty() || !driver_library.empty() || !driver_version.empty(); }
};

/// `library_path`: LD_LIBRARY_PATH, whose folders are searched for the driver's library first.
/// Look after the driver was asked for its devices: asking is what makes the device nodes.
gpu_presence look_for_gpus(std::filesystem::path const& root = "/",
                           std::string const& library_path = {});

/// Holds what the driver listed against what the machine has. `environment`: the *_VISIBLE_DEVICES
/// variables that are set (devices hidden on purpose are not missing) and BANDGATE_EXPECT_DEVICES.
/// `backend`: whose driver was asked, "cuda" or "hip". With an empty `machine` (scripted devices)
/// only BANDGATE_EXPECT_DEVICES is judged; a host among `listed` is no GPU. Not to be asked where
/// the driver itself said why it lists nothing (too old). Throws usage_error for a
/// BANDGATE_EXPECT_DEVICES that is not a number.
std::vector<device_problem> missing_devices(gpu_presence const& machine,
                                            std::vector<device_identity> const& listed,
                                            std::map<std::string, std::string> const& environment,
                                            std::string const& backend = "cuda");

/// "PCI 0000:1b:00.0 (10de:2335, kernel driver nvidia)", for messages.
std::string describe(visible_gpu const& gpu);

}  // namespace bandgate
