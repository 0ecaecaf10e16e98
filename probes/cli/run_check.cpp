// SPDX-License-Identifier: Apache-2.0
#include <unistd.h>

#include <chrono>
#include <cstdio>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/print.hpp"
#include "cli/profile.hpp"
#include "cli/progress.hpp"
#include "records/result_json.hpp"

namespace bandgate::cli {
namespace {

enum class intent { run, check };

void print_pair(checked const& pair, common_options const& options, intent what, unit u) {
  if (options.json) {
    for (auto const& attempt : pair.attempts)
      fmt::print("{}\n",
                 to_json(attempt).dump(-1, ' ', false, nlohmann::json::error_handler_t::replace));
  } else {
    bool const silent = options.quiet && pair.final().verdict.status == status::pass &&
                        !pair.final().verdict.unstable;
    if (!silent)
      fmt::print("{}", what == intent::run ? measurement_text(pair, u) : verdict_text(pair, u));
    if (options.ctest) fmt::print("{}", ctest_text(pair.final(), u));
  }
  std::fflush(stdout);
  if (!pair.recording_error.empty())
    fmt::print(stderr, "bandgate: result not stored: {}\n", plain(pair.recording_error));
}

/// Says what is wrong with the machine; true when it is more than a matter of configuration.
void print_problems(device_list const& listed) {
  for (auto const& p : listed.problems)
    fmt::print(stderr, "bandgate: {}: {}\n", p.code, plain(p.message));
}

outcome outcome_of(std::vector<checked> const& all, device_list const& listed, bool strict) {
  outcome o;
  o.strict = strict;
  for (auto const& pair : all) {
    o.finals.push_back(pair.final().verdict.status);
    o.recording_failed |= !pair.recording_error.empty();
  }
  for (auto const& p : listed.problems)
    (p.usage ? o.configuration_problem : o.device_problem) = true;
  return o;
}

/// The command that gives what was measured here a baseline.
std::string record_command(std::vector<checked> const& all, machine const& node,
                           common_options const& options) {
  std::string words;
  for (auto const& pair : all) {
    auto const& name = pair.final().probe.name;
    if (pair.final().verdict.status == status::no_baseline &&
        (" " + words + " ").find(" " + name + " ") == std::string::npos)
      words += (words.empty() ? "" : " ") + name;
  }
  if (words.empty()) return "";
  for (auto const& word : options.words)
    if (word.find('=') != std::string::npos) words += " " + word;
  return fmt::format("{} baseline record {} --backend {} --device {} --yes",
                     node.runs.options().worker.front(), words, node.runs.options().backend,
                     options.device);
}

int execute(common_options const& options, environment const& env, intent what) {
  auto const u = printing_unit(options);
  auto const picked = choose(options, "quick");
  auto const baselines = what == intent::check ? load_baselines(options, env)
                                               : baseline_library({}, registered_probes());
  for (auto const& warning : baselines.warnings())
    fmt::print(stderr, "bandgate: warning: {}\n", plain(warning));
  auto const folder = results_folder(options, env);
  auto const node = open_machine(options, env);
  print_problems(node.listed);

  progress_line progress(isatty(STDERR_FILENO) != 0 && !options.quiet);
  check_plan const plan{node.chosen, picked.probes, picked.parameters, what == intent::check,
                        folder};
  auto const all = check(
      node.runs, plan, baselines,
      [&](checked const& pair) {
        progress.clear();
        print_pair(pair, options, what, u);
      },
      [&](auto const&... words) { progress.show(words...); });
  progress.clear();

  bool const say = !options.json && !options.quiet;
  if (all.empty() && node.listed.problems.empty())
    fmt::print(options.json ? stderr : stdout,
               "SKIPPED      no device for backend {} on this machine\n",
               node.runs.options().backend);
  if (say && what == intent::check) {
    fmt::print("{}\n", summary_text(all));
    if (auto const command = record_command(all, node, options); !command.empty())
      fmt::print("to record a baseline: {}\n", command);
  }
  if (say && !folder.empty() && !all.empty()) fmt::print("results in {}\n", folder.string());
  return exit_code(outcome_of(all, node.listed, options.strict));
}

void add(CLI::App& program, environment const& env, int& code, intent what, char const* name,
         char const* help, char const* examples) {
  auto* command = program.add_subcommand(name, help);
  auto options = std::make_shared<common_options>();
  add_measuring_options(*command, *options, env);
  auto const set = env.find("BANDGATE_STRICT");
  options->strict = set != env.end() && !set->second.empty() && set->second != "0";
  if (what == intent::check)
    command->add_flag("--strict", options->strict,
                      "what was not judged is a failure (also BANDGATE_STRICT=1)");
  auto profile = std::make_shared<bool>(false);
  if (what == intent::run)
    command->add_flag("--profile", *profile,
                      "one launch in this process, nothing verified, timed or stored: for ncu");
  command->footer(examples);
  command->callback([options, profile, &env, &code, what] {
    code = *profile ? profile_run(*options, env) : execute(*options, env, what);
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
