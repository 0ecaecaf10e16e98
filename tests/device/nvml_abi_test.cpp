// SPDX-License-Identifier: Apache-2.0
/// Holds the declarations of nvml_abi.hpp against NVIDIA's header where it is installed.
#include "device/nvml_abi.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <type_traits>

#ifdef BANDGATE_HAVE_NVML_H
#define NVML_NO_UNVERSIONED_FUNC_DEFS
#include <nvml.h>

#include "device/nvml_symbols.hpp"
#endif

namespace bandgate {
namespace {

#ifdef BANDGATE_HAVE_NVML_H

/// Passed alike: of one size, and pointing at things of one size (void and handles at anything).
template <class Theirs, class Ours>
constexpr bool alike() {
  if constexpr (std::is_pointer_v<Theirs> && std::is_pointer_v<Ours>) {
    using theirs = std::remove_pointer_t<Theirs>;
    using ours = std::remove_pointer_t<Ours>;
    if constexpr (requires { sizeof(theirs) == sizeof(ours); } && !std::is_void_v<ours>)
      return sizeof(theirs) == sizeof(ours);
    return true;
  } else {
    return sizeof(Theirs) == sizeof(Ours);
  }
}

template <class R, class... Theirs, class... Ours>
constexpr bool same_call(R (*)(Theirs...), symbol<nvml_abi::code(Ours...)> nvml_symbols::*) {
  if constexpr (sizeof...(Theirs) != sizeof...(Ours))
    return false;
  else
    return (alike<Theirs, Ours>() && ...);
}

#define SAME_CALL(function, member) \
  static_assert(same_call(&::function, &nvml_symbols::member), #function)

// Old drivers are asked by names that are deprecated now.
#pragma GCC diagnostic ignored "-Wdeprecated-declarations"

// Each name under which a function is looked for and that the header still declares.
SAME_CALL(nvmlInit_v2, init);
SAME_CALL(nvmlInit, init);
SAME_CALL(nvmlShutdown, shutdown);
SAME_CALL(nvmlSystemGetDriverVersion, driver_version);
SAME_CALL(nvmlSystemGetProcessName, process_name);
SAME_CALL(nvmlDeviceGetHandleByUUID, by_uuid);
SAME_CALL(nvmlDeviceGetHandleByPciBusId_v2, by_pci);
SAME_CALL(nvmlDeviceGetHandleByPciBusId, by_pci);
SAME_CALL(nvmlDeviceGetDeviceHandleFromMigDeviceHandle, card_of_mig);
SAME_CALL(nvmlDeviceGetUUID, uuid);
SAME_CALL(nvmlDeviceGetName, device_name);
SAME_CALL(nvmlDeviceGetBoardPartNumber, board_part);
SAME_CALL(nvmlDeviceGetSerial, serial);
SAME_CALL(nvmlDeviceGetVbiosVersion, vbios);
SAME_CALL(nvmlDeviceGetPciInfo_v3, pci);
SAME_CALL(nvmlDeviceGetPciInfo_v2, pci);
SAME_CALL(nvmlDeviceGetPciInfo, pci);
SAME_CALL(nvmlDeviceGetEccMode, ecc);
SAME_CALL(nvmlDeviceGetMigMode, mig);
SAME_CALL(nvmlDeviceGetPersistenceMode, persistence);
SAME_CALL(nvmlDeviceGetComputeMode, compute_mode);
SAME_CALL(nvmlDeviceGetVirtualizationMode, virtualization);
SAME_CALL(nvmlDeviceGetClockInfo, clock);
SAME_CALL(nvmlDeviceGetMaxClockInfo, max_clock);
SAME_CALL(nvmlDeviceGetTemperature, temperature);
SAME_CALL(nvmlDeviceGetPerformanceState, pstate);
SAME_CALL(nvmlDeviceGetPowerUsage, power);
SAME_CALL(nvmlDeviceGetEnforcedPowerLimit, power_limit);
SAME_CALL(nvmlDeviceGetPowerManagementDefaultLimit, power_limit_default);
SAME_CALL(nvmlDeviceGetCurrentClocksEventReasons, clock_events);
SAME_CALL(nvmlDeviceGetCurrentClocksThrottleReasons, clock_events);
SAME_CALL(nvmlDeviceGetUtilizationRates, utilization);
SAME_CALL(nvmlDeviceGetCurrPcieLinkGeneration, pcie_generation);
SAME_CALL(nvmlDeviceGetMaxPcieLinkGeneration, pcie_generation_max);
SAME_CALL(nvmlDeviceGetCurrPcieLinkWidth, pcie_width);
SAME_CALL(nvmlDeviceGetMaxPcieLinkWidth, pcie_width_max);
SAME_CALL(nvmlDeviceGetPcieReplayCounter, pcie_replays);
SAME_CALL(nvmlDeviceGetRemappedRows, remapped_rows);
SAME_CALL(nvmlDeviceGetTotalEccErrors, ecc_errors);
SAME_CALL(nvmlDeviceGetComputeRunningProcesses_v3, processes);
SAME_CALL(nvmlDeviceGetComputeRunningProcesses_v2, processes);
SAME_CALL(nvmlDeviceGetComputeRunningProcesses, processes_v1);
SAME_CALL(nvmlDeviceGetProcessUtilization, process_samples);
SAME_CALL(nvmlSystemGetNVMLVersion, version_of_library);
SAME_CALL(nvmlDeviceGetTemperatureThreshold, threshold);
SAME_CALL(nvmlDeviceGetFieldValues, fields);
SAME_CALL(nvmlDeviceGetViolationStatus, violation);
SAME_CALL(nvmlDeviceGetGpuMaxPcieLinkGeneration, pcie_generation_card);
SAME_CALL(nvmlDeviceGetRetiredPagesPendingStatus, page_retirement);
SAME_CALL(nvmlDeviceGetMemoryInfo_v2, memory);
SAME_CALL(nvmlDeviceGetMemoryInfo, memory_v1);
SAME_CALL(nvmlDeviceGetNvLinkState, link_state);
SAME_CALL(nvmlDeviceGetNvLinkErrorCounter, link_errors);
SAME_CALL(nvmlDeviceGetGpuFabricInfo, fabric_v1);
SAME_CALL(nvmlDeviceGetMaxMigDeviceCount, most_instances);
SAME_CALL(nvmlDeviceGetMigDeviceHandleByIndex, instance);
SAME_CALL(nvmlDeviceGetAttributes_v2, attributes);
SAME_CALL(nvmlDeviceGetAttributes, attributes);
SAME_CALL(nvmlDeviceGetMPSComputeRunningProcesses_v3, mps_processes);
SAME_CALL(nvmlDeviceGetMPSComputeRunningProcesses_v2, mps_processes);
SAME_CALL(nvmlDeviceGetMPSComputeRunningProcesses, mps_processes_v1);

static_assert(sizeof(nvml_abi::pci_info) == sizeof(nvmlPciInfo_t));
static_assert(offsetof(nvml_abi::pci_info, device_id) == offsetof(nvmlPciInfo_t, pciDeviceId));
static_assert(offsetof(nvml_abi::pci_info, subsystem_id) ==
              offsetof(nvmlPciInfo_t, pciSubSystemId));
static_assert(sizeof(nvml_abi::process_v1) == sizeof(nvmlProcessInfo_v1_t));
static_assert(sizeof(nvml_abi::process_v2) == sizeof(nvmlProcessInfo_v2_t));
static_assert(sizeof(nvml_abi::process_v2) == sizeof(nvmlProcessInfo_t));
static_assert(sizeof(nvml_abi::process_wide) == sizeof(nvmlProcessDetail_v1_t));
static_assert(offsetof(nvml_abi::process_v2, used_memory) ==
              offsetof(nvmlProcessInfo_v2_t, usedGpuMemory));
static_assert(sizeof(nvml_abi::process_sample) == sizeof(nvmlProcessUtilizationSample_t));
static_assert(offsetof(nvml_abi::process_sample, sm) ==
              offsetof(nvmlProcessUtilizationSample_t, smUtil));
static_assert(sizeof(nvml_abi::utilization) == sizeof(nvmlUtilization_t));
static_assert(int{nvml_abi::not_supported} == NVML_ERROR_NOT_SUPPORTED);
static_assert(int{nvml_abi::not_found} == NVML_ERROR_NOT_FOUND);
static_assert(int{nvml_abi::insufficient_size} == NVML_ERROR_INSUFFICIENT_SIZE);
static_assert(int{nvml_abi::function_not_found} == NVML_ERROR_FUNCTION_NOT_FOUND);
static_assert(int{nvml_abi::gpu_is_lost} == NVML_ERROR_GPU_IS_LOST);
static_assert(int{nvml_abi::version_mismatch} == NVML_ERROR_LIB_RM_VERSION_MISMATCH);
static_assert(int{nvml_abi::clock_sm} == NVML_CLOCK_SM);
static_assert(int{nvml_abi::clock_memory} == NVML_CLOCK_MEM);
static_assert(nvml_abi::temperature_gpu == NVML_TEMPERATURE_GPU);
static_assert(int{nvml_abi::memory_error_uncorrected} == NVML_MEMORY_ERROR_TYPE_UNCORRECTED);
static_assert(int{nvml_abi::ecc_volatile} == NVML_VOLATILE_ECC);

static_assert(int{nvml_abi::memory_error_corrected} == NVML_MEMORY_ERROR_TYPE_CORRECTED);
static_assert(int{nvml_abi::ecc_aggregate} == NVML_AGGREGATE_ECC);
static_assert(int{nvml_abi::reset_required} == NVML_ERROR_RESET_REQUIRED);
static_assert(int{nvml_abi::argument_version_mismatch} == NVML_ERROR_ARGUMENT_VERSION_MISMATCH);
static_assert(int{nvml_abi::not_ready} == NVML_ERROR_NOT_READY);
static_assert(int{nvml_abi::gpu_not_found} == NVML_ERROR_GPU_NOT_FOUND);
static_assert(int{nvml_abi::invalid_state} == NVML_ERROR_INVALID_STATE);
static_assert(int{nvml_abi::threshold_slowdown} == NVML_TEMPERATURE_THRESHOLD_SLOWDOWN);
static_assert(int{nvml_abi::threshold_memory_max} == NVML_TEMPERATURE_THRESHOLD_MEM_MAX);
static_assert(int{nvml_abi::policy_power} == NVML_PERF_POLICY_POWER);
static_assert(int{nvml_abi::policy_thermal} == NVML_PERF_POLICY_THERMAL);
static_assert(int{nvml_abi::policy_sync_boost} == NVML_PERF_POLICY_SYNC_BOOST);
static_assert(int{nvml_abi::policy_board_limit} == NVML_PERF_POLICY_BOARD_LIMIT);
static_assert(int{nvml_abi::policy_reliability} == NVML_PERF_POLICY_RELIABILITY);
static_assert(int{nvml_abi::link_error_replay} == NVML_NVLINK_ERROR_DL_REPLAY);
static_assert(int{nvml_abi::link_error_recovery} == NVML_NVLINK_ERROR_DL_RECOVERY);
static_assert(int{nvml_abi::link_error_crc_flit} == NVML_NVLINK_ERROR_DL_CRC_FLIT);
static_assert(int{nvml_abi::link_error_crc_data} == NVML_NVLINK_ERROR_DL_CRC_DATA);
static_assert(int{nvml_abi::fabric_not_supported} == NVML_GPU_FABRIC_STATE_NOT_SUPPORTED);
static_assert(int{nvml_abi::fabric_not_started} == NVML_GPU_FABRIC_STATE_NOT_STARTED);
static_assert(int{nvml_abi::fabric_in_progress} == NVML_GPU_FABRIC_STATE_IN_PROGRESS);
static_assert(int{nvml_abi::fabric_completed} == NVML_GPU_FABRIC_STATE_COMPLETED);
static_assert(nvml_abi::most_links >= NVML_NVLINK_MAX_LINKS);
static_assert(int{nvml_abi::type_double} == NVML_VALUE_TYPE_DOUBLE);
static_assert(int{nvml_abi::type_unsigned} == NVML_VALUE_TYPE_UNSIGNED_INT);
static_assert(int{nvml_abi::type_unsigned_long} == NVML_VALUE_TYPE_UNSIGNED_LONG);
static_assert(int{nvml_abi::type_unsigned_long_long} == NVML_VALUE_TYPE_UNSIGNED_LONG_LONG);
static_assert(int{nvml_abi::type_long_long} == NVML_VALUE_TYPE_SIGNED_LONG_LONG);
static_assert(int{nvml_abi::type_int} == NVML_VALUE_TYPE_SIGNED_INT);
static_assert(int{nvml_abi::type_unsigned_short} == NVML_VALUE_TYPE_UNSIGNED_SHORT);

namespace field = nvml_abi::field;
static_assert(field::power_policy == NVML_FI_DEV_PERF_POLICY_POWER);
static_assert(field::sync_boost_policy == NVML_FI_DEV_PERF_POLICY_SYNC_BOOST);
static_assert(field::thermal_policy == NVML_FI_DEV_PERF_POLICY_THERMAL);
static_assert(field::board_limit_policy == NVML_FI_DEV_PERF_POLICY_BOARD_LIMIT);
static_assert(field::reliability_policy == NVML_FI_DEV_PERF_POLICY_RELIABILITY);
static_assert(field::memory_temperature == NVML_FI_DEV_MEMORY_TEMP);
static_assert(field::pcie_replays == NVML_FI_DEV_PCIE_REPLAY_COUNTER);
static_assert(field::link_replays == NVML_FI_DEV_NVLINK_ERROR_DL_REPLAY);
static_assert(field::link_recoveries == NVML_FI_DEV_NVLINK_ERROR_DL_RECOVERY);
static_assert(field::link_crc_errors == NVML_FI_DEV_NVLINK_ERROR_DL_CRC);

static_assert(sizeof(nvml_abi::field_value) == sizeof(nvmlFieldValue_t));
static_assert(offsetof(nvml_abi::field_value, scope) == offsetof(nvmlFieldValue_t, scopeId));
static_assert(offsetof(nvml_abi::field_value, type) == offsetof(nvmlFieldValue_t, valueType));
static_assert(offsetof(nvml_abi::field_value, result) == offsetof(nvmlFieldValue_t, nvmlReturn));
static_assert(offsetof(nvml_abi::field_value, value) == offsetof(nvmlFieldValue_t, value));
static_assert(sizeof(nvml_abi::memory_v1) == sizeof(nvmlMemory_t));
static_assert(offsetof(nvml_abi::memory_v1, used) == offsetof(nvmlMemory_t, used));
static_assert(sizeof(nvml_abi::memory_v2) == sizeof(nvmlMemory_v2_t));
static_assert(offsetof(nvml_abi::memory_v2, reserved) == offsetof(nvmlMemory_v2_t, reserved));
static_assert(offsetof(nvml_abi::memory_v2, used) == offsetof(nvmlMemory_v2_t, used));
static_assert(nvml_abi::version_of<nvml_abi::memory_v2>(2) == nvmlMemory_v2);
static_assert(sizeof(nvml_abi::violation_time) == sizeof(nvmlViolationTime_t));
static_assert(offsetof(nvml_abi::violation_time, violation_ns) ==
              offsetof(nvmlViolationTime_t, violationTime));
static_assert(sizeof(nvml_abi::fabric_v1) == sizeof(nvmlGpuFabricInfo_t));
static_assert(offsetof(nvml_abi::fabric_v1, state) == offsetof(nvmlGpuFabricInfo_t, state));
static_assert(sizeof(nvml_abi::attributes) == sizeof(nvmlDeviceAttributes_t));
static_assert(offsetof(nvml_abi::attributes, memory_mib) ==
              offsetof(nvmlDeviceAttributes_t, memorySizeMB));
// What not every toolkit's header declares.
#ifdef NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS
static_assert(field::link_receive_errors == NVML_FI_DEV_NVLINK_COUNT_RCV_ERRORS);
static_assert(field::link_recovery_events == NVML_FI_DEV_NVLINK_COUNT_LINK_RECOVERY_EVENTS);
#endif
#ifdef NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN
static_assert(field::power_policy == NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_POWER_CAP);
static_assert(field::sync_boost_policy == NVML_FI_DEV_CLOCKS_EVENT_REASON_SYNC_BOOST);
// In either numbering: see field::sw_thermal.
constexpr unsigned moved_by = field::sw_thermal - NVML_FI_DEV_CLOCKS_EVENT_REASON_SW_THERM_SLOWDOWN;
static_assert(moved_by == 0 || moved_by == field::earlier_by);
static_assert(field::hw_thermal - moved_by == NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_THERM_SLOWDOWN);
static_assert(field::power_brake - moved_by ==
              NVML_FI_DEV_CLOCKS_EVENT_REASON_HW_POWER_BRAKE_SLOWDOWN);
#endif
#ifdef nvmlTemperature_v1
SAME_CALL(nvmlDeviceGetTemperatureV, temperature_v1);
static_assert(sizeof(nvml_abi::temperature_v1) == sizeof(nvmlTemperature_v1_t));
static_assert(offsetof(nvml_abi::temperature_v1, celsius) ==
              offsetof(nvmlTemperature_v1_t, temperature));
#endif
#ifdef nvmlGpuFabricInfo_v2
SAME_CALL(nvmlDeviceGetGpuFabricInfoV, fabric);
static_assert(nvml_abi::version_of<nvml_abi::fabric_v2>(2) == nvmlGpuFabricInfo_v2);
static_assert(offsetof(nvml_abi::fabric_v2, status) == offsetof(nvmlGpuFabricInfo_v2_t, status));
static_assert(offsetof(nvml_abi::fabric_v2, state) == offsetof(nvmlGpuFabricInfo_v2_t, state));
#endif
#ifdef nvmlGpuFabricInfo_v3
static_assert(nvml_abi::version_of<nvml_abi::fabric_v3>(3) == nvmlGpuFabricInfo_v3);
static_assert(offsetof(nvml_abi::fabric_v3, status) == offsetof(nvmlGpuFabricInfo_v3_t, status));
static_assert(offsetof(nvml_abi::fabric_v3, state) == offsetof(nvmlGpuFabricInfo_v3_t, state));
#endif
#ifdef nvmlRepairStatus_v1
SAME_CALL(nvmlDeviceGetRepairStatus, repair);
static_assert(nvml_abi::version_of<nvml_abi::repair_v1>(1) == nvmlRepairStatus_v1);
static_assert(offsetof(nvml_abi::repair_v1, tpc_pending) ==
              offsetof(nvmlRepairStatus_v1_t, bTpcRepairPending));
#endif

#endif

TEST(nvml_abi, agrees_with_the_installed_header) {
#ifndef BANDGATE_HAVE_NVML_H
  GTEST_SKIP() << "no nvml.h here: it comes with the CUDA toolkit";
#endif
}

TEST(nvml_abi, has_the_layout_that_the_documentation_gives) {
  EXPECT_EQ(sizeof(nvml_abi::process_v1), 16U);
  EXPECT_EQ(sizeof(nvml_abi::process_v2), 24U);
  EXPECT_EQ(sizeof(nvml_abi::process_wide), 32U);
  EXPECT_EQ(sizeof(nvml_abi::pci_info), 68U);
  EXPECT_EQ(offsetof(nvml_abi::pci_info, device_id), 28U);
  EXPECT_EQ(sizeof(nvml_abi::process_sample), 32U);
  EXPECT_EQ(sizeof(nvml_abi::utilization), 8U);
  EXPECT_EQ(sizeof(nvml_abi::field_value), 40U);
  EXPECT_EQ(sizeof(nvml_abi::attributes), 40U);
  EXPECT_EQ(sizeof(nvml_abi::violation_time), 16U);
  EXPECT_EQ(sizeof(nvml_abi::fabric_v1), 28U);
}

TEST(nvml_abi, tells_the_driver_which_layout_it_is_to_fill) {
  EXPECT_EQ(nvml_abi::version_of<nvml_abi::memory_v2>(2), 0x2000028U);
  EXPECT_EQ(nvml_abi::version_of<nvml_abi::temperature_v1>(1), 0x100000cU);
  EXPECT_EQ(nvml_abi::version_of<nvml_abi::repair_v1>(1), 0x100000cU);
  EXPECT_EQ(nvml_abi::version_of<nvml_abi::fabric_v2>(2), 0x2000024U);
  EXPECT_EQ(nvml_abi::version_of<nvml_abi::fabric_v3>(3), 0x3000028U);
}

}  // namespace
}  // namespace bandgate
