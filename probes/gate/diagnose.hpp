// SPDX-License-Identifier: Apache-2.0
/// What is wrong with a device at rest: the same table of rules that connects a loss to its cause.
#pragma once

#include <string>
#include <vector>

#include <bandgate/baseline.hpp>
#include <bandgate/result.hpp>

namespace bandgate {

/// What an abnormal state costs, the least first.
enum class consequence { note, costs_bandwidth, unusable };
/// "note", "costs-bandwidth", "unusable".
char const* to_string(consequence weight);

struct abnormality {
  std::string code;
  std::string what;    ///< one sentence with the numbers
  std::string effect;  ///< what it costs or breaks, one sentence
  std::string remedy;  ///< the next step, one sentence
  consequence weight{};
};

struct diagnosis {
  std::vector<abnormality> found;      ///< worst first, then most specific
  std::vector<std::string> looked_at;  ///< groups that could be read: "row remapping", "ECC state"
  std::vector<std::string> unread;     ///< groups of which nothing could be read
};

/// Nothing is measured: `at_rest.idle` and `at_rest.processes` are looked at. `expected` silences
/// what the platform has by design.
diagnosis diagnose(device_identity const& device, health const& at_rest,
                   expectations const& expected);

}  // namespace bandgate
