// SPDX-License-Identifier: Apache-2.0
/// What connects a loss to its cause: a table of rules over what is known of the device. The same
/// table diagnoses a device at rest.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include <bandgate/baseline.hpp>
#include <bandgate/result.hpp>

#include "gate/diagnose.hpp"

namespace bandgate {

struct evidence {
  device_identity const& device;
  bandgate::health const& health;
  result const* measured{};  ///< null: the device is at rest
  expectations expected{};   ///< as the baseline states them
};
/// What a result tells.
evidence evidence_of(result const& measured, expectations const& expected = {});

/// What one look gave.
struct finding {
  enum class state { unknown, irrelevant, fine, found };
  state is{state::unknown};
  std::string detail{};  ///< found: the numbers, for the sentence
};

struct cause_rule {
  char const* code;
  char const* checks;     ///< what it looks at, for "no cause found"
  bool throttles;         ///< it held the device back during the measurement
  char const* sentence;   ///< with {} for the detail
  char const* next_step;  ///< one sentence
  finding (*look)(evidence const&);
};

/// All rules, most specific first.
std::span<cause_rule const> cause_rules();

struct cause {
  cause_rule const* rule;
  reason why;
};
std::vector<cause> find_causes(evidence const& known);

/// What the rules look at, by group.
struct looked_groups {
  std::vector<std::string> read, unread;
};
looked_groups groups_of(evidence const& known);

/// Another process that computes on the device: its numbers are not the device's.
std::optional<cause> find_contention(result const& measured);

/// "no cause found: checked …; could not read …": what a person need not look at again.
reason no_cause(evidence const& known);

}  // namespace bandgate
