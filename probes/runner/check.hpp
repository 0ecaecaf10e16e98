// SPDX-License-Identifier: Apache-2.0
/// Measuring and judging many (device, probe) pairs: devices at the same time, but nothing on a
/// device, a peer or the host link that another works on; a second process where the first was
/// beyond its bound.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "records/baselines.hpp"
#include "runner/supervisor.hpp"
#include "runner/task.hpp"

namespace bandgate {

struct check_plan {
  struct device {
    device_identity identity;
    std::size_t index{};
  };
  std::vector<device> devices;
  std::vector<task> tasks;
  bool judge{true};                      ///< `run` measures only
  std::filesystem::path results;         ///< empty: store nothing
  std::vector<device_identity> machine;  ///< all devices, in PCI order: where peers are found
};

/// The outcome for one (device, probe): the attempts in order, the last one with the verdict.
struct checked {
  std::string id;  ///< "gpu0"
  std::vector<result> attempts;
  std::vector<std::filesystem::path> stored;
  std::string recording_error;  ///< not empty: a result could not be written, and why
  result const& final() const { return attempts.back(); }
};

/// Called with each finished pair as it ends, from any thread, one call at a time.
using on_checked = std::function<void(checked const&)>;

struct check_report {
  std::vector<checked> pairs;
  std::vector<std::string> errors;  ///< pairs that could not be tried as asked, and why
};

/// Every task on every device, with every peer that it names. What is wrong for one pair alone (a
/// buffer that would measure that device's cache) is an error of the report; all others go on.
check_report check(supervisor const& runs, check_plan const& plan,
                   baseline_library const& baselines, on_checked const& done,
                   supervisor::progress const& listener);

}  // namespace bandgate
