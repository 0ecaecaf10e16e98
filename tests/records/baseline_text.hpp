// SPDX-License-Identifier: Apache-2.0
/// One good baseline file that tests of reading change in places.
#pragma once

#include "records/baseline_fixture.hpp"

namespace bandgate::testing {

inline constexpr char const* gpu_a = R"("aliases": ["A"], "peak_gb_s": 4814.3)";

inline baseline_file parsed(std::string const& text) {
  std::vector<std::string> warnings;
  return parse_baseline(text, "site/a.json", probes(), warnings);
}
inline std::string refused(std::string const& text) {
  return error_of([&] { parsed(text); });
}

/// A file with one entry of which some text is replaced.
inline std::string changed(std::string const& from, std::string const& to) {
  std::string text = file(gpu_a, R"({"probe": "read", "parameters": {}, "statistic": "median",
    "unit": "GiB/s", "value": 4302, "tolerance": {"lower": -0.01, "upper": 0.02},
    "provenance": {"kind": "measured", "cards": 1, "processes": 10, "driver": "580.159.04",
                   "date": "2026-11-29", "tool": "0.1.0"}})");
  auto const at = text.find(from);
  if (at == std::string::npos) throw std::logic_error("no " + from);
  return text.replace(at, from.size(), to);
}

inline std::string with_entries(std::string const& entries) {
  return file(gpu_a, entries);
}
inline std::string with_gpu(std::string const& gpu) {
  return file(gpu, "");
}
inline std::string const value_of = R"("value": 4302)", lower_of = R"("lower": -0.01)",
                         upper_of = R"("upper": 0.02)", unit_of = R"("unit": "GiB/s")",
                         kind_of = R"("kind": "measured")";

}  // namespace bandgate::testing
