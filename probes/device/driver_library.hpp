// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>

namespace bandgate {

/// Path (without `root`) of the CUDA driver's library, libcuda.so.1, or empty. By file search:
/// loading it would already be touching the driver. `library_path` as LD_LIBRARY_PATH is written.
std::string find_driver_library(std::filesystem::path const& root, std::string const& library_path);

}  // namespace bandgate
