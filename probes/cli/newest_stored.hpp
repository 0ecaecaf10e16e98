// SPDX-License-Identifier: Apache-2.0
/// The newest stored results of a node, without reading all that are older.
#pragma once

#include <chrono>
#include <filesystem>
#include <functional>
#include <string>
#include <vector>

#include "runner/rejudge.hpp"

namespace bandgate::cli {

/// Of what `node` stored below `folder` since that day, and `keep` wants, the newest of each
/// device, probe and parameters, with its attempts. `broken` hears of each file that holds no
/// result. Throws usage_error where the folder cannot be read.
std::vector<checked> newest_stored(std::filesystem::path const& folder,
                                   std::chrono::system_clock::time_point since,
                                   std::string const& node,
                                   std::function<bool(result const&)> const& keep,
                                   std::function<void(std::string const&)> const& broken);

}  // namespace bandgate::cli
