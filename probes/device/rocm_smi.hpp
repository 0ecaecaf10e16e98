// SPDX-License-Identifier: Apache-2.0
/// The only place that knows rocm_smi, and only through dlopen.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "device/management.hpp"

namespace bandgate {

/// Every symbol optional; one mutex. Devices are found by PCI address.
class rocm_smi final : public management {
 public:
  /// Likewise; .1 is Debian's.
  explicit rocm_smi(std::vector<std::string> const& libraries = {
                        "librocm_smi64.so", "librocm_smi64.so.7", "librocm_smi64.so.1",
                        "/opt/rocm/lib/librocm_smi64.so"});
  ~rocm_smi() override;
  rocm_smi(rocm_smi const&) = delete;
  rocm_smi& operator=(rocm_smi const&) = delete;

  std::string name() const override { return "rocm_smi"; }
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
