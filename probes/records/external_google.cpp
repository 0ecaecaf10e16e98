// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>

#include "records/external_format.hpp"

namespace bandgate {
namespace {

constexpr char const* bytes_counter = "bytes_per_second";

struct part {
  std::string text;
  bool says_how_often;
  bool says_by_which_time;
};

std::vector<part> parts_of(std::string const& name) {
  std::vector<part> all;
  for (std::size_t from = 0; from <= name.size();) {
    auto const to = std::min(name.find('/', from), name.size());
    auto const text = name.substr(from, to - from);
    auto const begins = [&](char const* with) { return text.starts_with(with); };
    all.push_back({text,
                   !all.empty() && (begins("repeats:") || begins("iterations:") ||
                                    begins("min_time:") || begins("min_warmup_time:")),
                   !all.empty() && (text == "real_time" || text == "manual_time")});
    from = to + 1;
  }
  return all;
}

/// "Sum/4096" of "Sum/4096/repeats:3/real_time".
std::string short_name(std::string const& name) {
  std::string text;
  for (auto const& p : parts_of(name))
    if (!p.says_how_often && !p.says_by_which_time && p.text != "process_time")
      text += (text.empty() ? "" : "/") + p.text;
  return text;
}

bool is_of_real_time(std::string const& name) {
  auto const parts = parts_of(name);
  return std::any_of(parts.begin(), parts.end(),
                     [](part const& p) { return p.says_by_which_time; });
}

double seconds_of(place const& benchmark) {
  auto const unit = (benchmark / "time_unit").one_of({"ns", "us", "ms", "s"});
  return unit == "ns" ? 1e-9 : unit == "us" ? 1e-6 : unit == "ms" ? 1e-3 : 1;
}

/// All entries of one name, in the order of the file.
struct group {
  std::vector<place> repetitions;
  std::optional<place> median;
  place first;
};

bool is(place const& benchmark, char const* key) {
  return benchmark.states(key) && benchmark.value().at(key) == true;
}

void add_measured(place const& from, rate_counter const& counter, external_benchmark& to) {
  auto const text = [&](char const* key) {
    return from.states(key) ? (from / key).text() : std::string("no reason given");
  };
  if (is(from, "error_occurred")) {
    to.failure = "the benchmark reported an error: " + text("error_message");
    return;
  }
  if (is(from, "skipped")) {
    to.skipped = text("skip_message");
    return;
  }
  add_value((from / "real_time").number(), "real_time", seconds_of(from), to.seconds, to.failure);
  auto const name = counter ? counter->first : bytes_counter;
  if (from.has(name))
    add_value((from / name).number(), name, counter ? to_base(1, counter->second) : 1, to.rates,
              to.failure);
  else
    to.why_no_rate = counter ? "it has no counter " + name
                             : "it counts no bytes; call state.SetBytesProcessed(), or name a "
                               "counter of yours with --counter NAME=UNIT";
}

void add_notes(group const& of, rate_counter const& counter, external_benchmark& to) {
  if (of.repetitions.empty()) to.notes.emplace_back("the median that Google Benchmark computed");
  if (!counter && !to.rates.empty() && !is_of_real_time(to.full_name))
    to.notes.emplace_back(
        "its bytes per second are those of CPU time: call UseRealTime() or UseManualTime()");
}

external_benchmark read_group(std::string const& name, group const& of, std::string const& device,
                              rate_counter const& counter) {
  external_benchmark one;
  one.full_name = name;
  one.name = short_name(name);
  one.device = device;
  one.where = of.first.origin() + ": " + of.first.pointer();
  if (of.repetitions.empty() && !of.median)
    of.first.refuse("only aggregates, and no median among them",
                    "run without --benchmark_report_aggregates_only");
  if (of.repetitions.empty()) add_measured(*of.median, counter, one);
  std::set<std::int64_t> seen;
  for (auto const& repetition : of.repetitions) {
    auto const index = repetition.value().value("repetition_index", std::int64_t{0});
    if (!seen.insert(index).second)
      repetition.refuse("a second \"" + name + "\" that is no repetition of the first",
                        "give one of them another name");
    add_measured(repetition, counter, one);
  }
  add_notes(of, counter, one);
  return one;
}

}  // namespace

std::vector<external_benchmark> read_google_benchmark(place const& root,
                                                      rate_counter const& counter) {
  auto const context = root / "context";
  std::string device;  // as bandgate_bench and others that know it write it
  if (context.states("device") && context.value().at("device").is_string())
    device = context.value().at("device").get<std::string>();
  auto const list = root / "benchmarks";
  list.must_be_list();
  std::vector<std::pair<std::string, group>> groups;
  for (std::size_t i = 0; i < list.value().size(); ++i) {
    auto const at = list / i;
    if (!at.value().is_object()) at.refuse("is not an object", "write it with Google Benchmark");
    auto const name = (at / "run_name").text();
    auto found = std::find_if(groups.begin(), groups.end(),
                              [&](auto const& other) { return other.first == name; });
    if (found == groups.end()) found = groups.insert(found, {name, {{}, {}, at}});
    auto& [_, into] = *found;
    if ((at / "run_type").one_of({"iteration", "aggregate"}) == "iteration")
      into.repetitions.push_back(at);
    else if ((at / "aggregate_name").text() == "median")
      into.median.emplace(at);
  }
  std::vector<external_benchmark> all;
  for (auto const& [name, of] : groups) all.push_back(read_group(name, of, device, counter));
  return all;
}

}  // namespace bandgate
