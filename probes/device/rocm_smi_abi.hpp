// SPDX-License-Identifier: Apache-2.0
/// The part of rocm_smi's binary interface that is used here, declared anew so that no ROCm is
/// needed to build: names, values and layouts of rocm_smi/rocm_smi.h of ROCm 5.2.3 and, where they
/// differ, of ROCm 6 (compared with 6.4).
#pragma once

#include <cstdint>

namespace bandgate::rocm_smi_abi {

enum clock : std::uint32_t { clock_graphics = 0, clock_memory = 4 };
enum sensor : std::uint32_t { sensor_junction = 1, sensor_memory = 2 };
enum metric : std::uint32_t { metric_current = 0, metric_critical = 5 };
constexpr std::uint32_t memory_vram = 0;
constexpr std::uint64_t block_umc = 1;  ///< the memory controllers
constexpr std::uint32_t page_pending = 1;

/// Hertz, and which of them it runs at.
struct frequencies_5 {
  std::uint32_t count, current;
  std::uint64_t hz[32];
};
struct frequencies_6 {
  bool deep_sleep;
  std::uint32_t count, current;
  std::uint64_t hz[33];
};
/// Room for either: a library does not say which it writes.
union frequencies {
  frequencies_5 before;
  frequencies_6 since;
};
struct error_count {
  std::uint64_t corrected, uncorrected;
  std::uint64_t later[6];  ///< that newer libraries write
};
struct retired_page {
  std::uint64_t address, size;
  std::uint32_t status;
};
struct process {
  std::uint32_t pid, pasid;
  std::uint64_t vram_bytes, sdma_us;
  std::uint32_t cu_occupancy;
};

using init_call = int(std::uint64_t);
using end_call = int();
using count_call = int(std::uint32_t*);
/// The address: domain << 32 | bus << 8 | device << 3 | function.
using number_call = int(std::uint32_t, std::uint64_t*);
using small_number_call = int(std::uint32_t, std::uint32_t*);
using frequency_call = int(std::uint32_t, std::uint32_t, frequencies*);
using temperature_call = int(std::uint32_t, std::uint32_t, std::uint32_t, std::int64_t*);
using power_call = int(std::uint32_t, std::uint64_t*, std::uint32_t*);
using number_of_sensor_call = int(std::uint32_t, std::uint32_t, std::uint64_t*);
using errors_call = int(std::uint32_t, std::uint64_t, error_count*);
using pages_call = int(std::uint32_t, std::uint32_t*, retired_page*);
using processes_call = int(process*, std::uint32_t*);
using devices_of_process_call = int(std::uint32_t, std::uint32_t*, std::uint32_t*);

}  // namespace bandgate::rocm_smi_abi
