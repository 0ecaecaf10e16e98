// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include <bandgate/baseline.hpp>
#include <bandgate/probe.hpp>
#include <bandgate/result.hpp>

namespace bandgate {

/// What identifies the devices that one file speaks of.
struct baseline_key {
  std::string pci_device, pci_subsystem, board_part;  ///< empty: any
};

struct baseline_file {
  std::string origin;  ///< path, or "built-in:nvidia-h200.json"
  std::string model;
  std::vector<baseline_key> match;
  std::vector<std::string> aliases;
  std::vector<double> memory_gib;  ///< empty: any; else one of these within 5 %
  std::optional<double> peak_gb_s;
  std::optional<bool> ecc;
  std::string mig;      ///< profile; empty: the whole card
  bool generic{};       ///< the floors for models that nobody has measured
  std::vector<baseline_entry> entries;
};

/// Parses and checks one file against the schema and the rules that a schema cannot state. Throws
/// usage_error "FILE: /entries/0/value: reason; remedy". `probes` completes parameters; an entry of
/// a probe that is not among them is kept and named in `warnings`.
baseline_file parse_baseline(std::string const& text, std::string const& origin,
                             std::vector<probe> const& probes, std::vector<std::string>& warnings);
baseline_file read_baseline(std::filesystem::path const& file, std::vector<probe> const& probes,
                            std::vector<std::string>& warnings);

/// All baselines in search order: the given folders first, the shipped (built-in) ones last.
class baseline_library {
 public:
  /// Each of `where` is a folder of *.json or one file. Throws usage_error: missing, a bad file, two
  /// files of one folder claiming a device.
  baseline_library(std::vector<std::filesystem::path> const& where,
                   std::vector<probe> const& probes);

  /// The first matching model entry and the first matching card entry.
  baseline_match find(device_identity const& device, probe const& what,
                      parameters const& values) const;

  std::vector<baseline_file> const& files() const noexcept { return files_; }
  std::vector<std::string> const& warnings() const noexcept { return warnings_; }

 private:
  std::vector<baseline_file> files_;
  std::vector<std::string> warnings_;
};

/// Lower case, single spaces, without "NVIDIA", "Tesla", "GeForce", "(TM)", "(R)".
std::string normalized_name(std::string const& name);

/// A file name for any model name: [a-z0-9-], at most 64 characters, never empty.
std::string file_name_for(std::string const& model);

/// Values for one probe from `baseline record`: per card, the medians of its fresh processes.
struct recorded_probe {
  probe const* what{};
  bandgate::parameters values;
  std::vector<std::vector<double>> medians_by_card;  ///< bytes per second or seconds
  std::vector<std::string> cards;                    ///< UUIDs, same order
};

/// Reference = median of card medians. Tolerance = max(1 %, 6 sd, 1.5 x the probe's declared spread
/// when fewer than 3 cards). `card`: the entry of that single card, tolerance max(0.5 %, 6 sd).
baseline_entry make_entry(recorded_probe const& seen, std::optional<std::size_t> card,
                          provenance const& origin);

/// `existing` (JSON text of a file, or empty) with these entries added or replaced; everything else
/// in it is kept. The result is a valid baseline file for `device`'s model.
std::string merge_baseline(std::string const& existing, device_identity const& device,
                           std::vector<baseline_entry> const& entries,
                           std::vector<probe> const& probes);

}  // namespace bandgate
