// SPDX-License-Identifier: Apache-2.0
// A main() of its own: Google Benchmark's exits with 0 when a benchmark failed or none matched.
#include <unistd.h>

#include <cstdio>
#include <cstring>
#include <exception>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include <benchmark/benchmark.h>

#include "gbench/benchmarks.hpp"
#include "gbench/options.hpp"
#include "runner/backends.hpp"
#include "runner/worker.hpp"

namespace {

using namespace bandgate;

/// As of the command `bandgate`.
enum exit_code { ok = 0, usage = 2, failed = 3, not_judged = 4, skipped = 77 };

std::map<std::string, std::string> read_environment() {
  std::map<std::string, std::string> all;
  for (char** entry = environ; *entry != nullptr; ++entry)
    if (char const* equals = std::strchr(*entry, '='))
      all[std::string(*entry, static_cast<std::size_t>(equals - *entry))] = equals + 1;
  return all;
}

int run_benchmarks(session* device, std::vector<std::string> rest, std::string const& program) {
  std::vector<char*> arguments;
  for (auto& argument : rest) arguments.push_back(argument.data());
  int count = static_cast<int>(arguments.size());
  arguments.push_back(nullptr);
  benchmark::Initialize(&count, arguments.data());
  if (benchmark::ReportUnrecognizedArguments(count, arguments.data())) return usage;
  gbench::outcome counted;
  gbench::register_catalog(device, counted);
  if (device != nullptr) gbench::add_context(device->identity());
  auto const matched = benchmark::RunSpecifiedBenchmarks();
  benchmark::Shutdown();
  if (matched == 0) {
    std::fprintf(stderr, "%s: the filter matches no benchmark; see --benchmark_list_tests\n",
                 program.c_str());
    return usage;
  }
  // Output that nobody received must not look like success.
  if (!std::cout.flush() || std::fflush(stdout) != 0) {
    std::fprintf(stderr, "%s: cannot write standard output\n", program.c_str());
    return usage;
  }
  if (device == nullptr) return ok;
  if (counted.failed != 0) return failed;
  return counted.measured == 0 ? skipped : ok;
}

int program(std::vector<std::string> const& arguments) {
  auto const environment = read_environment();
  auto const options = gbench::read_options(arguments, environment);
  if (options.lists) return run_benchmarks(nullptr, options.rest, arguments.front());
  auto const libraries = environment.find("LD_LIBRARY_PATH");
  auto const gpus = look_for_gpus("/", libraries == environment.end() ? "" : libraries->second);
  auto const source =
      make_backend(chosen_backend(options.backend, gpus), options_from(environment));
  auto const listed = source->devices();
  bool configuration = false;
  for (auto const& problem : listed.problems) {
    std::fprintf(stderr, "bandgate_bench: %s: %s\n", problem.code.c_str(), problem.message.c_str());
    configuration |= problem.usage;
  }
  if (listed.devices.empty() && configuration) return usage;
  if (listed.devices.empty() && listed.problems.empty()) {
    std::fprintf(stderr, "bandgate_bench: skipped: no device on this machine\n");
    return skipped;
  }
  auto const device = source->open(select_device(listed, options.device), {});
  auto const code = run_benchmarks(device.get(), options.rest, arguments.front());
  return code == ok && !listed.problems.empty() ? failed : code;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return program({argv, argv + argc});
  } catch (measurement_error const& e) {
    std::fprintf(stderr, "bandgate_bench: %s\n", e.what());
    return e.code() == failure::exclusively_held ? not_judged : failed;
  } catch (std::exception const& e) {
    std::fprintf(stderr, "bandgate_bench: %s\n", e.what());
    return usage;
  }
}
