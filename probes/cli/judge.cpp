// SPDX-License-Identifier: Apache-2.0
/// Judging what another tool measured. Nobody here saw the kernel do its work, so everything that
/// is printed and written says `verified: external`.
#include <algorithm>
#include <memory>
#include <set>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "cli/commands.hpp"
#include "cli/exit_code.hpp"
#include "cli/judge_external.hpp"
#include "cli/output.hpp"
#include "cli/print.hpp"
#include "records/result_json.hpp"
#include "records/result_store.hpp"

namespace bandgate::cli {
namespace {

using nlohmann::ordered_json;

struct judge_options {
  std::vector<std::string> files;
  std::string baseline, baselines, device, counter, out;
  std::string unit{"GiB/s"};
  bool json{}, strict{}, ctest{};
};

rate_counter parse_counter(std::string const& text) {
  if (text.empty()) return std::nullopt;
  auto const equals = text.rfind('=');
  auto const u = equals == std::string::npos ? std::nullopt : parse_unit(text.substr(equals + 1));
  if (equals == 0 || !u || *u == unit::microseconds)
    throw usage_error("--counter " + text +
                      ": write NAME=UNIT with one of B/s, MB/s, MiB/s, GB/s, GiB/s, such as "
                      "bandwidth=GB/s; a counter does not tell its unit");
  return std::pair(text.substr(0, equals), *u);
}

ordered_json parameters_json(parameters const& values) {
  auto all = ordered_json::object();
  for (auto const& [name, value] : values) all[name] = std::get<std::string>(value);
  return all;
}

/// A document of schema bandgate.judgement/1.
ordered_json document_of(judged_benchmark const& one, external_results const& from,
                         std::vector<std::string> const& files) {
  auto const& r = one.result;
  auto document = ordered_json{{"schema", "bandgate.judgement/1"},
                               {"verified", "external"},
                               {"source", {{"tool", from.tool}, {"files", files}}},
                               {"device", r.device.name},
                               {"benchmark", one.of->full_name},
                               {"parameters", parameters_json(one.of->values)},
                               {"measurement", nullptr},
                               {"notes", r.notes},
                               {"verdict", to_json(r).at("verdict")}};
  if (one.of->device_index) document["device_index"] = *one.of->device_index;
  if (r.measurement) {
    auto const& m = *r.measurement;
    document["measurement"] = {{"unit", m.is_time ? "s" : "B/s"},
                               {"median", m.median},
                               {"peak", m.peak},
                               {"n", m.samples.size()},
                               {"samples", m.samples}};
  }
  return document;
}

/// Entries of the files that were consulted to which nothing was measured: a kernel that was
/// renamed or lost its benchmark is not judged any more.
std::vector<baseline_entry const*> left_over(std::set<baseline_file const*> const& consulted,
                                             std::set<baseline_entry const*> const& used) {
  std::vector<baseline_entry const*> all;
  for (auto const* file : consulted)
    for (auto const& entry : file->entries)
      if (!used.contains(&entry) && entry.card.empty()) all.push_back(&entry);
  return all;
}

struct judgements {
  std::vector<judged_benchmark> all;
  std::vector<baseline_entry const*> unused;
  std::vector<std::string> errors;
};

judgements judge_all(external_results const& found, external_baselines const& baselines) {
  judgements made;
  std::set<baseline_file const*> consulted;
  std::set<baseline_entry const*> used;
  for (auto const& benchmark : found.benchmarks) {
    auto const files = baselines.files_for(benchmark.device);
    consulted.insert(files.begin(), files.end());
    auto const* entry = entry_for(benchmark, files);
    if (entry != nullptr) used.insert(entry);
    try {
      made.all.push_back(judge_external(benchmark, entry, found));
    } catch (usage_error const& e) {  // of this one alone: the others are judged
      made.errors.emplace_back(e.what());
    }
  }
  made.unused = left_over(consulted, used);
  return made;
}

void print_text(judgements const& made, judge_options const& options, unit u) {
  std::vector<checked> pairs;
  for (auto const& one : made.all) {
    pairs.push_back(
        {.id = "external", .attempts = {one.result}, .stored = {}, .recording_error = {}});
    out("{}", verdict_text(pairs.back(), u));
    if (options.ctest) out("{}", ctest_text(one.result, u));
  }
  out("{}, verified: external\n", summary_text(pairs));
}

bool written(std::string const& file, std::string const& lines) {
  if (file.empty()) return true;
  try {
    write_atomically(file, lines);
    return true;
  } catch (usage_error const& e) {
    err("bandgate: not written: {}\n", plain(e.what()));
    return false;
  }
}

int execute(judge_options const& options) {
  auto const u = parse_unit(options.unit);
  if (!u || *u == unit::microseconds)
    throw usage_error("--unit " + options.unit +
                      ": unknown unit; use GiB/s, GB/s, MiB/s, MB/s or B/s");
  std::vector<std::filesystem::path> const paths(options.files.begin(), options.files.end());
  auto found = read_external(paths, parse_counter(options.counter));
  if (!options.device.empty())
    for (auto& benchmark : found.benchmarks) benchmark.device = options.device;
  external_baselines const baselines(options.baseline.empty() ? options.baselines
                                                              : options.baseline);
  auto const made = judge_all(found, baselines);

  std::string lines;
  for (auto const& one : made.all)
    lines += document_of(one, found, options.files)
                 .dump(-1, ' ', false, ordered_json::error_handler_t::replace) +
             "\n";
  if (options.json)
    std::fputs(lines.c_str(), stdout);
  else
    print_text(made, options, *u);
  for (auto const& error : made.errors) err("bandgate: {}\n", plain(error));
  for (auto const* entry : made.unused)
    err("bandgate: warning: {}: {}: no benchmark \"{}\" was measured\n", entry->file,
        entry->pointer, plain(entry->probe));

  outcome o;
  o.strict = options.strict;
  o.recording_failed = !written(options.out, lines);
  o.configuration_problem = !made.errors.empty();
  for (auto const& one : made.all) o.finals.push_back(one.result.verdict.status);
  if (options.strict && !made.unused.empty()) o.finals.push_back(status::inconclusive);
  return exit_code(o);
}

void check_source(judge_options const& options) {
  if (options.baseline.empty() == options.baselines.empty())
    throw usage_error(
        "judge: name one baseline file with --baseline, or a folder of them with --baselines");
}

}  // namespace

void add_judge(CLI::App& program, environment const& env, int& code) {
  auto* command = program.add_subcommand(
      "judge", "judge the JSON of Google Benchmark or NVBench against a baseline");
  auto o = std::make_shared<judge_options>();
  command->add_option("file", o->files, "files of one tool; several are runs of the same program")
      ->required();
  command->add_option("--baseline", o->baseline, "the baseline file to judge by");
  command->add_option("--baselines", o->baselines,
                      "a folder of baseline files, searched by the device's name");
  command->add_option("--device-name", o->device,
                      "which device it was, where the file does not say");
  command->add_option("--counter", o->counter,
                      "NAME=UNIT: a counter of Google Benchmark that is the rate; default "
                      "bytes_per_second in B/s");
  command->add_option("--unit", o->unit, "unit to print: GiB/s, GB/s, MiB/s, MB/s, B/s")
      ->capture_default_str();
  command->add_option("--out", o->out,
                      "write the judgements to this file, one JSON document a line");
  command->add_flag("--json", o->json, "print them so, too");
  command->add_flag("--ctest", o->ctest, "also print measurements for CTest's dashboard");
  auto const set = env.find("BANDGATE_STRICT");
  o->strict = set != env.end() && !set->second.empty() && set->second != "0";
  command->add_flag("--strict", o->strict,
                    "what was not judged is a failure, also an entry without its benchmark "
                    "(also BANDGATE_STRICT=1)");
  command->footer(
      "Examples:\n"
      "  my_bench --benchmark_out=r.json; bandgate judge r.json --baseline my_kernels.json\n"
      "  my_nvbench --json r.json; bandgate judge r.json --baselines baselines --strict\n");
  command->callback([o, &code] {
    check_source(*o);
    code = execute(*o);
  });
}

}  // namespace bandgate::cli
