// SPDX-License-Identifier: Apache-2.0
#pragma once

#include <mutex>
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
};
/// By UUID, else by PCI address: NVML's own order is not CUDA's.
nvml_device find_device(nvml_symbols const& symbols, device_identity const& wanted);

struct raw_process {
  std::uint64_t pid{};
  std::optional<std::uint64_t> memory_bytes;
};
std::vector<raw_process> compute_processes(nvml_symbols const& symbols, nvml_abi::device device);

}  // namespace bandgate
