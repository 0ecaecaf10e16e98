// SPDX-License-Identifier: Apache-2.0
#include <time.h>
#include <unistd.h>

#include <algorithm>
#include <chrono>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/examined.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "cli/progress.hpp"
#include "cli/since.hpp"
#include "cli/speech.hpp"
#include "device/identity.hpp"
#include "records/mark.hpp"
#include "records/result_json.hpp"
#include "records/result_store.hpp"
#include "runner/resources.hpp"

namespace bandgate::cli {
namespace {

struct doctor_options : common_options {
  bool measure{};
  std::string mark, since;
};

/// What one look at the machine gave, as far as --device chose.
struct examination {
  std::vector<examined> devices;
  std::vector<device_identity> all;  ///< that the driver lists
  std::vector<device_problem> problems;
};

examination examine(supervisor const& runs, baseline_library const& baselines,
                    common_options const& options, environment const& env) {
  auto inspection = runs.inspect([&] { return gpus_of(env); });
  device_list listed{{}, inspection.problems};
  for (auto const& seen : inspection.devices) listed.devices.push_back(seen.device);
  examination whole{{}, listed.devices, std::move(inspection.problems)};
  for (auto const& [identity, index] : select(listed, options.device)) {
    auto& seen = inspection.devices[index];
    auto found = seen.lost.empty() && identity.backend != "host"
                     ? diagnose(identity, seen.health, baselines.expectations_of(identity))
                     : diagnosis{};
    whole.devices.push_back({short_id(identity, index), identity, std::move(seen.health),
                             std::move(seen.lost), std::move(found)});
  }
  return whole;
}

report_line line(status what, std::string subject, std::string message, std::string next_step) {
  report_line made;
  made.what = what;
  made.subject = std::move(subject);
  made.message = std::move(message);
  made.next_step = std::move(next_step);
  return made;
}

/// What a monitor is to hear of devices that are missing or could not be listed.
std::vector<report_line> lines_of(std::vector<device_problem> const& problems) {
  std::vector<report_line> lines;
  for (auto const& p : problems) {
    lines.push_back(line(status::error, p.code, p.message, ""));
    lines.back().configuration = p.usage;
  }
  return lines;
}

bool is_gpu(examined const& one) {
  return one.device.backend != "host";
}

void add_problems(outcome& o, std::vector<device_problem> const& problems) {
  for (auto const& p : problems) (p.usage ? o.configuration_problem : o.device_problem) = true;
}

outcome outcome_of(examination const& whole, bool strict) {
  outcome o;
  o.strict = strict;
  for (auto const& one : whole.devices)
    o.finals.push_back(is_gpu(one) ? status_of(condition_of(one)) : status::skipped);
  add_problems(o, whole.problems);
  return o;
}

void print_problems(std::vector<device_problem> const& problems) {
  for (auto const& p : problems) err("bandgate: {}: {}\n", p.code, plain(p.message));
}

nlohmann::ordered_json problems_json(std::vector<device_problem> const& problems) {
  auto list = nlohmann::ordered_json::array();
  for (auto const& p : problems) list.push_back({{"code", p.code}, {"message", p.message}});
  return list;
}

void print_json(nlohmann::ordered_json const& document) {
  out("{}\n", document.dump(2, ' ', false, nlohmann::json::error_handler_t::replace));
}

/// This moment on this machine.
mark moment(supervisor const& runs, examination const& whole) {
  run_info here;
  add_environment(here, runs.options().environment);
  auto const& backend = runs.options().backend;
  timespec up{};
  clock_gettime(CLOCK_BOOTTIME, &up);
  mark m{rfc3339(std::chrono::system_clock::now()),
         here.host,
         here.boot_id,
         static_cast<double>(up.tv_sec) + 1e-9 * static_cast<double>(up.tv_nsec),
         backend.substr(0, backend.find(':')),
         {}};
  for (auto const& one : whole.devices)
    if (is_gpu(one) && one.lost.empty()) m.devices.push_back({one.device, one.health});
  return m;
}

int write_the_mark(doctor_options const& options, supervisor const& runs,
                   examination const& whole) {
  auto const now = moment(runs, whole);
  write_mark(now, options.mark);
  outcome o;
  o.strict = options.strict;
  add_problems(o, whole.problems);
  for (auto const& one : whole.devices) {
    bool const seen = !one.health.source.starts_with("none");
    if (is_gpu(one) && (!seen || !one.lost.empty()))
      err("bandgate: {}: {}\n", one.id, plain(headline(one)));
    o.finals.push_back(!is_gpu(one)        ? status::skipped
                       : !one.lost.empty() ? status::error
                       : seen              ? status::pass
                                           : status::inconclusive);
  }
  out("marked {} device{} in {}\n", now.devices.size(), now.devices.size() == 1 ? "" : "s",
      plain(options.mark));
  return exit_code(o);
}

int tell_since(doctor_options const& options, dialect in, supervisor const& runs,
               examination const& whole) {
  auto const then = read_mark(options.since);
  auto const now = moment(runs, whole);
  auto const all = compare_with_mark(then, now, whole.devices, whole.all);
  outcome o;
  o.strict = options.strict;
  add_problems(o, whole.problems);
  for (auto const& one : all) o.finals.push_back(status_of(one));
  if (in != dialect::none) {
    auto lines = lines_of(whole.problems);
    for (auto const& one : all)
      lines.push_back(
          line(status_of(one), one.id.empty() ? one.device.uuid : one.id, headline(one), ""));
    return say(in, lines, o);
  }
  double const span_s = now.uptime_s - then.uptime_s;
  if (options.json) {
    nlohmann::ordered_json document{{"schema", "bandgate.since/1"},
                                    {"since", then.at},
                                    {"at", now.at},
                                    {"span_s", span_s},
                                    {"devices", nlohmann::ordered_json::array()},
                                    {"problems", problems_json(whole.problems)}};
    for (auto const& one : all) document["devices"].push_back(since_json(one));
    print_json(document);
  } else {
    out("since {} ({:.0f} s)\n", then.at, span_s);
    for (auto const& one : all) out("{}", since_text(one));
  }
  return exit_code(o);
}

/// The quick suite on the examined devices that answer.
check_report measure(doctor_options const& options, environment const& env, supervisor const& runs,
                     baseline_library const& baselines, examination const& whole) {
  check_plan plan;
  plan.tasks = suite_tasks("quick");
  plan.results = results_folder(options, env);
  plan.machine = whole.all;
  for (auto const& one : whole.devices)
    for (std::size_t i = 0; i < whole.all.size(); ++i)
      if (one.lost.empty() && one.id == short_id(whole.all[i], i))
        plan.devices.push_back({one.device, i});
  progress_line progress(isatty(STDERR_FILENO) != 0 && !options.quiet);
  auto report =
      check(runs, plan, baselines, {}, [&](auto const&... words) { progress.show(words...); });
  progress.clear();
  return report;
}

std::string indented(std::string const& lines) {
  std::string text;
  for (std::size_t from = 0; from < lines.size();) {
    auto const end = std::min(lines.find('\n', from), lines.size() - 1) + 1;
    text += "    " + lines.substr(from, end - from);
    from = end;
  }
  return text;
}

void print_examined(examination const& whole, check_report const& measured) {
  for (auto const& one : whole.devices) {
    if (is_gpu(one))
      out("{}", doctor_text(one));
    else
      out("{}  {}\n  skipped: a CPU has no health to examine\n", one.id, plain(one.device.name));
    for (auto const& pair : measured.pairs)
      if (pair.id == one.id) out("{}", indented(verdict_text(pair, unit::gib_per_s)));
  }
  if (whole.devices.empty() && whole.problems.empty())
    out("SKIPPED      no device on this machine\n");
}

nlohmann::ordered_json examination_json(supervisor const& runs, examination const& whole,
                                        check_report const& measured) {
  nlohmann::ordered_json document{{"schema", "bandgate.doctor/1"},
                                  {"at", rfc3339(std::chrono::system_clock::now())},
                                  {"backend", runs.options().backend},
                                  {"tool_version", runs.options().tool_version},
                                  {"devices", nlohmann::ordered_json::array()},
                                  {"problems", problems_json(whole.problems)}};
  for (auto const& one : whole.devices) {
    auto fields = doctor_json(one);
    auto results = nlohmann::ordered_json::array();
    for (auto const& pair : measured.pairs)
      if (pair.id == one.id)
        for (auto const& attempt : pair.attempts) results.push_back(to_json(attempt));
    fields["results"] = std::move(results);
    document["devices"].push_back(std::move(fields));
  }
  return document;
}

int tell(doctor_options const& options, dialect in, examination const& whole,
         check_report const& measured, supervisor const& runs) {
  auto o = outcome_of(whole, options.strict);
  for (auto const& pair : measured.pairs) {
    o.finals.push_back(pair.final().verdict.status);
    o.recording_failed |= !pair.recording_error.empty();
    if (!pair.recording_error.empty())
      err("bandgate: result not stored: {}\n", plain(pair.recording_error));
  }
  o.configuration_problem |= !measured.errors.empty();
  for (auto const& error : measured.errors) err("bandgate: {}\n", plain(error));
  if (in == dialect::none) {
    if (options.json)
      print_json(examination_json(runs, whole, measured));
    else
      print_examined(whole, measured);
    return exit_code(o);
  }
  auto lines = lines_of(whole.problems);
  for (auto const& one : whole.devices) {
    lines.push_back(line(is_gpu(one) ? status_of(condition_of(one)) : status::skipped,
                         one.id + " health", headline(one), next_step(one)));
    if (!one.lost.empty()) lines.back().brief = "does not answer";
  }
  for (auto const& pair : measured.pairs) lines.push_back(line_of(pair, unit::gib_per_s));
  return say(in, lines, o);
}

int execute(doctor_options const& options, dialect in, environment const& env) {
  auto const runs = make_supervisor(options, env, gpus_of(env));
  auto const baselines = load_baselines(options, env);
  for (auto const& warning : baselines.warnings()) err("bandgate: warning: {}\n", plain(warning));
  auto const whole = examine(runs, baselines, options, env);
  print_problems(whole.problems);
  if (!options.mark.empty()) return write_the_mark(options, runs, whole);
  if (!options.since.empty()) return tell_since(options, in, runs, whole);
  auto const measured =
      options.measure ? measure(options, env, runs, baselines, whole) : check_report{};
  return tell(options, in, whole, measured, runs);
}

}  // namespace

void add_doctor(CLI::App& program, environment const& env, int& code) {
  auto* command = program.add_subcommand(
      "doctor", "what will cost bandwidth on this machine, without measuring it");
  auto options = std::make_shared<doctor_options>();
  add_device_options(*command, *options, env);
  add_baseline_options(*command, *options);
  auto const set = env.find("BANDGATE_STRICT");
  options->strict = set != env.end() && !set->second.empty() && set->second != "0";
  command->add_flag("--strict", options->strict, "no device is a failure (also BANDGATE_STRICT=1)");
  auto* const measure =
      command->add_flag("--measure", options->measure, "run the quick suite as well, and judge it");
  command->add_option("--results", options->results,
                      "folder for the results of --measure, or none");
  auto* const mark = command->add_option("--mark", options->mark,
                                         "write what the counters say to this file (before a job)");
  auto* const since = command->add_option(
      "--since", options->since, "what the counters did since that file was written (after a job)");
  auto in = std::make_shared<dialect>(dialect::none);
  add_format_option(*command, *in);
  mark->excludes(since)
      ->excludes(measure)
      ->excludes(command->get_option("--format"))
      ->excludes(command->get_option("--json"));
  since->excludes(measure);
  command->footer(
      "Exit codes: 0 clean, 1 something costs bandwidth, 2 usage, 3 a device is unusable or\n"
      "missing, 4 nothing could be seen (no management library), 77 no GPU.\n\n"
      "Examples:\n"
      "  bandgate doctor\n"
      "  bandgate doctor --measure --device 0\n"
      "  bandgate doctor --mark /run/bandgate.mark     before a job\n"
      "  bandgate doctor --since /run/bandgate.mark    after it\n");
  command->callback([options, in, mark, since, &env, &code] {
    if ((mark->count() != 0 && options->mark.empty()) ||
        (since->count() != 0 && options->since.empty()))
      throw usage_error("--mark and --since need the name of a file, and got an empty one");
    code = execute(*options, *in, env);
  });
}

}  // namespace bandgate::cli
