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

/// What identifies the devices that one file speaks of. Lower case.
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
  std::string mig;  ///< profile; empty: the whole card
  bool generic{};   ///< `_generic.json`: the floors for models that nobody has measured
  bandgate::expectations expected;  ///< what these devices have by design
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
  /// Each of `where` is a folder of *.json or one file. Throws usage_error: missing, a bad file,
  /// two files of one folder claiming a device.
  baseline_library(std::vector<std::filesystem::path> const& where,
                   std::vector<probe> const& probes);

  /// The first matching model entry and the first matching card entry, each searched by itself:
  /// folder by folder, within a folder the file that names the device most closely; the generic
  /// entries last: for a host or a MIG slice those alone that are relative to another probe.
  baseline_match find(device_identity const& device, probe const& what,
                      parameters const& values) const;

  /// The other probes that entries for this one are relative to, of every file that may speak of
  /// the device: what the process that measures it has to measure, too.
  std::vector<std::string> relative_to(device_identity const& device, probe const& what,
                                       parameters const& values) const;

  /// What a device has by design: each expectation by itself, as the first file that fits the
  /// device and states it. The entries that `find` gives carry the same.
  bandgate::expectations expectations_of(device_identity const& device) const;

  std::vector<baseline_file> const& files() const noexcept { return files_; }
  std::vector<std::string> const& warnings() const noexcept { return warnings_; }

 private:
  void add(std::string folder, std::vector<baseline_file> files);

  std::vector<baseline_file> files_;
  std::vector<std::size_t> folder_of_;  ///< by file: its place in `folders_`
  std::vector<std::string> folders_;
  std::vector<std::string> warnings_;
};

/// Lower case (of ASCII, whatever the locale), single spaces, without "(TM)" and "(R)" and without
/// "NVIDIA", "Tesla", "GeForce" in front.
std::string normalized_name(std::string const& name);

/// The name that aliases are compared with: the device's; of a host the CPU model and its number of
/// hardware threads, so that a small virtual machine and a large server never share a baseline.
std::string baseline_name(device_identity const& device);

/// A file name (without ".json") for any model name: [a-z0-9-], at most 64 characters, never empty.
std::string file_name_for(std::string const& model);

/// The file of `folder` to record this device in: the one that speaks of it already, else a free
/// name made from the model. Reads the folder; throws usage_error for a bad file in it.
std::filesystem::path recording_path(std::filesystem::path const& folder,
                                     device_identity const& device,
                                     std::vector<probe> const& probes);

/// Values for one probe from `baseline record`: per card, those that its fresh processes are judged
/// by. That is the median; of a series over time its worst window; of a map its slowest slice as a
/// share of the median.
struct recorded_probe {
  probe const* what{};
  bandgate::parameters values;
  std::vector<std::vector<double>> medians_by_card;  ///< bytes per second, seconds, or shares
  std::vector<std::string> cards;                    ///< UUIDs, same order
  bool one_board_part{};  ///< all of one known board part, for which alone the entry will hold
};

/// Reference = median of card medians. Tolerance = max(1 %, 6 sd, 1.5 x the probe's declared spread
/// when fewer than 3 cards; of a quarter of it for probes of the memory on one board part). `card`:
/// the entry of that single card, tolerance max(0.5 %, 6 sd). sd is that of the fresh processes of
/// one card, the noisiest. Throws usage_error when there is nothing to learn from: no value, one
/// that is not positive, a tolerance of 100 % or more. The statistic is "worst" where a probe
/// measures in parts, and of a map it is "relative_to" "median".
baseline_entry make_entry(recorded_probe const& seen, std::optional<std::size_t> card,
                          provenance const& origin);

/// The part of a model's tolerance that allows for cards that were not seen; 0 from three cards on.
double tolerance_for_other_cards(recorded_probe const& seen);

/// `existing` (JSON text of a file, or empty) with these entries added or replaced; everything else
/// in it is kept. The result is a valid baseline file for `device`'s model. A file that began with
/// another board part gets the device's key, and entries for that board part alone. Throws
/// usage_error when `existing` is bad or speaks of another model.
std::string merge_baseline(std::string const& existing, device_identity const& device,
                           std::vector<baseline_entry> const& entries,
                           std::vector<probe> const& probes);

}  // namespace bandgate
