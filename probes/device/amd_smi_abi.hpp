// SPDX-License-Identifier: Apache-2.0
/// The part of amd_smi's binary interface that is used here, declared anew so that no ROCm is
/// needed to build: names, values and layouts of amd_smi/amdsmi.h of ROCm 7.0.2 (library version
/// 26), which version 27 (compared with 27.1) keeps. Earlier libraries lay several of these out
/// differently, later ones may, and neither are asked.
#pragma once

#include <cstdint>

namespace bandgate::amd_smi_abi {

constexpr std::uint32_t oldest_major = 26;
constexpr std::uint32_t newest_major = 27;
constexpr std::uint64_t init_gpus = 2;

struct processor_handle;
using processor = processor_handle*;

enum clock : std::uint32_t { clock_graphics = 0, clock_memory = 4 };
enum sensor : std::uint32_t { sensor_junction = 1, sensor_memory = 2 };
enum metric : std::uint32_t { metric_current = 0, metric_critical = 5 };
enum link_state : std::uint32_t { link_down = 0, link_up = 1, link_disabled = 2 };
constexpr std::uint32_t page_pending = 1;
constexpr unsigned most_links = 8;

struct version {
  std::uint32_t major, minor, release;
  char const* build;
};
struct clock_info {
  std::uint32_t mhz, mhz_min, mhz_max;
  std::uint8_t locked, deep_sleep;
  std::uint32_t reserved[4];
};
struct power_info {
  std::uint64_t socket_w;
  std::uint32_t current_w, average_w;
  std::uint64_t graphics_mv, soc_mv, memory_mv;
  std::uint32_t limit_w;
  std::uint64_t reserved[18];
};
struct power_cap {
  std::uint64_t cap_uw, default_uw, dpm, least_uw, most_uw;
  std::uint64_t reserved[3];
};
struct activity {
  std::uint32_t graphics, memory, media;  ///< percent
  std::uint32_t reserved[13];
};
struct pcie_info {
  struct {
    std::uint16_t width_max;
    std::uint32_t speed_max_mts, interface_version, slot, interface_version_max;
    std::uint64_t reserved[9];
  } fixed;
  struct {
    std::uint16_t width;
    std::uint32_t speed_mts, bandwidth;
    std::uint64_t replays, recoveries, replay_rollovers, naks_sent, naks_received;
    std::uint32_t other_end_recoveries;
    std::uint64_t reserved[12];
  } now;
  std::uint64_t reserved[32];
};
struct error_count {
  std::uint64_t corrected, uncorrected, deferred;
  std::uint64_t reserved[5];
};
struct retired_page {
  std::uint64_t address, size;
  std::uint32_t status;
};
struct memory_use {
  std::uint32_t total_mib, used_mib;
  std::uint32_t reserved[2];
};
struct links {
  std::uint32_t count;
  std::uint32_t state[most_links];
  std::uint64_t reserved[7];
};
struct board {
  char model[256], serial[256], fru[256], product[256], manufacturer[256];
  std::uint64_t reserved[64];
};
struct process {
  char name[256];
  std::uint32_t pid;
  std::uint64_t memory_bytes;
  struct {
    std::uint64_t graphics, encoder;
    std::uint32_t reserved[12];
  } engines;
  struct {
    std::uint64_t gtt, cpu, vram;
    std::uint32_t reserved[10];
  } memory;
  char container[256];
  std::uint32_t cu_occupancy;
  std::uint32_t reserved[11];
};

using init_call = int(std::uint64_t);
using end_call = int();
using version_call = int(version*);
/// The address: domain << 16 | bus << 8 | device << 3 | function.
using by_address_call = int(std::uint64_t, processor*);
template <class T>
using info_call = int(processor, T*);
using clock_call = int(processor, std::uint32_t, clock_info*);
using temperature_call = int(processor, std::uint32_t, std::uint32_t, std::int64_t*);
using power_cap_call = int(processor, std::uint32_t, power_cap*);
template <class T>
using list_call = int(processor, std::uint32_t*, T*);

}  // namespace bandgate::amd_smi_abi
