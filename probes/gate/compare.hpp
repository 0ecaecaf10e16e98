// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <string>
#include <variant>

#include <bandgate/baseline.hpp>
#include <bandgate/result.hpp>

namespace bandgate {

/// A measured value held against one entry, all in base units.
struct comparison {
  enum class side { worse, within, better };
  applied_baseline applied;
  double value{};
  side outcome{};
  double tolerance{};  ///< on the worse side, as a positive share
  bool is_time{};
  std::string relative_to;  ///< the probe of the same process that the reference follows

  /// "4086.9 GiB/s is 5.00 % below the reference 4302.0 GiB/s, bound 4259.0 GiB/s (FILE)".
  std::string sentence() const;
};

/// Holds the result against the entry, or says why it cannot: the device's peak is not known, the
/// other probe was not measured. Throws usage_error naming file and pointer for an entry that
/// cannot be meant for this probe.
std::variant<comparison, reason> compare(result const& measured, baseline_entry const& entry);

}  // namespace bandgate
