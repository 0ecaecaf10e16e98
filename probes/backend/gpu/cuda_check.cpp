// SPDX-License-Identifier: Apache-2.0
#include "backend/gpu/cuda_check.hpp"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>

namespace bandgate {
namespace {

error_meaning const* meaning_of(cudaError_t status) {
  auto const known = error_meanings();
  auto const at = std::ranges::find(known, static_cast<int>(status), &error_meaning::status);
  return at == known.end() ? nullptr : &*at;
}

}  // namespace

failure failure_of(cudaError_t status) {
  auto const* const known = meaning_of(status);
  return known == nullptr ? failure::device_failed : known->what;
}

char const* remedy_for(cudaError_t status) {
  auto const* const known = meaning_of(status);
  return known == nullptr ? "" : known->remedy;
}

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
