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
  argument_version_mismatch = 25,
  not_ready = 27,
  gpu_not_found = 28,
  invalid_state = 29,
  unknown = 999,
};

enum clock : int { clock_sm = 1, clock_memory = 2 };
constexpr int temperature_gpu = 0;
enum threshold : int { threshold_slowdown = 1, threshold_memory_max = 2 };
enum memory_error : int { memory_error_corrected = 0, memory_error_uncorrected = 1 };
enum ecc_counter : int { ecc_volatile = 0, ecc_aggregate = 1 };
enum policy : int {
  policy_power = 0,
  policy_thermal = 1,
  policy_sync_boost = 2,
  policy_board_limit = 3,
  policy_reliability = 5,
};
enum link_error : int {
  link_error_replay = 0,
  link_error_recovery = 1,
  link_error_crc_flit = 2,
  link_error_crc_data = 3,
};
enum fabric_state : unsigned char {
  fabric_not_supported = 0,
  fabric_not_started = 1,
  fabric_in_progress = 2,
  fabric_completed = 3,
};
/// More than any card has; a link beyond the last is answered "invalid argument".
constexpr unsigned most_links = 36;

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

/// Numbers of the fields that nvmlDeviceGetFieldValues is asked for.
namespace field {
constexpr unsigned power_policy = 74;
constexpr unsigned thermal_policy = 75;
constexpr unsigned sync_boost_policy = 76;
constexpr unsigned board_limit_policy = 77;
constexpr unsigned reliability_policy = 79;
constexpr unsigned memory_temperature = 82;
constexpr unsigned pcie_replays = 94;
constexpr unsigned link_replays = 161;     ///< scope: the link, as for all that follow
constexpr unsigned link_recoveries = 162;  ///< to the fourth generation of NVLink
constexpr unsigned link_crc_errors = 163;
constexpr unsigned link_receive_errors = 208;  ///< from the fifth generation
constexpr unsigned link_recovery_events = 215;
constexpr unsigned recovery_action = 230;
/// The numbers of three counters moved: 251 to 253 from NVML 12.575 to 13.580.65 and 269 to 271
/// since, where 251 to 253 are of power smoothing, as they were before 12.575. (nvml.h of 12.9.79
/// and 13.5.37; NVIDIA's Python bindings 12.570.172, 12.575.51, 13.580.65, 13.580.82, 13.595.45.)
constexpr unsigned sw_thermal = 269;
constexpr unsigned hw_thermal = 270;
constexpr unsigned power_brake = 271;
constexpr unsigned earlier_by = 18;
}  // namespace field

enum value_type : int {
  type_double = 0,
  type_unsigned = 1,
  type_unsigned_long = 2,
  type_unsigned_long_long = 3,
  type_long_long = 4,
  type_int = 5,
  type_unsigned_short = 6,
};
union field_number {
  double as_double;
  int as_int;
  unsigned as_unsigned;
  unsigned long as_unsigned_long;
  unsigned long long as_unsigned_long_long;
  long long as_long_long;
  unsigned short as_unsigned_short;
};
struct field_value {
  unsigned field;
  unsigned scope;
  long long time_us, latency_us;
  value_type type;
  code result;  ///< of this field alone
  field_number value;
};

/// Calls that are told which layout they are to fill: its size and its number.
template <class T>
constexpr unsigned version_of(unsigned number) {
  return static_cast<unsigned>(sizeof(T)) | number << 24U;
}

struct temperature_v1 {
  unsigned version;
  int sensor;
  int celsius;
};
struct memory_v1 {
  unsigned long long total, free, used;  ///< used: with what the driver keeps for itself
};
struct memory_v2 {
  unsigned version;
  unsigned long long total, reserved, free, used;
};
struct repair_v1 {
  unsigned version;
  unsigned channel_pending, tpc_pending;
};
struct violation_time {
  unsigned long long reference_us, violation_ns;
};
struct fabric_v1 {  ///< the only one without a version
  unsigned char cluster[16];
  code status;  ///< of a completed probe
  unsigned clique;
  unsigned char state;
};
struct fabric_v2 {
  unsigned version;
  unsigned char cluster[16];
  code status;
  unsigned clique;
  unsigned char state;
  unsigned health;
};
struct fabric_v3 {
  unsigned version;
  unsigned char cluster[16];
  code status;
  unsigned clique;
  unsigned char state;
  unsigned health;
  unsigned char summary;
};
struct attributes {
  unsigned processors, copy_engines, decoders, encoders, jpegs, flows;
  unsigned gpu_slices, compute_slices;
  unsigned long long memory_mib;
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
using fields_of_device = code(device, int, field_value*);
using temperature_of_device = code(device, temperature_v1*);
using memory_v1_of_device = code(device, memory_v1*);
using memory_v2_of_device = code(device, memory_v2*);
using repair_of_device = code(device, repair_v1*);
using violation_of_device = code(device, int, violation_time*);
using fabric_v1_of_device = code(device, fabric_v1*);
using fabric_of_device = code(device, void*);  ///< fabric_v2 or fabric_v3
using attributes_of_device = code(device, attributes*);
using state_of_link = code(device, unsigned, int*);
using errors_of_link = code(device, unsigned, int, unsigned long long*);
using device_of_device_by_index = code(device, unsigned, device*);
using samples_of_device = code(device, process_sample*, unsigned*, unsigned long long);

}  // namespace bandgate::nvml_abi
