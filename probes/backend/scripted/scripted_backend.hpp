// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#include <bandgate/session.hpp>

namespace bandgate {

/// Devices described by a JSON file (schema bandgate.scripted/1): the fire drill. Throws
/// usage_error naming file, JSON pointer and reason. `announce` hears of every wait for others; may
/// be empty.
std::unique_ptr<backend> make_scripted_backend(
    std::filesystem::path const& file, std::function<void(std::string const&)> announce = {});

}  // namespace bandgate
