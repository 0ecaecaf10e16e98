// SPDX-License-Identifier: Apache-2.0
/// What the kernel knows of a device's health without its vendor's library.
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bandgate/result.hpp>

namespace bandgate {

/// The PCIe link, of the device and of the port that it is plugged into; every other field of the
/// health table is unavailable. Found by PCI address.
health_snapshot sysfs_snapshot(device_identity const& device,
                               std::filesystem::path const& root = "/");

/// What the library read, with sysfs where it could read nothing.
health_snapshot with_sysfs(health_snapshot from_library, device_identity const& device,
                           std::filesystem::path const& root = "/");

}  // namespace bandgate
