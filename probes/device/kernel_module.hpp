// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bandgate {

/// What /proc/driver/nvidia says of the loaded kernel module; empty where it is not loaded.
struct kernel_module {
  std::string version;  ///< "580.159.04"; "unknown" where it is loaded and does not say
  std::string flavour;  ///< "open" or "proprietary"
};
kernel_module nvidia_kernel_module(std::filesystem::path const& root);

}  // namespace bandgate
