// SPDX-License-Identifier: Apache-2.0
/// Which file speaks of which device. Internal to records/.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

#include "records/baselines.hpp"

namespace bandgate {

/// How closely a file names a device; a closer one of the same folder wins.
enum class closeness { none, generic, alias, device, subsystem, board_part };

struct file_fit {
  closeness level{closeness::none};
  std::string but;  ///< level none although key or name fit: what differs ("is for ECC on")
};

/// What the device does not know about itself excludes nothing; what contradicts does, and no alias
/// overrides it: an H200 of one board part is not judged by a file for another.
file_fit fit(baseline_file const& file, device_identity const& device);

/// Whether an entry of a file that fits so holds for the device: a share of a peak is that of a
/// whole GPU, a ratio to another probe holds wherever both run.
bool holds_for(baseline_entry const& entry, closeness level, device_identity const& device);

/// The device as far as its model goes: the board parts and subsystems of a model share a file.
device_identity model_of(device_identity device);

/// The key or name by which two files would claim one device, if there is one.
std::optional<std::string> shared_claim(baseline_file const& a, baseline_file const& b);

/// The entry of `file` for that probe, those (complete) parameters and that card (empty: the
/// model's): the one of the device's own board part before the one of any; of a device whose board
/// part is not known (empty) all of them joined.
std::optional<baseline_entry> entry_for(baseline_file const& file, std::string const& probe,
                                        parameters const& values, std::string const& card,
                                        std::string const& board_part);

/// Memory as baseline files state it.
constexpr double in_gib(std::uint64_t bytes) {
  return static_cast<double>(bytes) / 1073741824.0;
}

/// All *.json of a folder, sorted by name, or the one file.
std::vector<baseline_file> read_folder(std::filesystem::path const& where,
                                       std::vector<probe> const& probes,
                                       std::vector<std::string>& warnings);

}  // namespace bandgate
