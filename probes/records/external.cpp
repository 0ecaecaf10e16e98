// SPDX-License-Identifier: Apache-2.0
#include "records/external.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <bandgate/errors.hpp>

#include "records/baseline_match.hpp"
#include "records/external_format.hpp"
#include "records/schema.hpp"

namespace bandgate {
namespace {

/// Far above what a suite of benchmarks writes.
constexpr std::uintmax_t largest_file = std::uintmax_t{64} << 20;

constexpr char const* google = "Google Benchmark";
constexpr char const* nvbench = "NVBench";

char const* tool_of(place const& root) {
  if (root.value().is_object() && root.has("benchmarks")) {
    if (root.has("context")) return google;
    if (root.has("devices")) return nvbench;
  }
  root.refuse("is neither of Google Benchmark nor of NVBench",
              "write it with --benchmark_out=FILE (--benchmark_out_format=json), or with --json "
              "FILE");
}

void append(std::vector<double>& to, std::vector<double> const& from) {
  to.insert(to.end(), from.begin(), from.end());
}

/// The same benchmark of another process.
void join(external_benchmark& into, external_benchmark const& more) {
  append(into.rates, more.rates);
  append(into.seconds, more.seconds);
  if (into.failure.empty()) into.failure = more.failure;
  if (into.skipped.empty()) into.skipped = more.skipped;
  if (into.why_no_rate.empty()) into.why_no_rate = more.why_no_rate;
  for (auto const& note : more.notes)
    if (std::find(into.notes.begin(), into.notes.end(), note) == into.notes.end())
      into.notes.push_back(note);
}

/// Its values would count twice.
void refuse_repeated(std::vector<std::filesystem::path> const& files) {
  std::error_code unknown;  // reading the file says why
  for (auto one = files.begin(); one != files.end(); ++one)
    for (auto other = files.begin(); other != one; ++other)
      if (std::filesystem::equivalent(*one, *other, unknown))
        throw usage_error(
            fmt::format("{}: is the same file as {}, and its values would count twice; name each "
                        "run's file once",
                        one->string(), other->string()));
}

bool speaks_of(baseline_file const& file, device_identity const& device) {
  return fit(file, device).level != closeness::none ||
         normalized_name(file.model) == normalized_name(device.name);
}

device_identity named(std::string const& name) {
  device_identity device;
  device.backend = "cuda";
  device.name = name;
  return device;
}

}  // namespace

external_results read_external(std::vector<std::filesystem::path> const& files,
                               rate_counter const& counter) {
  refuse_repeated(files);
  external_results all;
  for (auto const& file : files) {
    auto const document = parse_strict(read_text(file, largest_file), file.string());
    place const root(document, file.string());
    std::string const tool = tool_of(root);
    if (!all.tool.empty() && tool != all.tool)
      root.refuse("is of " + tool + ", the one before it of " + all.tool, "judge them apart");
    all.tool = tool;
    auto found = tool == google ? read_google_benchmark(root, counter) : read_nvbench(root);
    if (found.empty()) root.refuse("holds no benchmark", "look at its filter");
    for (auto& one : found) {
      auto const same = std::find_if(all.benchmarks.begin(), all.benchmarks.end(),
                                     [&](auto const& other) { return one.same_as(other); });
      if (same == all.benchmarks.end())
        all.benchmarks.push_back(std::move(one));
      else
        join(*same, one);
    }
  }
  return all;
}

external_baselines::external_baselines(std::filesystem::path const& where)
    : where_(where), is_folder_(std::filesystem::is_directory(where)) {
  std::vector<std::string> ignored;  // that no probe of this program has these names
  files_ = read_folder(where, {}, ignored);
  if (files_.empty())
    throw usage_error(where.string() + ": holds no *.json file, so that nothing could be judged");
}

std::vector<baseline_file const*> external_baselines::files_for(std::string const& device) const {
  auto const who = named(device);
  if (!is_folder_) {
    auto const& file = files_.front();
    if (!device.empty() && !file.generic && !speaks_of(file, who))
      throw usage_error(fmt::format(
          "{}: /gpu: speaks of \"{}\", but \"{}\" was measured; name a file of that model, or add "
          "the name to /gpu/aliases",
          file.origin, file.model, device));
    return {&file};
  }
  if (device.empty())
    throw usage_error(fmt::format(
        "{}: is a folder, which is searched by the device's name, and the results do not tell it; "
        "give --device-name, or one file with --baseline",
        where_.string()));
  std::vector<baseline_file const*> all;
  for (auto const& file : files_)
    if (speaks_of(file, who)) all.push_back(&file);
  std::stable_partition(all.begin(), all.end(), [](auto const* file) { return !file->generic; });
  return all;
}

baseline_entry const* entry_for(external_benchmark const& of,
                                std::vector<baseline_file const*> const& files) {
  for (auto const* file : files)
    for (auto const& name : {of.full_name, of.name})
      for (auto const& entry : file->entries)
        if (entry.probe == name && entry.parameters == of.values && entry.card.empty())
          return &entry;
  return nullptr;
}

}  // namespace bandgate
