// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <memory>

#include <bandgate/session.hpp>

namespace bandgate {

/// The CPU and its memory as one device.
std::unique_ptr<backend> make_host_backend(std::filesystem::path const& root = "/");

}  // namespace bandgate
