// SPDX-License-Identifier: Apache-2.0
/// What a supervisor asks of a worker process, as it travels on the command line.
#pragma once

#include <chrono>
#include <map>
#include <optional>
#include <string>
#include <vector>

namespace bandgate {

struct worker_request {
  enum class kind { devices, inspect, measure };
  kind what{kind::devices};
  std::string backend;   ///< "cuda", "host", "scripted:FILE"
  std::string selector;  ///< UUID, PCI address or index of the device to open
  std::string probe;
  std::map<std::string, std::string> parameters;  ///< as given, not yet completed
  unsigned attempt{1};
  std::string management;              ///< path of another management library, or "none"
  std::optional<std::string> visible;  ///< CUDA_VISIBLE_DEVICES, where it is set
  std::chrono::milliseconds wait_idle{5000};
  bool allow_contention{};
  std::vector<std::string> relative_to{};  ///< probes to measure, too: baselines are ratios to them
};

/// One line of JSON.
std::string to_text(worker_request const& request);
/// Throws usage_error.
worker_request request_from_text(std::string const& text);

}  // namespace bandgate
