// SPDX-License-Identifier: Apache-2.0
/// Verdicts as metrics for the textfile collector of Prometheus' node_exporter. Names and labels
/// are those of `bandgate-report prometheus` (docs/reports.md), so that one dashboard and one set
/// of alerts serve both.
#pragma once

#include <cstddef>
#include <filesystem>
#include <string>
#include <vector>

#include "runner/check.hpp"

namespace bandgate::cli {

/// Bytes per second, seconds, shares; every metric is a gauge. What is not known has no line.
/// `unread`: files of the results' folder that hold no valid result.
std::string prometheus_text(std::vector<checked> const& all, std::size_t unread);

/// Throws usage_error, with a remedy, where no file can be made in `folder`: to be asked before a
/// measurement that would be in vain.
void require_prometheus_folder(std::filesystem::path const& folder);

/// Writes `folder`/bandgate.prom, readable for all, in one step: `all`, and the newest stored
/// results of that node and backend, so that a check of one probe does not take the others off the
/// dashboard. `results`: where results are stored; empty: only `all` is written.
/// Throws usage_error where the file cannot be written.
void write_prometheus(std::filesystem::path const& folder, std::vector<checked> const& all,
                      std::string const& node, std::string const& backend,
                      std::filesystem::path const& results);

}  // namespace bandgate::cli
