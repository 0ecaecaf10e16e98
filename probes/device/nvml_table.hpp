// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
#include <optional>
#include <vector>

#include "device/nvml.hpp"
#include "device/nvml_symbols.hpp"

namespace bandgate {

struct nvml::table {
  explicit table(std::string const& library_name);
  ~table();
  table(table const&) = delete;
  table& operator=(table const&) = delete;

  std::string why;  ///< not available; empty where it is
  nvml_symbols symbols;
  std::mutex mutable guard;  ///< one call at a time: of some drivers, only some are thread-safe
};

/// A device as NVML has it.
struct nvml_device {
  nvml_abi::device itself{};
  nvml_abi::device card{};  ///< itself, or the card that a MIG instance is part of
  std::string why;          ///< not found; empty where it was
  bool lost{};              ///< not found because it fell off the bus or waits for a reset
};
/// By UUID, else by PCI address: NVML's own order is not CUDA's.
nvml_device find_device(nvml_symbols const& symbols, device_identity const& wanted);

struct raw_process {
  std::uint64_t pid{};
  std::optional<std::uint64_t> memory_bytes;
};
/// MPS clients included, each process once.
std::vector<raw_process> compute_processes(nvml_symbols const& symbols, nvml_abi::device device);

/// "1g.18gb" of "NVIDIA H200 MIG 1g.18gb"; empty for a whole card.
std::string profile_in(std::string const& name);

std::optional<std::uint64_t> memory_bytes(nvml_symbols const& symbols, nvml_abi::device itself);

}  // namespace bandgate
