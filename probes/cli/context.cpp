// SPDX-License-Identifier: Apache-2.0
#include "cli/context.hpp"

#include <algorithm>
#include <chrono>

#include <fmt/format.h>

#include "cli/version.hpp"
#include "records/result_store.hpp"
#include "runner/backends.hpp"
#include "runner/resources.hpp"

namespace bandgate::cli {
namespace {

std::string value_of(environment const& env, char const* name) {
  auto const found = env.find(name);
  return found == env.end() ? "" : found->second;
}

std::optional<std::filesystem::path> user_folder(environment const& env, char const* variable,
                                                 char const* below_home) {
  if (auto const set = value_of(env, variable); !set.empty() && set.front() == '/')
    return std::filesystem::path(set);
  if (auto const home = value_of(env, "HOME"); !home.empty())
    return std::filesystem::path(home) / below_home;
  return std::nullopt;
}

std::vector<std::string> split_path(std::string const& list) {
  std::vector<std::string> parts;
  for (std::size_t from = 0; from <= list.size();) {
    auto const to = std::min(list.find(':', from), list.size());
    if (to > from) parts.push_back(list.substr(from, to - from));
    from = to + 1;
  }
  return parts;
}

std::map<std::string, std::string> parse_labels(std::vector<std::string> const& words) {
  std::map<std::string, std::string> labels;
  for (auto const& word : words) {
    auto const equals = word.find('=');
    if (equals == 0 || equals == std::string::npos)
      throw usage_error("--label " + word + ": write it as key=value");
    labels[word.substr(0, equals)] = word.substr(equals + 1);
  }
  return labels;
}

}  // namespace

void add_device_options(CLI::App& command, common_options& options, environment const& env) {
  if (auto const set = value_of(env, "BANDGATE_BACKEND"); !set.empty()) options.backend = set;
  command
      .add_option("--backend", options.backend,
                  fmt::format("auto, {}, host, or scripted:FILE (a fire drill); default "
                              "$BANDGATE_BACKEND, else auto",
                              gpu_backend()))
      ->capture_default_str();
  command
      .add_option("--device", options.device,
                  "index, UUID, PCI address, several with commas, or all")
      ->capture_default_str();
  command
      .add_option("--time-limit", options.time_limit_s,
                  "kill an attempt after this long (30s, 2m, 500ms); default: each probe's own")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}},
          CLI::AsNumberWithUnit::CASE_SENSITIVE, "TIME"))
      ->check(CLI::Range(0.001, 86400.0))
      ->option_text("TIME");
  command.add_flag("--json", options.json, "machine-readable output on standard output");
}

void add_baseline_options(CLI::App& command, common_options& options) {
  command
      .add_option("--baselines", options.baselines,
                  "folder or file of baselines, searched before the shipped ones; may repeat; "
                  "also the path list $BANDGATE_BASELINES")
      ->allow_extra_args(false);
}

void add_measuring_options(CLI::App& command, common_options& options, environment const& env) {
  command.add_option("probe", options.words, "probes to run, and parameters such as window=64MiB");
  command.add_option("--suite", options.suite, "all probes of a suite: quick, full or sustained");
  add_device_options(command, options, env);
  add_baseline_options(command, options);
  command.add_option("--results", options.results,
                     "folder for result files, or none; default $BANDGATE_RESULTS, else the "
                     "user's data folder");
  command.add_option("--label", options.labels, "key=value to store with the results; may repeat")
      ->allow_extra_args(false);
  command
      .add_option("--wait-idle", options.wait_idle_s,
                  "wait this long (10m, 30s, 0s) for others to end that compute on a device, "
                  "in vain only once; default 5s; comes on top of the time limit")
      ->transform(CLI::AsNumberWithUnit(
          std::map<std::string, double>{{"ms", 1e-3}, {"s", 1.0}, {"m", 60.0}, {"h", 3600.0}},
          CLI::AsNumberWithUnit::CASE_SENSITIVE, "TIME"))
      ->check(CLI::Range(0.0, 86400.0))
      ->option_text("TIME");
  command.add_flag("--allow-contention", options.allow_contention,
                   "measure beside others that compute on a device, at once unless --wait-idle is "
                   "given; the result says so and stays inconclusive");
  command.add_option("--unit", options.unit, "unit to print: GiB/s, GB/s, MiB/s, MB/s, B/s")
      ->capture_default_str();
  command.add_flag("--quiet", options.quiet, "print nothing but what is not a pass");
  command.add_flag("--ctest", options.ctest, "also print measurements for CTest's dashboard");
}

std::vector<task> choose(common_options const& options, std::string const& fallback_suite) {
  std::vector<task> tasks;
  std::map<std::string, std::string> given;
  for (auto const& word : options.words) {
    if (auto const equals = word.find('='); equals != std::string::npos)
      given[word.substr(0, equals)] = word.substr(equals + 1);
    else
      tasks.push_back({&find_probe(word), {}});
  }
  auto const suite = options.suite.empty() && tasks.empty() ? fallback_suite : options.suite;
  if (!suite.empty())
    for (auto& member : suite_tasks(suite)) tasks.push_back(std::move(member));
  return with_parameters(std::move(tasks), given);
}

