// SPDX-License-Identifier: Apache-2.0
/// What a vendor's management library says of a device, whichever vendor's it is.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <bandgate/result.hpp>

namespace bandgate {

/// Nothing here throws: what cannot be read says why. Devices are found by UUID, else by PCI
/// address, never by their place in a list.
class management {
 public:
  virtual ~management() = default;

  /// "nvml", "amd_smi", "rocm_smi": the source that a result names.
  virtual std::string name() const = 0;
  virtual bool available() const noexcept = 0;
  virtual std::string const& why_not() const noexcept = 0;

  /// Adds what only the library knows (board part number, serial, VBIOS, power limits …). Leaves
  /// alone what it cannot read and what better sources said.
  virtual void add_identity(device_identity& device) const = 0;

  /// Every field of the health table: one snapshot. docs/health.md lists them.
  virtual health_snapshot snapshot(device_identity const& device) const = 0;

  /// Processes that compute on the device, other than those in `own` (PIDs), with their memory;
  /// `active` where one computed in the last second. Ask before your own context exists: in a
  /// container the library may give the host's PIDs, so that `own` matches nothing, and then
  /// whatever is listed is another's.
  virtual std::vector<device_process> processes(device_identity const& device,
                                                std::vector<std::uint64_t> const& own) const = 0;

  /// The instances (slices) that a card is split into, each with its UUID, profile, memory and
  /// parent; empty for a whole card.
  virtual std::vector<device_identity> instances(device_identity const& /*card*/) const {
    return {};
  }

  /// Why the device cannot be used until somebody acts (fallen off the bus, waiting for a reset),
  /// where the library says so. Ask after a call to the device failed.
  virtual std::optional<std::string> lost(device_identity const& /*device*/) const { return {}; }
};

/// The library for a vendor's devices: "nvidia" (libnvidia-ml.so.1) or "amd" (amd_smi, else
/// rocm_smi). `library_override`: empty for these; a path or name of another; "none" for no library
/// at all. Never null: what cannot be loaded is not available and says why.
std::unique_ptr<management> open_management(std::string const& vendor,
                                            std::string const& library_override = {});

}  // namespace bandgate
