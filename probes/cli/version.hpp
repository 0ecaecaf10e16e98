// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>

namespace bandgate::cli {

/// The first argument of a worker process.
inline constexpr char const* worker_command = "__worker";

/// "0.1.0".
std::string version();
/// The linker's build id of this very program (the ELF note), in hex; empty where there is none.
std::string build_id();

}  // namespace bandgate::cli
