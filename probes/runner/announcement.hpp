// SPDX-License-Identifier: Apache-2.0
/// What a worker says of its progress, a line at a time: "sampling", or "sampling 3/30" when three
/// of its thirty parts are over.
#pragma once

#include <cstdint>
#include <string>

namespace bandgate {

struct announcement {
  std::string phase;
  std::uint64_t done{};
  std::uint64_t all{};  ///< 0: the phase has no parts
};

std::string to_text(announcement const& said);
/// A line that is none is a phase of that name.
announcement announcement_from_text(std::string const& line);

/// "while asking the driver", "in phase sampling", "in phase sampling, part 4 of 30", "in phase
/// sampling, after all of its 30 parts": where a worker is that said so last.
std::string place_of(announcement const& said);

}  // namespace bandgate
