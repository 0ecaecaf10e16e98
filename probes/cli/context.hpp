// SPDX-License-Identifier: Apache-2.0
/// What the subcommands share: the common options, and what they are turned into.
#pragma once

#include <filesystem>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>

#include <bandgate/units.hpp>

#include "records/baselines.hpp"
#include "runner/check.hpp"
#include "runner/supervisor.hpp"

namespace bandgate::cli {

using environment = std::map<std::string, std::string>;

struct common_options {
  std::string backend{"auto"};
  std::string device{"all"};
  std::string prometheus;  ///< folder of node_exporter's textfile collector; empty: none
  std::vector<std::string> baselines;
  std::string results;
  std::vector<std::string> labels;
  std::string unit{"GiB/s"};
  std::string suite;
  std::vector<std::string> words;  ///< probes and key=value parameters
  double time_limit_s{};           ///< 0: each probe's own
  std::optional<double> wait_idle_s;
  bool allow_contention{};
  bool json{};
  bool quiet{};
  bool strict{};
  bool ctest{};
};

/// The options of every command that opens a device.
void add_device_options(CLI::App& command, common_options& options, environment const& env);
/// The options of every command that measures.
void add_measuring_options(CLI::App& command, common_options& options, environment const& env);
/// --baselines.
void add_baseline_options(CLI::App& command, common_options& options);

/// Probes and parameters as given: "read", "window=64MiB".
/// Throws usage_error: unknown probe, suite or parameter. Without probe and suite,
/// `fallback_suite`.
std::vector<task> choose(common_options const& options, std::string const& fallback_suite);

/// Where this user's or site's own baselines are: $XDG_CONFIG_HOME/bandgate/baselines. None without
/// a home.
std::optional<std::filesystem::path> site_baselines(environment const& env);
/// --baselines, then $BANDGATE_BASELINES, then the site's own where they exist; built-in ones last.
baseline_library load_baselines(common_options const& options, environment const& env);
/// --results, $BANDGATE_RESULTS, or $XDG_DATA_HOME/bandgate/results; empty for "none".
std::filesystem::path results_folder(common_options const& options, environment const& env);

/// What this machine shows of GPUs without asking a driver.
gpu_presence gpus_of(environment const& env);

/// The machine as the options want to see it.
struct machine {
  bandgate::supervisor runs;
  gpu_presence presence;
  device_list listed;
  std::vector<check_plan::device> chosen;  ///< of listed, as --device says
};
supervisor make_supervisor(common_options const& options, environment const& env,
                           gpu_presence const& presence);
/// What --device names, several with commas: "0,2" is {"0", "2"}.
std::vector<std::string> comma_separated(std::string const& text);
/// Those that --device asks for. Throws usage_error where it names none.
std::vector<check_plan::device> select(device_list const& listed, std::string const& asked);
/// Throws usage_error for a --device that names none.
machine open_machine(common_options const& options, environment const& env);

/// The unit to print throughputs in. Throws usage_error.
unit printing_unit(common_options const& options);

}  // namespace bandgate::cli
