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
}

}  // namespace
}  // namespace bandgate
