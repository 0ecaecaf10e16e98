// SPDX-License-Identifier: Apache-2.0
/// The only place that knows NVML, and only through dlopen.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include <bandgate/result.hpp>

#include "device/management.hpp"

namespace bandgate {

/// One symbol table, every symbol optional, newest version first; one mutex.
class nvml final : public management {
 public:
  /// `library`: a path or name for dlopen, overridable for tests.
  explicit nvml(std::string const& library = "libnvidia-ml.so.1");
  ~nvml() override;
  nvml(nvml const&) = delete;
  nvml& operator=(nvml const&) = delete;

  std::string name() const override { return "nvml"; }
  bool available() const noexcept override;
  std::string const& why_not() const noexcept override;
  void add_identity(device_identity& device) const override;
  health_snapshot snapshot(device_identity const& device) const override;
  std::vector<device_process> processes(device_identity const& device,
                                        std::vector<std::uint64_t> const& own) const override;
  std::vector<device_identity> instances(device_identity const& card) const override;
  std::optional<std::string> lost(device_identity const& device) const override;

 private:
  struct table;
  std::unique_ptr<table> table_;
};

}  // namespace bandgate
