// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include <bandgate/session.hpp>

namespace bandgate {

/// "cuda 13.0", "hip 6.4", or "none" for a build without a GPU compiler.
char const* gpu_backend_version();

/// The name by which this build's backend is chosen: "cuda" or "hip"; "cuda", too, where there is
/// none.
char const* gpu_backend_name();

struct gpu_backend_options {
  std::string management_library{};      ///< another than the vendor's; "none" for none
  std::optional<std::string> visible{};  ///< CUDA_VISIBLE_DEVICES, where it is set
  /// Hears what is about to be asked, before it may hang (device/steps.hpp); may be empty.
  std::function<void(std::string const&)> announce{};
};

/// All GPUs that the driver lists, in PCI order whatever CUDA_DEVICE_ORDER says. In a build without
/// a GPU backend every call throws usage_error naming the preset that has one.
std::unique_ptr<backend> make_gpu_backend(gpu_backend_options options = {});

}  // namespace bandgate
