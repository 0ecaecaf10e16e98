// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <chrono>
#include <cstdint>

namespace bandgate {

using std::chrono::nanoseconds;

/// Steady time. Injected everywhere, so that every rule of the protocol is tested on a virtual one.
class clock {
 public:
  virtual ~clock() = default;
  virtual nanoseconds now() = 0;
};

/// What the protocol times: one probe, in one launch shape, on one device.
class subject {
 public:
  virtual ~subject() = default;

  /// Runs the kernel for that many passes and returns the time that they took by the device's own
  /// timer (events on a GPU, the host clock on the host). Throws measurement_error.
  virtual nanoseconds sample(std::uint64_t iterations) = 0;

  /// Bytes (or operations) that one pass is counted as.
  virtual std::uint64_t bytes_per_iteration() const = 0;

  /// Passes that a launch must carry to be measuring what it claims, however fast they run: a
  /// window that is re-read sooner than this comes from the cache.
  virtual std::uint64_t min_iterations() const { return 1; }
};

}  // namespace bandgate
