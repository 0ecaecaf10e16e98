// SPDX-License-Identifier: Apache-2.0
/// The part of NVML's binary interface that is used here, declared anew so that no toolkit is
/// needed to build: names, values and layouts are those of nvml.h (NVML API reference; compared
/// with the headers of CUDA 12.9 and 13.0, and by a test wherever nvml.h is installed).
#pragma once

namespace bandgate::nvml_abi {

struct device_handle;
using device = device_handle*;

enum code : int {
  success = 0,
  uninitialized = 1,
  invalid_argument = 2,
  not_supported = 3,
  no_permission = 4,
  not_found = 6,
  insufficient_size = 7,
  insufficient_power = 8,
  driver_not_loaded = 9,
  timeout = 10,
  irq_issue = 11,
  library_not_found = 12,
  function_not_found = 13,
  corrupted_inforom = 14,
  gpu_is_lost = 15,
  reset_required = 16,
  operating_system = 17,
  version_mismatch = 18,
  in_use = 19,
  out_of_memory = 20,
  no_data = 21,
  unknown = 999,
};

enum clock : int { clock_sm = 1, clock_memory = 2 };
constexpr int temperature_gpu = 0;
constexpr int memory_error_uncorrected = 1;
constexpr int ecc_volatile = 0;

/// What 64-bit memory fields hold where the driver does not know.
constexpr unsigned long long not_available = ~0ULL;

struct utilization {
  unsigned gpu;  ///< percent of the last sample period in which a kernel ran
  unsigned memory;
};

/// Versions 1 and 2 of the call fill a prefix: the ids stand at the same place in all.
struct pci_info {
  char bus_id_legacy[16];
  unsigned domain, bus, device;
  unsigned device_id;  ///< device << 16 | vendor
  unsigned subsystem_id;
  char bus_id[32];
};

struct process_v1 {
  unsigned pid;
  unsigned long long used_memory;
};
struct process_v2 {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
};
/// Drivers 535.43 to 535.86 write this where nvmlProcessInfo_v2_t is promised.
struct process_wide {
  unsigned pid;
  unsigned long long used_memory;
  unsigned gpu_instance, compute_instance;
  unsigned long long protected_memory;
};

struct process_sample {
  unsigned pid;
  unsigned long long time_us;             ///< since 1970
  unsigned sm, memory, encoder, decoder;  ///< percent
};

using no_arguments = code();
using text_of_system = code(char*, unsigned);
using text_of_process = code(unsigned, char*, unsigned);
using handle_by_text = code(char const*, device*);
using device_of_device = code(device, device*);
using text_of_device = code(device, char*, unsigned);
using number_of_device = code(device, unsigned*);
using enum_of_device = code(device, int*);
using mask_of_device = code(device, unsigned long long*);
using two_enums_of_device = code(device, int*, int*);
using two_numbers_of_device = code(device, unsigned*, unsigned*);
using four_numbers_of_device = code(device, unsigned*, unsigned*, unsigned*, unsigned*);
using number_of_device_by_kind = code(device, int, unsigned*);
using count_of_errors = code(device, int, int, unsigned long long*);
using utilization_of_device = code(device, utilization*);
using pci_of_device = code(device, pci_info*);
using processes_of_device = code(device, unsigned*, void*);
using samples_of_device = code(device, process_sample*, unsigned*, unsigned long long);

}  // namespace bandgate::nvml_abi
