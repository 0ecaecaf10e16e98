// SPDX-License-Identifier: Apache-2.0
/// The only place that knows amd_smi, and only through dlopen.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/management.hpp"

namespace bandgate {

/// Every symbol optional; one mutex. Devices are found by PCI address.
class amd_smi final : public management {
 public:
  /// ROCm's name, those of the packages of distributions, ROCm's folder where the loader was not
  /// told of it.
  explicit amd_smi(std::vector<std::string> const& libraries = {"libamd_smi.so", "libamd_smi.so.27",
                                                                "libamd_smi.so.26",
                                                                "/opt/rocm/lib/libamd_smi.so"});
  ~amd_smi() override;
  amd_smi(amd_smi const&) = delete;
  amd_smi& operator=(amd_smi const&) = delete;

  std::string name() const override { return "amd_smi"; }
  bool available() const noexcept override;
  std::string const& why_not() const noexcept override;
  void add_identity(device_identity& device) const override;
  health_snapshot snapshot(device_identity const& device) const override;
  std::vector<device_process> processes(device_identity const& device,
                                        std::vector<std::uint64_t> const& own) const override;

 private:
  struct table;
  std::unique_ptr<table> table_;
};

}  // namespace bandgate
