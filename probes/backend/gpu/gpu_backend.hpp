// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <memory>

#include <bandgate/session.hpp>

namespace bandgate {

/// "cuda 13.0", or "none" for a build without a GPU compiler.
char const* gpu_backend_version();

/// All GPUs that the driver lists, in PCI order whatever CUDA_DEVICE_ORDER says. In a build without
/// a GPU backend every call throws usage_error naming the preset that has one.
std::unique_ptr<backend> make_gpu_backend();

}  // namespace bandgate
