// SPDX-License-Identifier: Apache-2.0
/// The limits of the control groups that this process is in, version 1 and 2.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>

namespace bandgate {

struct cgroup_limits {
  std::optional<double> cpus;                 ///< processor time a second: 1.5 is one and a half
  std::optional<std::uint64_t> memory_bytes;  ///< the least limit up to the root
  std::optional<std::uint64_t> memory_room;   ///< the least of limit minus what is in use
};
cgroup_limits read_cgroup_limits(std::filesystem::path const& root);

}  // namespace bandgate
