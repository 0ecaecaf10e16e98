// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <cstdio>
#include <map>
#include <memory>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "cli/profile.hpp"
#include "cli/progress.hpp"
#include "cli/prometheus.hpp"
#include "cli/speech.hpp"
#include "device/identity.hpp"
#include "gate/judge.hpp"
#include "records/result_json.hpp"
#include "records/result_store.hpp"

namespace bandgate::cli {
namespace {

enum class intent { run, check };

void print_pair(checked const& pair, common_options const& options, intent what, unit u) {
  if (options.json) {
    for (auto const& attempt : pair.attempts)
      out("{}\n", to_json(attempt).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    bool const silent = options.quiet && pair.final().verdict.status == status::pass &&
                        !pair.final().verdict.unstable;
    if (!silent) out("{}", what == intent::run ? measurement_text(pair, u) : verdict_text(pair, u));
    if (options.ctest) out("{}", ctest_text(pair.final(), u));
  }
  std::fflush(stdout);
  if (!pair.recording_error.empty())
    err("bandgate: result not stored: {}\n", plain(pair.recording_error));
}

void print_problems(device_list const& listed) {
  for (auto const& p : listed.problems) err("bandgate: {}: {}\n", p.code, plain(p.message));
}

outcome outcome_of(check_report const& report, device_list const& listed, intent what,
                   bool strict) {
  outcome o;
  o.strict = strict && what == intent::check;
  o.configuration_problem = !report.errors.empty();
  for (auto const& pair : report.pairs) {
    auto const s = pair.final().verdict.status;
    // `run` judges nothing, so there nothing is left unjudged: a held device failed to be measured.
    o.finals.push_back(what == intent::run && s == status::inconclusive ? status::error : s);
    o.recording_failed |= !pair.recording_error.empty();
  }
  for (auto const& p : listed.problems)
    (p.usage ? o.configuration_problem : o.device_problem) = true;
  return o;
}

/// All that a monitor is to hear of a check.
std::vector<report_line> lines_of(check_report const& report, device_list const& listed, unit u,
                                  std::string const& skipped) {
  std::vector<report_line> lines;
  for (auto const& pair : report.pairs) {
    lines.push_back(line_of(pair, u));
    if (!pair.recording_error.empty())
      lines.push_back(configuration_line("result not stored: " + pair.recording_error));
  }
  for (auto const& error : report.errors) lines.push_back(configuration_line(error));
  for (auto const& p : listed.problems)
    lines.push_back(
        {.what = status::error, .subject = p.code, .message = p.message, .configuration = p.usage});
  if (lines.empty()) lines.push_back({.what = status::skipped, .message = skipped});
  return lines;
}

/// A device that is missing leaves no result of its own; this one says so to whoever reads the
/// results later. Returns why it could not be stored.
std::string store_problems(machine const& node, task const& first,
                           std::filesystem::path const& folder) {
  device_identity unknown;
  auto const& backend = node.runs.options().backend;
  unknown.backend = backend.substr(0, backend.find(':'));
  auto r = node.runs.skip(unknown, *first.what, first.given, "");
  for (auto const& p : node.listed.problems) {
    if (p.usage) continue;
    if (!r.failure || p.code == to_string(failure::device_missing))
      r.failure = failure_from(p.code);
    r.failure_message += (r.failure_message.empty() ? "" : "; ") + p.message;
  }
  if (!r.failure || folder.empty()) return "";
  r.verdict = judge(r, {});
  try {
    store_result(r, folder);
  } catch (usage_error const& e) {
    return e.what();
  }
  return "";
}

/// Returns why the metrics could not be written.
std::string export_metrics(check_report const& report, machine const& node,
                           common_options const& options, environment const& env,
                           std::filesystem::path const& results) {
  if (options.prometheus.empty()) return "";
  run_info here;
  add_environment(here, env);
  auto const& backend = node.runs.options().backend;
  try {
    write_prometheus(options.prometheus, report.pairs, here.node.empty() ? here.host : here.node,
                     backend.substr(0, backend.find(':')), results);
  } catch (usage_error const& e) {
    return e.what();
  }
  return "";
}

/// The commands that give what was measured here a baseline: one for the probes of each set of
/// parameters.
std::vector<std::string> record_commands(std::vector<checked> const& all, machine const& node,
                                         common_options const& options) {
  std::map<std::string, std::vector<std::string>> probes_by_parameters;
  for (auto const& pair : all) {
    auto const& r = pair.final();
    if (r.verdict.status != status::no_baseline) continue;
    auto const& declared = find_probe(r.probe.name).parameters;
    auto& names = probes_by_parameters[describe(declared, keyed(declared, r.probe.parameters))];
    if (std::find(names.begin(), names.end(), r.probe.name) == names.end())
      names.push_back(r.probe.name);
  }
  std::vector<std::string> commands;
  for (auto const& [parameters, names] : probes_by_parameters)
    commands.push_back(fmt::format(
        "{} baseline record {}{}{} --backend {} --device {}{} --yes",
        node.runs.options().worker.front(), fmt::join(names, " "), parameters.empty() ? "" : " ",
        parameters, node.runs.options().backend, options.device,
        node.runs.options().backend.starts_with("scripted:") ? " --to FOLDER" : ""));
  return commands;
}

int execute(common_options const& options, environment const& env, intent what, dialect in) {
  auto const u = printing_unit(options);
  auto const picked = choose(options, "quick");
  auto const baselines = what == intent::check ? load_baselines(options, env)
                                               : baseline_library({}, registered_probes());
  for (auto const& warning : baselines.warnings()) err("bandgate: warning: {}\n", plain(warning));
  auto const folder = results_folder(options, env);
  if (!options.prometheus.empty()) require_prometheus_folder(options.prometheus);
  auto const node = open_machine(options, env);
  print_problems(node.listed);

  progress_line progress(isatty(STDERR_FILENO) != 0 && !options.quiet);
  check_plan const plan{node.chosen, picked, what == intent::check, folder, node.listed.devices};
  auto const report = check(
      node.runs, plan, baselines,
      [&](checked const& pair) {
        progress.clear();
        if (in == dialect::none) print_pair(pair, options, what, u);
      },
      [&](auto const&... words) { progress.show(words...); });
  progress.clear();
  auto const& all = report.pairs;
  for (auto const& error : report.errors) err("bandgate: {}\n", plain(error));

  auto const no_device =
      fmt::format("no device for backend {} on this machine", node.runs.options().backend);
  auto overall = outcome_of(report, node.listed, what, options.strict);
  if (auto const why = store_problems(node, picked.front(), folder); !why.empty()) {
    err("bandgate: result not stored: {}\n", plain(why));
    overall.recording_failed = true;
  }
  if (auto const why = export_metrics(report, node, options, env, folder); !why.empty()) {
    err("bandgate: metrics not written: {}\n", plain(why));
    overall.recording_failed = true;
  }
  if (in != dialect::none) return say(in, lines_of(report, node.listed, u, no_device), overall);
  bool const verbose = !options.json && !options.quiet;
  if (all.empty() && node.listed.problems.empty() && report.errors.empty())
    std::fputs(("SKIPPED      " + no_device + "\n").c_str(), options.json ? stderr : stdout);
  if (verbose && what == intent::check) {
    out("{}\n", summary_text(all));
    if (auto const count = node.listed.problems.size())
      out("and {} problem{} with this machine's devices, named above\n", count,
          count == 1 ? "" : "s");
    for (auto const& command : record_commands(all, node, options))
      out("to record a baseline: {}\n", command);
  }
  bool const stored =
      std::any_of(all.begin(), all.end(), [](checked const& pair) { return !pair.stored.empty(); });
  if (verbose && stored) out("results in {}\n", folder.string());
  return exit_code(overall);
}

void add(CLI::App& program, environment const& env, int& code, intent what, char const* name,
         char const* help, char const* examples) {
  auto* command = program.add_subcommand(name, help);
  auto options = std::make_shared<common_options>();
  add_measuring_options(*command, *options, env);
  auto const set = env.find("BANDGATE_STRICT");
  options->strict = set != env.end() && !set->second.empty() && set->second != "0";
  auto in = std::make_shared<dialect>(dialect::none);
  if (what == intent::check) {
    command->add_flag("--strict", options->strict,
                      "what was not judged is a failure (also BANDGATE_STRICT=1)");
    add_format_option(*command, *in);
    command->add_option("--prometheus", options->prometheus,
                        "folder of node_exporter's textfile collector: write bandgate.prom there");
  }
  auto profile = std::make_shared<bool>(false);
  if (what == intent::run)
    command->add_flag("--profile", *profile,
                      "one launch in this process, nothing verified, timed or stored: for ncu");
  command->footer(examples);
  command->callback([options, profile, in, &env, &code, what] {
    code = *profile ? profile_run(*options, env) : execute(*options, env, what, *in);
  });
}

}  // namespace

void add_run(CLI::App& program, environment const& env, int& code) {
  add(program, env, code, intent::run, "run", "measure and store, never judge",
      "Examples:\n"
      "  bandgate run read\n"
      "  bandgate run read_window window=8MiB dtype=f32 --device 0\n"
      "  ncu --set full bandgate run read --profile --device 0\n");
}

void add_check(CLI::App& program, environment const& env, int& code) {
  add(program, env, code, intent::check, "check", "measure, judge against the baseline, store",
      "Without a probe: the quick suite.\n\n"
      "Examples:\n"
      "  bandgate check\n"
      "  bandgate check --suite full --device all --strict\n"
      "  bandgate check read --device GPU-1b2c3d4e-… --baselines /etc/bandgate/baselines\n"
      "  bandgate check read --backend scripted:slow.json   (a fire drill)\n");
}

}  // namespace bandgate::cli
