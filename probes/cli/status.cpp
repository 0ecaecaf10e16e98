// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <array>
#include <charconv>
#include <chrono>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/newest_stored.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "cli/speech.hpp"
#include "device/identity.hpp"
#include "records/result_json.hpp"
#include "records/stored_results.hpp"
#include "runner/rejudge.hpp"

namespace bandgate::cli {
namespace {

using std::chrono::system_clock;
using seconds = std::chrono::duration<double>;

/// How long after its result became too old a probe is still missed. Longer, and one that was
/// tried once would keep a monitor yellow for good.
constexpr std::chrono::hours missed_for{7 * 24};
/// Between two machines' clocks; what is further in the future was stamped by a wrong one.
constexpr std::chrono::minutes clock_difference{5};

struct status_options {
  common_options common;
  std::string node;
  std::string max_age{"26h"};
  dialect in{dialect::none};
};

/// One (device, probe, parameters), judged today.
struct standing {
  checked pair;
  report_line line;
  seconds age{};
};

std::string age_text(seconds age) {
  auto const s = age.count();
  if (s < 120) return fmt::format("{:.0f} s", s);
  if (s < 120 * 60) return fmt::format("{:.0f} min", s / 60);
  if (s < 48 * 3600) return fmt::format("{:.0f} h", s / 3600);
  return fmt::format("{:.0f} d", s / 86400);
}

void mark_stale(report_line& line, std::string const& why, char const* next_step) {
  line.brief = why;
  line.message = why + "; then " + to_string(line.what) + ": " + line.message;
  line.next_step = next_step;
  line.stale = true;
}

/// "90s", "45m", "26h", "3d".
seconds parse_age(std::string const& text) {
  constexpr std::array<std::pair<char, double>, 4> units{
      {{'s', 1}, {'m', 60}, {'h', 3600}, {'d', 86400}}};
  double count = 0;
  auto const* const end = text.data() + text.size();
  auto const [rest, error] = std::from_chars(text.data(), end, count, std::chars_format::fixed);
  for (auto const& [letter, length] : units)
    if (error == std::errc() && rest + 1 == end && *rest == letter && count > 0 &&
        count * length <= 3650 * 86400.0)
      return seconds(count * length);
  throw usage_error("--max-age " + text +
                    ": write a number and a unit, such as 90s, 45m, 26h or 3d; at most 3650d");
}

standing stand(checked pair, seconds max_age, system_clock::time_point now, unit u) {
  auto line = line_of(pair, u);
  seconds const age = now - parse_time(pair.final().run.started).value();
  if (age < -clock_difference)
    mark_stale(line, fmt::format("measured {} in the future", age_text(-age)),
               "Correct the clock of the machine that measured, or of this one, and check again.");
  else if (age > max_age)
    mark_stale(line, fmt::format("measured {} ago, more than {}", age_text(age), age_text(max_age)),
               "Find out why no check has run since: its timer, its job, its queue.");
  return {std::move(pair), std::move(line), age};
}

bool is_chosen(device_identity const& d, std::string const& asked) {
  auto const names = comma_separated(asked);
  return std::any_of(names.begin(), names.end(), [&](std::string const& name) {
    return name == "all" || name == d.uuid || name == d.pci_address;
  });
}

/// "cuda", "host", "scripted". Without a wish that of real GPUs: what a fire drill or a CPU left
/// says nothing of them.
bool is_of_backend(std::string const& backend, std::string const& asked) {
  if (asked.empty() || asked == "auto") return backend != "host" && backend != "scripted";
  return backend == asked.substr(0, asked.find(':'));
}

std::vector<standing> standings(status_options const& options, environment const& env,
                                std::string const& node, system_clock::time_point now, unit u) {
  auto const& common = options.common;
  auto const baselines = load_baselines(common, env);
  for (auto const& warning : baselines.warnings()) err("bandgate: warning: {}\n", plain(warning));
  auto const folder = results_folder(common, env);
  if (folder.empty())
    throw usage_error("--results none: there is nothing to read; name the folder of the results");

  auto const max_age = parse_age(options.max_age);
  auto const oldest =
      now - std::chrono::duration_cast<system_clock::duration>(max_age) - missed_for;
  auto const broken = [](std::string const& why) {
    err("bandgate: skipped a broken result: {}\n", plain(why));
  };
  auto const keep = [&](result const& r) {
    return is_of_backend(r.device.backend, common.backend) && is_chosen(r.device, common.device);
  };
  std::vector<standing> all;
  for (auto& pair : newest_stored(folder, oldest, node, keep, broken)) {
    try {
      rejudge(pair, baselines);
      all.push_back(stand(std::move(pair), max_age, now, u));
    } catch (usage_error const& e) {
      auto const why = fmt::format("result {} ({}) cannot be judged: {}", pair.final().run.id,
                                   pair.final().probe.name, e.what());
      err("bandgate: {}\n", plain(why));
      all.push_back({std::move(pair), configuration_line(why), {}});
    }
  }
  return all;
}

std::string nothing_text(status_options const& options, std::string const& node,
                         std::filesystem::path const& folder) {
  auto const& o = options.common;
  return fmt::format("no result of node {}{} within {} in {}", node,
                     (o.device == "all" ? "" : ", device " + o.device) +
                         (o.backend == "auto" ? "" : ", backend " + o.backend),
                     age_text(parse_age(options.max_age) + missed_for), folder.string());
}

std::string upper(std::string text) {
  for (auto& c : text)
    if (c >= 'a' && c <= 'z') c = static_cast<char>(c - 'a' + 'A');
  return text;
}

void print_people(std::vector<standing> const& all, unit u) {
  std::vector<std::vector<std::string>> rows{{"device", "probe", "verdict", "value", "age"}};
  for (auto const& [pair, line, age] : all) {
    auto const& r = pair.final();
    rows.push_back(
        {pair.id, probe_text(r), word_of(line),
         r.measurement
             ? value_text(to_base(*line.value, *parse_unit(line.unit)), r.measurement->is_time, u)
             : "none",
         age < -clock_difference ? "in the future" : age_text(std::max(age, seconds(0)))});
  }
  out("{}", table(rows));
  for (auto const& [pair, line, age] : all) {
    if (line.stale)
      out("{:<12} {}: {}\n  cause: nothing newer is known\n  next:  {}\n", upper(word_of(line)),
          plain(line.subject), plain(line.message), plain(line.next_step));
    else if (line.what != status::pass || line.unstable)
      out("{}", verdict_text(pair, u));
  }
}

void print_json(std::vector<standing> const& all) {
  for (auto const& [pair, line, age] : all) {
    nlohmann::ordered_json record;
    record["device"] = pair.id;
    record["verdict"] = word_of(line);
    record["age_s"] = age.count();
    record["result"] = to_json(pair.final());
    out("{}\n", record.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  }
}

int show_status(status_options const& options, environment const& env) {
  auto const u = printing_unit(options.common);
  run_info here;
  add_environment(here, env);
  auto const node = options.node.empty() ? here.node : options.node;
  auto const all = standings(options, env, node, system_clock::now(), u);

  std::vector<report_line> lines;
  for (auto const& one : all) lines.push_back(one.line);
  if (lines.empty())
    lines.push_back({.what = status::inconclusive,
                     .message = nothing_text(options, node, results_folder(options.common, env)),
                     .next_step = "Run `bandgate check` there, or name --node, --backend or "
                                  "--results as it was run."});
  auto const overall = outcome_of(lines);
  if (options.in != dialect::none) return say(options.in, lines, overall);
  if (all.empty())
    out("UNKNOWN      {}\n  next:  {}\n", plain(lines.front().message), lines.front().next_step);
  else if (options.common.json)
    print_json(all);
  else
    print_people(all, u);
  return exit_code(overall);
}

}  // namespace

void add_status(CLI::App& program, environment const& env, int& code) {
  auto* command = program.add_subcommand(
      "status", "judge the newest stored results again; touches no device and no driver");
  auto options = std::make_shared<status_options>();
  auto& common = options->common;
  if (auto const backend = env.find("BANDGATE_BACKEND");
      backend != env.end() && !backend->second.empty())
    common.backend = backend->second;
  command->add_option("--max-age", options->max_age, "older results say nothing: 90s, 45m, 26h, 3d")
      ->capture_default_str();
  command
      ->add_option("--node", options->node,
                   "of this node; default $BANDGATE_NODE, as results record it, else this host")
      ->check([](std::string const& name) {
        return name.empty() ? std::string("needs the name of a node, and got an empty one") : "";
      });
  command->add_option("--device", common.device, "UUID, PCI address, several with commas, or all")
      ->capture_default_str();
  command->add_option("--backend", common.backend,
                      "of this backend: auto (GPUs), cuda, hip, host, scripted; default "
                      "$BANDGATE_BACKEND, else auto");
  add_baseline_options(*command, common);
  command->add_option("--results", common.results,
                      "folder of the result files; default $BANDGATE_RESULTS, else the user's data "
                      "folder");
  command->add_option("--unit", common.unit, "unit to print: GiB/s, GB/s, MiB/s, MB/s, B/s")
      ->capture_default_str();
  command->add_flag("--json", common.json, "machine-readable output on standard output");
  add_format_option(*command, options->in);
  command->footer(
      "Examples:\n"
      "  bandgate status\n"
      "  bandgate status --max-age 26h --format nagios --results /srv/bandgate/results\n");
  command->callback([options, &env, &code] { code = show_status(*options, env); });
}

}  // namespace bandgate::cli
