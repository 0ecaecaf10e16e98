// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cuda_runtime_api.h>

#include <bandgate/errors.hpp>
#include <source_location>
#include <string>

namespace bandgate {

/// What an error of the CUDA runtime means for a measurement.
failure failure_of(cudaError_t status);

/// Throws measurement_error unless the call succeeded, naming what was attempted and CUDA's own
/// words for it; clears the sticky error, so that the next call is not blamed for this one.
void check(cudaError_t status, std::string const& what,
           std::source_location where = std::source_location::current());

/// "13.0" for 13000.
std::string cuda_version(int version);

}  // namespace bandgate
