// SPDX-License-Identifier: Apache-2.0
#include <filesystem>
#include <memory>
#include <regex>
#include <set>

#include <fmt/format.h>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "records/stored_results.hpp"
#include "runner/backends.hpp"
#include "runner/rejudge.hpp"

namespace bandgate::cli {
namespace {

struct tally {
  std::set<std::string> judged, all;  ///< device, probe and parameters
};

/// A verdict that the rest of the file bears out.
bool was_judged(result const& r) {
  return is_judged(r.verdict.status) && r.measurement && r.measurement->verified;
}

/// Results that began at or after `since`; RFC 3339 in UTC sorts as text.
tally count_results(std::filesystem::path const& folder, std::string const& since,
                    std::string const& backend) {
  tally t;
  read_stored(
      folder, {},
      [&](result const& r) {
        // A fire drill's or a CPU's result says nothing of this machine's GPUs.
        if (r.run.started < since || r.device.backend != backend) return;
        auto const key = r.run.host + "|" + key_of(r);
        t.all.insert(key);
        if (was_judged(r)) t.judged.insert(key);
      },
      [](std::string const& why) { err("bandgate: skipped a broken result: {}\n", plain(why)); });
  return t;
}

void check_time(std::string const& since) {
  static std::regex const form(R"(\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?Z)");
  if (!since.empty() && !std::regex_match(since, form))
    throw usage_error("--since " + since +
                      ": is no time in UTC; write it like 2026-11-29T02:00:00Z");
}

}  // namespace

void add_judged(CLI::App& program, environment const& env, int& code) {
  auto* command = program.add_subcommand(
      "judged",
      "how many of the stored results were judged; fails where a GPU exists and none was");
  auto options = std::make_shared<common_options>();
  auto since = std::make_shared<std::string>();
  if (auto const backend = env.find("BANDGATE_BACKEND"); backend != env.end())
    options->backend = backend->second;
  command->add_option("--backend", options->backend,
                      "count this backend's results: auto, " + gpu_backend() +
                          ", host, scripted:FILE; default $BANDGATE_BACKEND, else auto");
  command->add_option("--results", options->results, "folder of result files")->required();
  command->add_option("--since", *since, "count what began at or after this UTC time (RFC 3339)");
  auto const set = env.find("BANDGATE_STRICT");
  options->strict = set != env.end() && !set->second.empty() && set->second != "0";
  command->add_flag("--strict", options->strict, "nothing judged is a failure without a GPU, too");
  command->footer("Examples:\n  bandgate judged --results results --since 2026-11-29T02:00:00Z\n");
  command->callback([options, since, &env, &code] {
    check_time(*since);
    auto const presence = gpus_of(env);
    auto const backend = chosen_backend(options->backend, presence);
    auto const t = count_results(options->results, *since, backend.substr(0, backend.find(':')));
    out("judged {} of {}\n", t.judged.size(), t.all.size());
    bool const must = options->strict || presence.any();
    code = t.judged.empty() && must ? regression_found : ok;
    if (code != ok)
      out("FAILED: nothing was judged{}; see the cases' output for the reason of each\n",
          options->strict ? "" : " although this is a GPU machine");
  });
}

}  // namespace bandgate::cli
