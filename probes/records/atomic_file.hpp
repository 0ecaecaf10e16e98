// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <string>
#include <system_error>

namespace bandgate {

/// write_atomically with the system's reason as a value.
std::error_code try_write_atomically(std::filesystem::path const& file, std::string const& text);

/// Makes the names in a folder durable. No error where the file system cannot do that.
std::error_code sync_folder(std::filesystem::path const& folder);

}  // namespace bandgate
