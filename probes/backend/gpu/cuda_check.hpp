// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <bandgate/errors.hpp>
#include <source_location>
#include <span>
#include <string>

#include "backend/gpu/runtime.hpp"

namespace bandgate {

/// What is known of an error of the runtime beyond its own words.
struct error_meaning {
  int status;  ///< a number, since older toolkits lack some of the names
  failure what;
  char const* remedy;
};

/// The vendor's errors that mean something of their own.
std::span<error_meaning const> error_meanings();

/// What an error of the runtime means for a measurement.
failure failure_of(cudaError_t status);

/// What it says of the machine and what to do about it, where there is more to say than the
/// runtime's own words; else empty.
char const* remedy_for(cudaError_t status);

/// Throws measurement_error unless the call succeeded, naming what was attempted, CUDA's own words
/// for it and the remedy; clears the sticky error, so that the next call is not blamed for this
/// one.
void check(cudaError_t status, std::string const& what,
           std::source_location where = std::source_location::current());

}  // namespace bandgate
