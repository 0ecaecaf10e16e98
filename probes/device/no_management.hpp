// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <utility>
#include <vector>

#include "device/health_fields.hpp"
#include "device/management.hpp"

namespace bandgate {

/// In place of a library that is not there, or not wanted.
class no_management final : public management {
 public:
  explicit no_management(std::string why) : why_(std::move(why)) {}

  std::string name() const override { return "none"; }
  bool available() const noexcept override { return false; }
  std::string const& why_not() const noexcept override { return why_; }
  void add_identity(device_identity&) const override {}
  health_snapshot snapshot(device_identity const&) const override { return nothing_known(why_); }
  std::vector<device_process> processes(device_identity const&,
                                        std::vector<std::uint64_t> const&) const override {
    return {};
  }

 private:
  std::string why_;
};

}  // namespace bandgate
