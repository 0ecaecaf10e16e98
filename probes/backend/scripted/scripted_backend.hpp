// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include <bandgate/session.hpp>

namespace bandgate {

/// Devices described by a JSON file (schema bandgate.scripted/1): the fire drill. Throws
/// usage_error naming file, JSON pointer and reason.
std::unique_ptr<backend> make_scripted_backend(std::filesystem::path const& file);

}  // namespace bandgate
