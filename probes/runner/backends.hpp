// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>

#include <bandgate/session.hpp>

#include "device/presence.hpp"

namespace bandgate {

/// Which backend "auto" means on this machine: that of GPUs where there is a GPU driver or device
/// node (broken or not: a GPU machine never quietly becomes a host run), else "host".
std::string chosen_backend(std::string const& asked, gpu_presence const& machine);

/// The name of this build's backend of GPUs: "cuda" or "hip".
std::string gpu_backend();
bool is_gpu_backend(std::string const& name);

/// Which GPU compiler this build has: "cuda 13.0", "hip 6.4" or "none".
std::string gpu_support();

struct backend_options {
  std::string management{};              ///< path of another management library, or "none"
  std::optional<std::string> visible{};  ///< CUDA_VISIBLE_DEVICES, where it is set
  /// Hears what is about to be asked, before it may hang; may be empty.
  std::function<void(std::string const&)> announce{};
};

/// What the environment says of it: $BANDGATE_NVML and $CUDA_VISIBLE_DEVICES.
backend_options options_from(std::map<std::string, std::string> const& environment);

/// Opens "cuda" or "hip" (whichever this build has), "host" or "scripted:FILE". Throws usage_error
/// for any other text.
std::unique_ptr<backend> make_backend(std::string const& name, backend_options const& how = {});

}  // namespace bandgate
