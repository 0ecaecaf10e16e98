// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/session.hpp>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "backend/gpu/runtime.hpp"
#include "device/management.hpp"

namespace bandgate {

/// A device as CUDA numbers it, with who it is.
struct cuda_device {
  std::optional<int> ordinal;  ///< none: CUDA does not show it to this process
  device_identity identity;
};

struct cuda_device_list {
  std::vector<cuda_device> devices;  ///< in PCI order
  std::vector<device_problem> problems;
};

/// Asks the driver, then the library. Makes no context. `announce` hears what is about to be asked.
/// A card that is split into slices is replaced by these. `visible`: CUDA_VISIBLE_DEVICES, where it
/// is set.
cuda_device_list list_cuda_devices(management const& library,
                                   std::optional<std::string> const& visible,
                                   std::function<void(std::string const&)> const& announce);

/// Puts the slices that the library knows in the place of the cards at those addresses and at those
/// of the devices. Written after NVIDIA's documentation and tested on a stub: no such card was
/// seen. CUDA shows a process one slice at most, so a slice that it does not list has no ordinal:
/// whoever opens it is told by CUDA_VISIBLE_DEVICES which one to see. Where that variable is set
/// already, slices that it does not name stay hidden.
void add_slices(std::vector<cuda_device>& devices, std::vector<std::string> addresses,
                management const& library, std::optional<std::string> const& visible);

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
