// SPDX-License-Identifier: Apache-2.0
/// How many passes one sample carries.
#pragma once

#include <cstdint>

#include <bandgate/subject.hpp>

#include "protocol.hpp"

namespace bandgate {

/// A reading that says nothing: zero, one tick of a clock that counts nanoseconds, or a step back.
constexpr bool reads_nothing(nanoseconds elapsed) {
  return elapsed <= nanoseconds{1};
}

/// The most passes that a sample may carry: the rule's ceiling, yet never below what the subject
/// needs to be measuring what it claims.
std::uint64_t most_iterations(subject const& what, protocol const& rules);

/// The next, larger count after a sample of `count` passes that was shorter than the target.
/// Precondition: count < most.
std::uint64_t grown(std::uint64_t count, nanoseconds elapsed, std::uint64_t most,
                    protocol const& rules);

/// The count that lasts about the target, from one reading; unchanged when it reads nothing.
std::uint64_t retargeted(subject const& what, std::uint64_t count, nanoseconds elapsed,
                         protocol const& rules);

}  // namespace bandgate
