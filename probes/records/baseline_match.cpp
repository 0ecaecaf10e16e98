// SPDX-License-Identifier: Apache-2.0
#include "records/baseline_match.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <cmath>

#include "records/board_parts.hpp"

namespace bandgate {
namespace {

/// 5 %: drivers keep a part of the memory for themselves (an H200 of 141 GiB reports 140.4), while
/// no two models of one PCI id are that close.
bool memory_fits(double actual_gib, double stated_gib) {
  return std::abs(actual_gib - stated_gib) <= 0.05 * stated_gib;
}

bool memory_fits(double actual_gib, std::vector<double> const& stated_gib) {
  return stated_gib.empty() || std::any_of(stated_gib.begin(), stated_gib.end(), [&](double gib) {
           return memory_fits(actual_gib, gib);
         });
}

std::string text_of(std::vector<double> const& gib) {
  return fmt::format("{} GiB", fmt::join(gib, " or "));
}

/// Unknown on either side contradicts nothing.
bool contradicts(std::string const& stated, std::string const& actual) {
  return !stated.empty() && !actual.empty() && stated != actual;
}

closeness level_of(baseline_key const& key, device_identity const& device) {
  if (key.pci_subsystem.empty() || device.pci_subsystem.empty()) return closeness::device;
  if (key.board_part.empty() || device.board_part.empty()) return closeness::subsystem;
  return closeness::board_part;
}

file_fit fit_by_key(baseline_file const& file, device_identity const& device) {
  file_fit best;
  for (auto const& key : file.match) {
    if (key.pci_device != device.pci_device) continue;
    if (contradicts(key.pci_subsystem, device.pci_subsystem))
      best.but = "is for subsystem " + key.pci_subsystem;
    else if (contradicts(key.board_part, device.board_part))
      best.but = "is for board part " + key.board_part;
    else
      best.level = std::max(best.level, level_of(key, device));
  }
  return best;
}

bool named_by_alias(baseline_file const& file, device_identity const& device) {
  auto const name = normalized_name(baseline_name(device));
  return !name.empty() &&
         std::any_of(file.aliases.begin(), file.aliases.end(),
                     [&](std::string const& alias) { return normalized_name(alias) == name; });
}

/// What the file states of the card's set-up and the device contradicts.
std::string difference(baseline_file const& file, device_identity const& device) {
  if (file.mig != device.mig_profile)
    return file.mig.empty() ? "is for the whole card" : "is for MIG profile " + file.mig;
  if (file.ecc && device.ecc && *file.ecc != *device.ecc)
    return *file.ecc ? "is for ECC on" : "is for ECC off";
  if (device.memory_bytes && !memory_fits(in_gib(*device.memory_bytes), file.memory_gib))
    return "is for " + text_of(file.memory_gib);
  return "";
}

bool is_whole_gpu(device_identity const& device) {
  return device.backend != "host" && device.mig_profile.empty();
}

bool is_ratio(baseline_entry const& entry) {
  return !entry.relative_to.empty() && entry.relative_to != "median";
}

bool overlap(std::vector<double> const& a, std::vector<double> const& b) {
  return a.empty() || std::any_of(a.begin(), a.end(), [&](double gib) {
           return memory_fits(gib, b) || std::any_of(b.begin(), b.end(), [&](double other) {
                    return memory_fits(other, gib);
                  });
         });
}

}  // namespace

file_fit fit(baseline_file const& file, device_identity const& device) {
  file_fit best;
  if (file.generic) {
    if (!is_whole_gpu(device) && std::any_of(file.entries.begin(), file.entries.end(), is_ratio))
      return {closeness::generic, ""};
    if (device.backend != "host") best.level = closeness::generic;
  } else {
    best = fit_by_key(file, device);
    if (best.level == closeness::none && best.but.empty() && named_by_alias(file, device))
      best.level = closeness::alias;
  }
  if (best.level == closeness::none) return best;
  auto const differs = difference(file, device);
  if (!differs.empty()) return {closeness::none, differs};
  return {best.level, ""};
}

bool holds_for(baseline_entry const& entry, closeness level, device_identity const& device) {
  return level != closeness::generic || is_whole_gpu(device) || is_ratio(entry);
}

device_identity model_of(device_identity device) {
  device.pci_subsystem.clear();
  device.board_part.clear();
  return device;
}

std::optional<std::string> shared_claim(baseline_file const& a, baseline_file const& b) {
  if (a.mig != b.mig || (a.ecc && b.ecc && *a.ecc != *b.ecc)) return std::nullopt;
  if (!overlap(a.memory_gib, b.memory_gib)) return std::nullopt;
  for (auto const& one : a.match)
    for (auto const& other : b.match)
      if (one.pci_device == other.pci_device && one.pci_subsystem == other.pci_subsystem &&
          one.board_part == other.board_part)
        return one.pci_device + (one.pci_subsystem.empty() ? "" : " " + one.pci_subsystem) +
               (one.board_part.empty() ? "" : " " + one.board_part);
  for (auto const& one : a.aliases)
    for (auto const& other : b.aliases)
      if (normalized_name(one) == normalized_name(other)) return "the name \"" + other + "\"";
  return std::nullopt;
}

std::optional<baseline_entry> entry_for(baseline_file const& file, std::string const& probe,
                                        parameters const& values, std::string const& card,
                                        std::string const& board_part) {
  std::vector<baseline_entry const*> fitting;
  for (auto const& entry : file.entries)
    if (entry.probe == probe && entry.parameters == values && entry.card == card &&
        !contradicts(entry.board_part, board_part))
      fitting.push_back(&entry);
  if (fitting.empty()) return std::nullopt;
  if (board_part.empty())
    if (auto all = joined(fitting)) return all;
  // Its own board part's, then any board part's, then (board part unknown) the first of another.
  auto const rank = [&](baseline_entry const* entry) {
    return entry->board_part.empty() ? 1 : board_part.empty() ? 2 : 0;
  };
  return **std::min_element(fitting.begin(), fitting.end(),
                            [&](auto const* a, auto const* b) { return rank(a) < rank(b); });
}

}  // namespace bandgate
