// SPDX-License-Identifier: Apache-2.0
#include "device/amd_smi.hpp"
#include "device/management.hpp"
#include "device/no_management.hpp"
#include "device/nvml.hpp"
#include "device/rocm_smi.hpp"

namespace bandgate {

std::unique_ptr<management> open_management(std::string const& vendor,
                                            std::string const& library_override) {
  if (library_override == "none")
    return std::make_unique<no_management>("switched off: no management library was to be used");
  if (vendor == "nvidia")
    return library_override.empty() ? std::make_unique<nvml>()
                                    : std::make_unique<nvml>(library_override);
  if (vendor == "amd") {
    auto newer = library_override.empty()
                     ? std::make_unique<amd_smi>()
                     : std::make_unique<amd_smi>(std::vector{library_override});
    if (newer->available()) return newer;
    auto older = library_override.empty()
                     ? std::make_unique<rocm_smi>()
                     : std::make_unique<rocm_smi>(std::vector{library_override});
    if (older->available()) return older;
    return std::make_unique<no_management>(newer->why_not() + "; " + older->why_not());
  }
  return std::make_unique<no_management>("no management library is known for devices of " +
                                         (vendor.empty() ? "this vendor" : vendor));
}

}  // namespace bandgate
