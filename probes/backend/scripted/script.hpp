// SPDX-License-Identifier: Apache-2.0
/// A script (schema bandgate.scripted/1) as values. `docs/fire-drill.md` explains its members.
#pragma once

#include <bandgate/probe.hpp>
#include <bandgate/result.hpp>
#include <bandgate/session.hpp>
#include <bandgate/subject.hpp>
#include <cstdint>
#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bandgate {

/// Another process on the device, for a while.
struct scripted_process {
  device_process what;
  nanoseconds begins{};               ///< after the device was first looked at
  std::optional<nanoseconds> ends{};  ///< none: it stays
};

/// What a device says of itself, and what of that passes with time.
struct scripted_health {
  bandgate::health lasting;  ///< without processes
  std::vector<scripted_process> processes;
  std::optional<nanoseconds> utilization_ends;  ///< from then on the device at rest is idle
  /// So long after the device was first looked at.
  bandgate::health at(nanoseconds time) const;
};

/// What one fresh process sees of one probe.
struct scripted_attempt {
  bandgate::unit unit{};
  std::vector<double> samples;  ///< in `unit`; the last repeats; 0: the timer reads nothing
  std::vector<double> parts;    ///< in their place for each window or slice; the last repeats
  std::vector<health_snapshot> part_health;  ///< what the device says in each; the last repeats
  std::vector<std::uint64_t> wrong_parts;    ///< from 1 on; empty: `wrong_after` is of all
  std::optional<std::string> wrong;          ///< what the first verification finds
  std::optional<std::string> wrong_after;    ///< what the one after the sampling finds
  std::optional<std::uint64_t> lost_at_sample, hang_at_sample;  ///< from 1 on
  bool out_of_memory{};
  bool exclusive{};
  bool passes_ignored{};
  std::optional<scripted_health> health;  ///< in place of the device's
};

struct scripted_device {
  device_identity identity;
  bool missing{};
  std::string lost;  ///< not empty: it does not answer, and what the driver says
  bool hang_at_inspection{};
  bytes memory_free{};
  std::map<std::string, std::vector<scripted_attempt>> attempts;  ///< by key, see below
  scripted_health health;
  std::string pointer;  ///< JSON pointer of the device in its file
};

struct script {
  std::string origin;
  bool real_pace{};
  std::vector<scripted_device> devices;  ///< in PCI order
  std::vector<device_problem> problems;
};

/// Reads and checks a script against its schema, the probes and itself. Throws usage_error
/// "FILE: /json/pointer: reason".
script read_script(std::filesystem::path const& file, std::vector<probe> const& probes);

/// "gather span=1024", "read" where all parameters have their defaults: the probe with what a
/// baseline would be found by, however the values were spelled.
std::string scripted_key(probe const& what, parameters const& values);

/// What attempt number `attempt` (from 1 on) of that probe with those parameters sees; the last one
/// repeats. The key with the parameters is first, then the probe's name alone, then "*"; null where
/// the script has none of them.
scripted_attempt const* find_attempt(scripted_device const& device, probe const& what,
                                     parameters const& values, unsigned attempt);

}  // namespace bandgate
