// SPDX-License-Identifier: Apache-2.0
/// What connects a loss to its cause: a table of rules over what is known of the device. The same
/// table diagnoses a device at rest. docs/causes.md explains each to a person.
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
  std::string detail{};           ///< found: the numbers, for the sentence
  std::string source{};           ///< found: where they are from, such as " (clock event 0x40)"
  std::optional<double> share{};  ///< of the sampling that it covered, where a counter tells
};

struct cause_rule {
  char const* code;
  char const* checks;     ///< the group it looks at, for "no cause found"; rules of one follow
                          ///< each other in the table
  bool throttles;         ///< it held the device back during the measurement
  char const* sentence;   ///< with {0} for the detail and {1} for its source
  consequence at_rest;    ///< what it is for the doctor
  char const* effect;     ///< what it costs or breaks, one sentence
  char const* next_step;  ///< one sentence
  finding (*look)(evidence const&);
  bool last_resort{};  ///< only of a loss that nothing else explains
};

/// All rules, most specific first.
std::span<cause_rule const> cause_rules();

struct cause {
  cause_rule const* rule;
  reason why;
  std::optional<double> share{};
};
/// Those that are there, ranked: what covered less than a tenth of the sampling last, else in the
/// order of the table's groups, within a group what covered most first.
std::vector<cause> find_causes(evidence const& known);

/// Why a loss without a cause may be none of the device's.
std::optional<cause> find_last_resort(evidence const& known);

/// What the rules look at, by group.
struct looked_groups {
  std::vector<std::string> read, unread;
};
looked_groups groups_of(evidence const& known);

/// Another process that computes on the device: its numbers are not the device's.
std::optional<cause> find_contention(result const& measured);

/// "no cause found: looked at …; could not be read: …": what a person need not look at again.
reason no_cause(evidence const& known);

}  // namespace bandgate
