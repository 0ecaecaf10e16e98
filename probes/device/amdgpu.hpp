// SPDX-License-Identifier: Apache-2.0
/// What Linux says of AMD's GPUs and their driver. Every function takes the root of the file
/// system, so that tests lay out machines of their own.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>

namespace bandgate {

/// Whether the driver's node for computing is there.
bool kfd_present(std::filesystem::path const& root = "/");

/// "6.10.5" of AMD's own package; else that of the kernel, with which it comes: "Linux 6.8.0-45".
/// Empty where the driver is not loaded.
std::string amdgpu_version(std::filesystem::path const& root = "/");

/// "CPX/NPS4" for a card that is split into partitions of its processors or its memory; empty for a
/// whole one (SPX/NPS1), and where there is no such thing.
std::string amd_partition(std::string const& pci_address, std::filesystem::path const& root = "/");

/// The largest cache of the last level, in bytes, that the driver describes of the GPU at that
/// address: Infinity Cache where there is one. HIP knows the second level alone, and of an MI300X
/// one eighth of that.
std::optional<std::uint64_t> kfd_last_level_cache(std::string const& pci_address,
                                                  std::filesystem::path const& root = "/");

}  // namespace bandgate
