// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

#include <bandgate/probe.hpp>

namespace bandgate {

/// What is to be measured on a device: a probe, with parameters written as on the command line.
struct task {
  probe const* what{};
  std::map<std::string, std::string> given;
  friend bool operator==(task const&, task const&) = default;
};

/// The members of a suite, in the order of their probes. Throws usage_error for one that has none.
std::vector<task> suite_tasks(std::string const& suite);

/// Adds to each task those of `given` that its probe declares; they win over the task's own. Equal
/// tasks become one. Throws usage_error for a parameter that no probe declares and for a value that
/// is none.
std::vector<task> with_parameters(std::vector<task> tasks,
                                  std::map<std::string, std::string> const& given);

/// "gather span=64MiB": the probe with what differs from its defaults.
std::string describe(task const& one);

}  // namespace bandgate
