// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <array>
#include <chrono>
#include <cstdint>
#include <string>

namespace bandgate {

/// 128 random bits suffice for uniqueness; these are the ones that a UUIDv7 has room for.
using random_bytes = std::array<std::uint8_t, 8>;

/// From the kernel. Throws std::system_error.
random_bytes new_random_bytes();

/// Makes UUIDv7 (RFC 9562, section 6.2, method 3: the 12 bits after the version are the fraction of
/// the millisecond). Ids of one source only ever rise, also when the clock is set back or stands
/// still: then they follow the last one by the smallest step.
class run_id_source {
 public:
  std::string make(std::chrono::system_clock::time_point now, random_bytes const& random);

 private:
  std::uint64_t last_{};  ///< milliseconds x 4096 + fraction
};

}  // namespace bandgate
