// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <optional>
#include <string>

#include <bandgate/parameter.hpp>
#include <bandgate/units.hpp>

namespace bandgate {

/// Where a reference comes from.
struct provenance {
  std::string kind;    ///< "measured", "published", "peak-fraction"
  std::string source;  ///< of a published figure
  std::optional<unsigned> cards, processes;
  std::string driver, date, tool, note;
};

/// What this platform has by design, where that is less than what card and slot could do.
struct expectations {
  std::optional<bool> ecc;
  std::optional<unsigned> pcie_generation, pcie_width, nvlinks;
  std::optional<double> power_limit_w;
};

/// One line of a baseline: a probe's reference and its tolerance. Read from a file by records/,
/// judged by gate/.
struct baseline_entry {
  std::string file;     ///< where it was read
  std::string pointer;  ///< JSON pointer of the entry in that file
  std::string probe;
  bandgate::parameters parameters;  ///< completed with the probe's defaults
  std::string statistic{"median"};
  std::optional<bandgate::unit> unit;  ///< none: "peak", a share of the device's own peak
  /// A probe of the same process, or "median": of the same series. `value` is the ratio.
  std::string relative_to;
  double value{};               ///< in `unit`
  double lower{};               ///< relative, in (-1, 0)
  std::optional<double> upper;  ///< relative, > 0
  std::string card;             ///< UUID; empty: the model's entry
  std::string board_part;       ///< the only board part it holds for; empty: any
  bool generic{};
  std::optional<bool> ecc;          ///< as the file states it
  bandgate::expectations expected;  ///< of the file
  std::optional<double> model_peak_bytes_per_second;
  bandgate::provenance provenance;
};

/// What applies to one (device, probe, parameters): both must hold where both are there.
struct baseline_match {
  std::optional<baseline_entry> model;
  std::optional<baseline_entry> card;
  std::string looked_in;  ///< for "no baseline": the folders and the key that were searched
};

}  // namespace bandgate
