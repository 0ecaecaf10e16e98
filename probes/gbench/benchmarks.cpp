// SPDX-License-Identifier: Apache-2.0
#include "gbench/benchmarks.hpp"

#include <algorithm>

#include <benchmark/benchmark.h>

#include "runner/attempt.hpp"

namespace bandgate::gbench {
namespace {

using benchmark::Counter;

std::vector<task> all_tasks() {
  std::vector<task> tasks;
  for (auto const& p : registered_probes()) {
    tasks.push_back({&p, {}});
    for (auto const& member : p.suites) {
      task one{&p, member.parameters};
      // All peers of a device are many measurements; the default is one.
      bool const many = one.given.contains("peer");
      if (!many && std::find(tasks.begin(), tasks.end(), one) == tasks.end())
        tasks.push_back(std::move(one));
    }
  }
  return tasks;
}

double seconds_of_a_pass(measurement const& m) {
  return m.is_time ? m.median : static_cast<double>(m.bytes_per_pass) / m.median;
}

void count(benchmark::State& state, measurement const& m) {
  // SetBytesProcessed() would print GiB/s and call them "G/s"; here k is 1000.
  auto const rate = [](double value) {
    return Counter(value, Counter::kDefaults, Counter::OneK::kIs1000);
  };
  if (!m.is_time) {
    state.counters["bytes_per_second"] = rate(m.median);
    state.counters["peak_bytes_per_second"] = rate(m.peak);
  }
  if (m.cv) state.counters["cv"] = *m.cv;
  state.counters["samples"] = static_cast<double>(m.samples.size());
  state.counters["verified"] = m.verified ? 1 : 0;
  for (auto const& further : m.more) state.counters[further.name] = rate(further.value);
}

bool is_impossible(result const& r) {
  auto const& peak = r.device.peak_bytes_per_second;
  return r.probe.ceiling == "dram" && peak && r.measurement->peak > *peak;
}

void run_once(benchmark::State& state, task const& one, session& device, outcome& counted) {
  observer nobody;
  // Leaving the loop by anything but `break` after SkipWithError aborts the process.
  for ([[maybe_unused]] auto iteration : state) {
    std::string why;
    try {
      auto const r =
          measure_attempt(device, *one.what, complete(one.what->parameters, one.given), nobody);
      if (r.measurement && is_impossible(r)) {
        ++counted.failed;
        state.SkipWithError("above-ceiling: faster than the device's memory can be");
        break;
      }
      if (r.measurement) {
        state.SetIterationTime(seconds_of_a_pass(*r.measurement));
        count(state, *r.measurement);
        ++counted.measured;
        continue;
      }
      ++(r.failure ? counted.failed : counted.skipped);
      why = r.failure ? std::string(to_string(*r.failure)) + ": " + r.failure_message
                      : "skipped: " + r.skip_reason;
    } catch (std::exception const& e) {  // a plan that this device cannot have
      ++counted.failed;
      why = e.what();
    }
    state.SkipWithError(why.c_str());
    break;
  }
}

}  // namespace

std::string name_of(task const& one) {
  auto name = "bandgate/" + describe(one);
  std::replace(name.begin(), name.end(), ' ', '/');
  return name;
}

void register_catalog(session* device, outcome& counted) {
  for (auto const& one : all_tasks())
    benchmark::RegisterBenchmark(
        name_of(one).c_str(),
        [=, &counted](benchmark::State& state) { run_once(state, one, *device, counted); })
        ->UseManualTime()
        ->Iterations(1);
}

void add_context(device_identity const& device) {
  benchmark::AddCustomContext("bandgate_version", BANDGATE_VERSION);
  benchmark::AddCustomContext("device", device.name);
  benchmark::AddCustomContext("device_uuid", device.uuid);
  benchmark::AddCustomContext("device_pci_address", device.pci_address);
  benchmark::AddCustomContext("device_board_part", device.board_part);
  benchmark::AddCustomContext("driver_version", device.driver_version);
  benchmark::AddCustomContext("backend", device.backend);
}

}  // namespace bandgate::gbench
