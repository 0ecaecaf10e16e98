// SPDX-License-Identifier: Apache-2.0
/// The only place that knows NVML, and only through dlopen.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include <bandgate/result.hpp>

namespace bandgate {

/// One symbol table, every symbol optional, newest version first; one mutex. Nothing here throws:
/// what cannot be read says why.
class nvml {
 public:
  /// `library`: a path or name for dlopen, overridable for tests.
  explicit nvml(std::string const& library = "libnvidia-ml.so.1");
  ~nvml();
  nvml(nvml const&) = delete;
  nvml& operator=(nvml const&) = delete;

  bool available() const noexcept;
  std::string const& why_not() const noexcept;

  /// Adds board part number, serial, VBIOS, ECC, power limits, persistence and compute mode,
  /// MIG parent to the device found by UUID, else by PCI address. Leaves alone what it cannot read.
  void add_identity(device_identity& device) const;

  /// Clocks, temperatures, power, clock-event bits, utilisation, PCIe link: one snapshot.
  health_snapshot snapshot(device_identity const& device) const;

  /// Processes that compute on the device, other than those in `own` (PIDs), with their memory;
  /// `active` where one computed in the last second. Ask before your own context exists: in a
  /// container NVML may give the host's PIDs, so that `own` matches nothing, and then whatever is
  /// listed is another's.
  std::vector<device_process> processes(device_identity const& device,
                                        std::vector<std::uint64_t> const& own) const;

 private:
  struct table;
  std::unique_ptr<table> table_;
};

}  // namespace bandgate
