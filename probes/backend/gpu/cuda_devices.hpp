// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <bandgate/session.hpp>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "device/management.hpp"

namespace bandgate {

/// A device as CUDA numbers it, with who it is.
struct cuda_device {
  int ordinal{};
  device_identity identity;
};

struct cuda_device_list {
  std::vector<cuda_device> devices;  ///< in PCI order
  std::vector<device_problem> problems;
};

/// Asks the driver. Makes no context.
cuda_device_list list_cuda_devices(management const& library);

/// What a failed first call of the runtime means. Nothing where there simply is no device or no
/// driver: whether one should be there is for others to say. `driver`: the CUDA version that the
/// driver supports, 0 where there is no driver; `driver_text`: its release, such as "550.54.14".
std::optional<device_problem> start_problem(cudaError_t status, int driver, int runtime,
                                            std::string const& driver_text);

/// "GPU-b0f3c5a2-…" from the 16 bytes of a UUID.
std::string format_uuid(std::string_view prefix, unsigned char const (&raw)[16]);

/// "1g.18gb" of "NVIDIA H200 MIG 1g.18gb"; empty for a whole card.
std::string mig_profile_of(std::string_view name);

}  // namespace bandgate
