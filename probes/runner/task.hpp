// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <cstddef>
#include <map>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include <bandgate/probe.hpp>
#include <bandgate/result.hpp>

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

/// The tasks that `one` stands for on device `self` of a machine with these devices (in PCI order):
/// a peer, also the one meant by "auto", is named by its UUID, so that each pair has a history of
/// its own; "each" is a task for every other GPU. Where it lacks_peer(), the one task says
/// "auto", which the device skips and says why. Throws usage_error for a peer that is no other GPU.
std::vector<task> with_peers(task const& one, std::vector<device_identity> const& all,
                             std::size_t self);

/// Position in `all` of the other GPU that `one` works with; none for what works with one alone.
std::optional<std::size_t> peer_of(task const& one, std::vector<device_identity> const& all,
                                   std::size_t self);

/// Whether `one` works with another GPU, of which device `self` has none here. A slice of a card is
/// no peer and has none.
bool lacks_peer(task const& one, std::vector<device_identity> const& all, std::size_t self);

/// How a device is named so that a worker finds the same one: UUID, PCI address or index.
std::string selector_of(device_identity const& device, std::size_t index);

/// "gather span=64MiB": the probe with what differs from its defaults.
std::string describe(task const& one);

}  // namespace bandgate
