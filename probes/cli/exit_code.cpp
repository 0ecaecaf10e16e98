// SPDX-License-Identifier: Apache-2.0
#include "cli/exit_code.hpp"

#include <algorithm>
#include <array>

namespace bandgate::cli {
namespace {

int code_of(status s, bool strict) {
  switch (s) {
    case status::pass:
    case status::improved:
    case status::measured:
      return ok;
    case status::regression:
      return regression_found;
    case status::error:
      return measurement_failed;
    case status::inconclusive:
      return not_judged;
    case status::no_baseline:
      return strict ? not_judged : skipped;
    case status::skipped:
      return skipped;
  }
  return measurement_failed;
}

}  // namespace

int exit_code(outcome const& of) {
  std::vector<int> codes;
  for (auto const s : of.finals) codes.push_back(code_of(s, of.strict));
  if (of.recording_failed || of.configuration_problem) codes.push_back(usage_failed);
  if (of.device_problem) codes.push_back(measurement_failed);
  for (int const code :
       std::array{measurement_failed, regression_found, usage_failed, not_judged, ok})
    if (std::find(codes.begin(), codes.end(), code) != codes.end()) return code;
  return of.strict ? not_judged : skipped;
}

}  // namespace bandgate::cli
