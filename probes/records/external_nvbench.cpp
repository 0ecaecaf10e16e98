// SPDX-License-Identifier: Apache-2.0
#include <algorithm>
#include <charconv>
#include <cmath>
#include <map>
#include <optional>

#include <fmt/format.h>

#include "records/external_format.hpp"
#include "records/text.hpp"

namespace bandgate {
namespace {

constexpr char const* rate_tag = "nv/cold/bw/global/bytes_per_second";

struct device_of {
  std::string name;
  std::optional<double> peak_bytes_per_second;
};

/// NVBench writes numbers as text.
double number_of(place const& at) {
  if (!at.value().is_string()) return at.number();
  auto const text = at.text();
  double value = 0;
  auto const [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc{} || end != text.data() + text.size())
    at.refuse(shortened(at.value()) + " is not a number", "write the file with NVBench");
  return value;
}

/// What is null or absent in NVBench's lists is empty.
std::size_t count_in(place const& at, char const* key) {
  if (!at.states(key)) return 0;
  (at / key).must_be_list();
  return at.value().at(key).size();
}

std::map<std::int64_t, device_of> read_devices(place const& root) {
  std::map<std::int64_t, device_of> all;
  for (std::size_t i = 0; i < count_in(root, "devices"); ++i) {
    auto const at = root / "devices" / i;
    device_of one{(at / "name").text(), {}};
    if (at.states("global_memory_bus_bandwidth")) {
      double const peak = (at / "global_memory_bus_bandwidth").number();
      if (std::isfinite(peak) && peak > 0) one.peak_bytes_per_second = peak;
    }
    all[static_cast<std::int64_t>((at / "id").number())] = one;
  }
  return all;
}

/// The value of the first summary with one of these tags.
std::optional<place> summary(place const& state, std::initializer_list<char const*> tags) {
  for (auto const* tag : tags)
    for (std::size_t i = 0; i < count_in(state, "summaries"); ++i) {
      auto const at = state / "summaries" / i;
      if ((at / "tag").text() != tag) continue;
      for (std::size_t k = 0; k < count_in(at, "data"); ++k)
        if (auto const datum = at / "data" / k; (datum / "name").text() == "value")
          return datum / "value";
    }
  return std::nullopt;
}

parameters read_axes(place const& state) {
  parameters values;
  for (std::size_t i = 0; i < count_in(state, "axis_values"); ++i) {
    auto const at = state / "axis_values" / i;
    auto const value = at / "value";
    values[(at / "name").text()] =
        value.value().is_string() ? value.value().get<std::string>() : value.value().dump();
  }
  return values;
}

/// NVBench skips a benchmark that threw, too.
void read_skip(place const& state, external_benchmark& to) {
  auto const why =
      state.states("skip_reason") ? (state / "skip_reason").text() : std::string("no reason given");
  (why.starts_with("Unexpected error") ? to.failure : to.skipped) = why;
}

external_benchmark read_state(place const& bench, place const& state,
                              std::map<std::int64_t, device_of> const& devices) {
  external_benchmark one;
  one.name = one.full_name = (bench / "name").text();
  one.values = read_axes(state);
  one.where = state.origin() + ": " + state.pointer();
  if (state.states("device")) {
    auto const id = static_cast<std::int64_t>((state / "device").number());
    auto const found = devices.find(id);
    if (found == devices.end())
      (state / "device").refuse("is none of /devices", "write the file with NVBench");
    one.device = found->second.name;
    one.device_index = id;
    one.peak_bytes_per_second = found->second.peak_bytes_per_second;
  }
  if (state.has("is_skipped") && state.value().at("is_skipped") == true) {
    read_skip(state, one);
    return one;
  }
  if (auto const time = summary(state, {"nv/cold/time/gpu/mean", "nv/cpu_only/time/cpu/mean"}))
    add_value(number_of(*time), "the mean time", 1, one.seconds, one.failure);
  if (auto const rate = summary(state, {rate_tag}))
    add_value(number_of(*rate), rate_tag, 1, one.rates, one.failure);
  else
    one.why_no_rate =
        "it counts no bytes; call state.add_global_memory_reads() or ..._writes() in the benchmark";
  if (auto const size = summary(state, {"nv/cold/sample_size", "nv/cold/time/gpu/sample_size"}))
    one.notes.push_back(
        fmt::format("each value is NVBench's mean of {} samples",
                    size->value().is_string() ? size->text() : size->value().dump()));
  return one;
}

}  // namespace

void add_value(double value, std::string const& name, double base, std::vector<double>& to,
               std::string& failure) {
  if (std::isfinite(value) && value > 0)
    to.push_back(value * base);
  else if (failure.empty())
    failure = fmt::format("{} is {}: nothing was measured", name, value);
}

std::vector<external_benchmark> read_nvbench(place const& root) {
  auto const devices = read_devices(root);
  std::vector<external_benchmark> all;
  for (std::size_t i = 0; i < count_in(root, "benchmarks"); ++i) {
    auto const bench = root / "benchmarks" / i;
    for (std::size_t k = 0; k < count_in(bench, "states"); ++k) {
      auto const state = bench / "states" / k;
      if (state.states("summaries") && state.value().at("summaries").is_object())
        (state / "summaries")
            .refuse("is an object, as NVBench wrote it before its JSON format 1",
                    "use a newer NVBench");
      auto one = read_state(bench, state, devices);
      if (std::any_of(all.begin(), all.end(),
                      [&](auto const& other) { return one.same_as(other); }))
        state.refuse("a second state of \"" + one.name + "\" with the same axes and device",
                     "give each run a file of its own");
      all.push_back(std::move(one));
    }
  }
  return all;
}

}  // namespace bandgate