std::optional<std::filesystem::path> site_baselines(environment const& env) {
  auto const base = user_folder(env, "XDG_CONFIG_HOME", ".config");
  if (!base) return std::nullopt;
  return *base / "bandgate" / "baselines";
}

baseline_library load_baselines(common_options const& options, environment const& env) {
  std::vector<std::filesystem::path> where(options.baselines.begin(), options.baselines.end());
  for (auto const& part : split_path(value_of(env, "BANDGATE_BASELINES"))) where.emplace_back(part);
  // Also a link that leads nowhere: a site's folder that is not mounted is an error, not a default.
  if (auto const site = site_baselines(env);
      site && std::filesystem::exists(std::filesystem::symlink_status(*site)))
    where.push_back(*site);
  return baseline_library(where, registered_probes());
}

std::filesystem::path results_folder(common_options const& options, environment const& env) {
  auto asked = options.results.empty() ? value_of(env, "BANDGATE_RESULTS") : options.results;
  if (asked == "none") return {};
  if (!asked.empty()) return asked;
  auto const base = user_folder(env, "XDG_DATA_HOME", ".local/share");
  if (!base)
    throw usage_error(
        "no folder for results: set HOME, $BANDGATE_RESULTS or --results DIR (or --results none)");
  return *base / "bandgate" / "results";
}

gpu_presence gpus_of(environment const& env) {
  return look_for_gpus("/", value_of(env, "LD_LIBRARY_PATH"));
}

std::vector<std::string> comma_separated(std::string const& text) {
  std::vector<std::string> parts{""};
  for (char const c : text) {
    if (c == ',')
      parts.emplace_back();
    else
      parts.back() += c;
  }
  return parts;
}

std::vector<check_plan::device> select(device_list const& listed, std::string const& asked) {
  auto const names = comma_separated(asked);
  std::vector<bool> fits(names.size(), false);
  std::vector<check_plan::device> chosen;
  std::string known;
  for (std::size_t i = 0; i < listed.devices.size(); ++i) {
    auto const& d = listed.devices[i];
    bool wanted = false;
    for (std::size_t n = 0; n < names.size(); ++n) {
      auto const& name = names[n];
      if (name != "all" && name != d.uuid && name != d.pci_address && name != std::to_string(i) &&
          name != short_id(d, i))
        continue;
      fits[n] = true;
      wanted = true;
    }
    if (wanted) chosen.push_back({d, i});
    known += fmt::format("{}{} ({})", known.empty() ? "" : ", ", i, selector_of(d, i));
  }
  // With no device at all the caller says so, and a device that is missing is no mistake of his; a
  // name that fits none of several is one.
  auto const unknown = std::find(fits.begin(), fits.end(), false);
  if (unknown != fits.end() && !listed.devices.empty() && listed.problems.empty())
    throw usage_error("--device " + names[static_cast<std::size_t>(unknown - fits.begin())] +
                      " names no device; known are " + known +
                      "; give an index, a UUID, a PCI address, several with commas, or all");
  return chosen;
}

supervisor make_supervisor(common_options const& options, environment const& env,
                           gpu_presence const& presence) {
  supervisor_options s;
  s.worker = {std::filesystem::read_symlink("/proc/self/exe").string(), worker_command};
  s.backend = chosen_backend(options.backend, presence);
  if (options.time_limit_s > 0)
    s.time_limit = std::chrono::milliseconds(static_cast<long>(options.time_limit_s * 1e3));
  s.allow_contention = options.allow_contention;
  if (options.wait_idle_s)
    s.wait_idle = std::chrono::milliseconds(static_cast<long>(*options.wait_idle_s * 1e3));
  else if (options.allow_contention)
    s.wait_idle = {};
  s.environment = env;
  s.counts_gpus = options.backend != "host";
  s.labels = parse_labels(options.labels);
  s.group_id = new_run_id(std::chrono::system_clock::now());
  s.tool_version = version();
  s.tool_build = build_id();
  return supervisor(std::move(s));
}

machine open_machine(common_options const& options, environment const& env) {
  auto presence = gpus_of(env);
  auto runs = make_supervisor(options, env, presence);
  auto listed = runs.devices([&] { return gpus_of(env); });
  auto chosen = select(listed, options.device);
  return {std::move(runs), std::move(presence), std::move(listed), std::move(chosen)};
}

unit printing_unit(common_options const& options) {
  auto const u = parse_unit(options.unit);
  if (!u || *u == unit::microseconds)
    throw usage_error("--unit " + options.unit +
                      ": unknown unit; use GiB/s, GB/s, MiB/s, MB/s or B/s");
  return *u;
}

}  // namespace bandgate::cli
