// SPDX-License-Identifier: Apache-2.0
/// What differs between the two vendors whose GPUs this backend drives. A build has one of
/// nvidia.cpp and amd.cpp; all else is the same source.
#pragma once

#include <bandgate/session.hpp>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "backend/gpu/cuda_devices.hpp"
#include "device/management.hpp"
#include "device/presence.hpp"

namespace bandgate::vendor {

char const* backend();             ///< "cuda", "hip"
char const* management();          ///< what open_management() is asked for: "nvidia", "amd"
char const* management_library();  ///< for announcements: "NVML", "amd_smi"
std::string built_with();          ///< "cuda 13.0"

/// "13.0" of the number by which the runtime knows that version.
std::string version_text(int version);

/// The driver's release, where the machine says it.
std::string driver_version(gpu_presence const& machine);

/// Who a device is, as far as the runtime knows. Throws measurement_error.
device_identity identify(int ordinal);

/// Once all devices are listed: puts the slices of a card in its place, or tells them apart.
void split_cards(std::vector<cuda_device>& devices, gpu_presence const& machine,
                 bandgate::management const& library, std::optional<std::string> const& visible);

/// device_facts::compute_capability
unsigned compute_capability(device_identity const& identity);

/// Threads that a launch may have at most, all blocks together.
std::uint64_t most_threads();

}  // namespace bandgate::vendor
