// SPDX-License-Identifier: Apache-2.0
#include "cli/baseline_try.hpp"

#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <functional>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/exit_code.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "records/result_json.hpp"
#include "records/schema.hpp"
#include "runner/trial.hpp"

namespace bandgate::cli {
namespace {

/// Each line of standard input that is not empty, with its number. Throws usage_error where it
/// cannot be read to its end: half a history is none.
void for_each_line(std::function<void(std::string const& line, std::size_t number)> const& take) {
  char* data = nullptr;
  std::size_t room = 0;
  std::string line;
  for (std::size_t number = 1;; ++number) {
    errno = 0;
    auto const length = getline(&data, &room, stdin);
    // Copied at once, so that nothing that throws below leaks it.
    if (length > 0) line.assign(data, static_cast<std::size_t>(length));
    if (length < 0) break;
    if (line.ends_with('\n')) line.pop_back();
    if (line.find_first_not_of(" \t\r") == std::string::npos) continue;
    try {
      take(line, number);
    } catch (...) {
      std::free(data);
      throw;
    }
  }
  std::free(data);
  if (std::ferror(stdin) != 0)
    throw usage_error(fmt::format("standard input: cannot be read: {}", std::strerror(errno)));
}

void print(tried const& one) {
  auto const& v = one.last.verdict;
  auto applied = nlohmann::ordered_json::array();
  for (auto const& b : v.baselines)
    applied.push_back({{"file", b.file},
                       {"entry", b.entry},
                       {"card", b.card},
                       {"statistic", b.statistic},
                       {"reference", b.reference},
                       {"lower", b.lower ? nlohmann::ordered_json(*b.lower) : nullptr},
                       {"upper", b.upper ? nlohmann::ordered_json(*b.upper) : nullptr},
                       {"ratio", b.ratio}});
  // Of a plain pass the reasons are notes: nothing of them decided.
  bool const plain_pass = v.status == status::pass && !v.unstable;
  auto const code = plain_pass || v.reasons.empty() ? "" : v.reasons.front().code;
  nlohmann::ordered_json const line{{"id", one.last.run.id},
                                    {"attempts", one.attempts},
                                    {"status", to_string(v.status)},
                                    {"unstable", v.unstable},
                                    {"code", code},
                                    {"files", one.files},
                                    {"baselines", std::move(applied)}};
  out("{}\n", line.dump(-1, ' ', false, nlohmann::ordered_json::error_handler_t::replace));
}

void try_all(baseline_library const& library) {
  trial history(library, registered_probes());
  for_each_line([&](std::string const& line, std::size_t number) {
    auto const origin = fmt::format("standard input, line {}", number);
    if (auto const one = history.add(result_for_judging(parse_strict(line, origin), origin)))
      print(*one);
  });
  if (auto const one = history.finish()) print(*one);
}

}  // namespace

void add_try(CLI::App& parent, environment const& env, int& code) {
  auto* command = parent.add_subcommand(
      "try", "the verdicts that a changed baseline would have given over stored results");
  auto options = std::make_shared<common_options>();
  auto files = std::make_shared<std::vector<std::string>>();
  command->add_option("file", *files, "changed baselines, a file or a folder; searched first")
      ->required()
      ->expected(1);
  add_baseline_options(*command, *options);
  command->footer(
      "Reads results as JSON Lines from standard input, the attempts of one invocation next to "
      "each "
      "other,\nand prints a line for each invocation. Measures nothing, stores nothing; 0 whatever "
      "the verdicts.\n\n"
      "Examples:\n"
      "  bandgate-report baseline try new.json results      what it would have changed, readable\n"
      "  bandgate baseline try new.json < results.jsonl     the verdicts themselves\n");
  command->callback([options, files, &env, &code] {
    if (isatty(STDIN_FILENO) != 0)
      throw usage_error(
          "baseline try reads results from standard input; to try a baseline over stored results: "
          "bandgate-report baseline try FILE RESULTS");
    options->baselines.insert(options->baselines.begin(), files->begin(), files->end());
    auto const library = load_baselines(*options, env);
    for (auto const& warning : library.warnings()) err("warning: {}\n", plain(warning));
    try_all(library);
    code = ok;
  });
}

}  // namespace bandgate::cli
