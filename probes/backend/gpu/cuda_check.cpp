// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/cuda_check.hpp"

#include <fmt/format.h>

#include <filesystem>

namespace bandgate {

failure failure_of(cudaError_t status) {
  switch (status) {
    case cudaErrorMemoryAllocation:
      return failure::out_of_memory;
    // Another process has the card, which is in exclusive-process mode (or prohibited).
    case cudaErrorDevicesUnavailable:
      return failure::exclusively_held;
    // Said by calls on a device that was there before: it fell off the bus or was taken away.
    case cudaErrorNoDevice:
    case cudaErrorInvalidDevice:
    case cudaErrorDeviceUninitialized:
      return failure::device_lost;
    default:
      return failure::device_failed;
  }
}

void check(cudaError_t status, std::string const& what, std::source_location where) {
  if (status == cudaSuccess) return;
  static_cast<void>(cudaGetLastError());
  throw measurement_error(
      failure_of(status),
      fmt::format("{}: {} ({}, error {}) [{}:{}]", what, cudaGetErrorString(status),
                  cudaGetErrorName(status), static_cast<int>(status),
                  std::filesystem::path(where.file_name()).filename().string(), where.line()));
}

std::string cuda_version(int version) {
  return fmt::format("{}.{}", version / 1000, version % 1000 / 10);
}

}  // namespace bandgate
