// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/cuda_check.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace bandgate {

void check(cudaError_t status, std::string const& what, std::source_location where) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  std::string const remedy = remedy_for(status);
  throw measurement_error(
      failure_of(status),
      fmt::format("{}: {} ({}, error {}) [{}:{}]{}{}", what, cudaGetErrorString(status),
                  cudaGetErrorName(status), static_cast<int>(status),
                  std::filesystem::path(where.file_name()).filename().string(), where.line(),
                  remedy.empty() ? "" : "; ", remedy));
}

}  // namespace bandgate
