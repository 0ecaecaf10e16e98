// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include <bandgate/result.hpp>

namespace bandgate {

/// What the devices of a machine said at one moment, to be held against what they say later.
struct mark {
  struct device {
    device_identity identity;
    bandgate::health health;
  };
  std::string at;  ///< RFC 3339, UTC
  std::string host, boot_id;
  double uptime_s{};  ///< since the machine started: no change of its clock moves it
  std::string backend;
  std::vector<device> devices;
};

/// Writes a file of schema bandgate.mark/1, whole or not at all. Throws usage_error naming the file
/// and the system's reason.
void write_mark(mark const& what, std::filesystem::path const& file);

/// Throws usage_error naming the file, the place and the reason.
mark read_mark(std::filesystem::path const& file);

}  // namespace bandgate
