// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <map>
#include <string>
#include <vector>

namespace bandgate::gbench {

/// What the front end itself understands of a command line; the rest is Google Benchmark's.
struct options {
  std::string backend{"auto"};    ///< --bandgate_backend, else $BANDGATE_BACKEND
  std::string device{"0"};        ///< UUID, PCI address or index
  bool lists{};                   ///< --benchmark_list_tests: no device is opened
  std::vector<std::string> rest;  ///< what Google Benchmark is given, the program's name first
};

/// Throws usage_error for what would not do what it says: --benchmark_min_warmup_time (also as the
/// variable BENCHMARK_MIN_WARMUP_TIME) would run the whole protocol once more, unseen; a minimum
/// time has nothing to act on, since the protocol decides how long it samples.
options read_options(std::vector<std::string> const& arguments,
                     std::map<std::string, std::string> const& environment);

}  // namespace bandgate::gbench
