// SPDX-License-Identifier: Apache-2.0
/// NVML's functions as this library has them, newest version first; each may be absent.
#pragma once

#include <string>

#include "device/file_text.hpp"
#include "device/nvml_abi.hpp"
#include "device/symbol.hpp"

namespace bandgate {

struct nvml_symbols {
  void* loaded{};

  symbol<nvml_abi::no_arguments> init{loaded, {"nvmlInit_v2", "nvmlInit"}};
  symbol<nvml_abi::no_arguments> shutdown{loaded, {"nvmlShutdown"}};
  symbol<nvml_abi::text_of_system> driver_version{loaded, {"nvmlSystemGetDriverVersion"}};
  symbol<nvml_abi::text_of_system> version_of_library{loaded, {"nvmlSystemGetNVMLVersion"}};
  symbol<nvml_abi::text_of_process> process_name{loaded, {"nvmlSystemGetProcessName"}};

  symbol<nvml_abi::handle_by_text> by_uuid{loaded, {"nvmlDeviceGetHandleByUUID"}};
  symbol<nvml_abi::handle_by_text> by_pci{
      loaded, {"nvmlDeviceGetHandleByPciBusId_v2", "nvmlDeviceGetHandleByPciBusId"}};
  symbol<nvml_abi::device_of_device> card_of_mig{loaded,
                                                 {"nvmlDeviceGetDeviceHandleFromMigDeviceHandle"}};

  symbol<nvml_abi::text_of_device> uuid{loaded, {"nvmlDeviceGetUUID"}};
  symbol<nvml_abi::text_of_device> device_name{loaded, {"nvmlDeviceGetName"}};
  symbol<nvml_abi::text_of_device> board_part{loaded, {"nvmlDeviceGetBoardPartNumber"}};
  symbol<nvml_abi::text_of_device> serial{loaded, {"nvmlDeviceGetSerial"}};
  symbol<nvml_abi::text_of_device> vbios{loaded, {"nvmlDeviceGetVbiosVersion"}};
  symbol<nvml_abi::pci_of_device> pci{
      loaded, {"nvmlDeviceGetPciInfo_v3", "nvmlDeviceGetPciInfo_v2", "nvmlDeviceGetPciInfo"}};
  symbol<nvml_abi::two_enums_of_device> ecc{loaded, {"nvmlDeviceGetEccMode"}};
  symbol<nvml_abi::two_numbers_of_device> mig{loaded, {"nvmlDeviceGetMigMode"}};
  symbol<nvml_abi::enum_of_device> persistence{loaded, {"nvmlDeviceGetPersistenceMode"}};
  symbol<nvml_abi::enum_of_device> compute_mode{loaded, {"nvmlDeviceGetComputeMode"}};
  symbol<nvml_abi::enum_of_device> virtualization{loaded, {"nvmlDeviceGetVirtualizationMode"}};

  symbol<nvml_abi::number_of_device_by_kind> clock{loaded, {"nvmlDeviceGetClockInfo"}};
  symbol<nvml_abi::number_of_device_by_kind> max_clock{loaded, {"nvmlDeviceGetMaxClockInfo"}};
  symbol<nvml_abi::number_of_device_by_kind> temperature{loaded, {"nvmlDeviceGetTemperature"}};
  symbol<nvml_abi::temperature_of_device> temperature_v1{loaded, {"nvmlDeviceGetTemperatureV"}};
  symbol<nvml_abi::number_of_device_by_kind> threshold{loaded,
                                                       {"nvmlDeviceGetTemperatureThreshold"}};
  symbol<nvml_abi::fields_of_device> fields{loaded, {"nvmlDeviceGetFieldValues"}};
  symbol<nvml_abi::violation_of_device> violation{loaded, {"nvmlDeviceGetViolationStatus"}};
  symbol<nvml_abi::enum_of_device> pstate{loaded, {"nvmlDeviceGetPerformanceState"}};
  symbol<nvml_abi::number_of_device> power{loaded, {"nvmlDeviceGetPowerUsage"}};
  symbol<nvml_abi::number_of_device> power_limit{loaded, {"nvmlDeviceGetEnforcedPowerLimit"}};
  symbol<nvml_abi::number_of_device> power_limit_default{
      loaded, {"nvmlDeviceGetPowerManagementDefaultLimit"}};
  symbol<nvml_abi::mask_of_device> clock_events{
      loaded,
      {"nvmlDeviceGetCurrentClocksEventReasons", "nvmlDeviceGetCurrentClocksThrottleReasons"}};
  symbol<nvml_abi::utilization_of_device> utilization{loaded, {"nvmlDeviceGetUtilizationRates"}};
  symbol<nvml_abi::number_of_device> pcie_generation{loaded,
                                                     {"nvmlDeviceGetCurrPcieLinkGeneration"}};
  symbol<nvml_abi::number_of_device> pcie_generation_max{loaded,
                                                         {"nvmlDeviceGetMaxPcieLinkGeneration"}};
  symbol<nvml_abi::number_of_device> pcie_generation_card{
      loaded, {"nvmlDeviceGetGpuMaxPcieLinkGeneration"}};
  symbol<nvml_abi::number_of_device> pcie_width{loaded, {"nvmlDeviceGetCurrPcieLinkWidth"}};
  symbol<nvml_abi::number_of_device> pcie_width_max{loaded, {"nvmlDeviceGetMaxPcieLinkWidth"}};
  symbol<nvml_abi::number_of_device> pcie_replays{loaded, {"nvmlDeviceGetPcieReplayCounter"}};
  symbol<nvml_abi::four_numbers_of_device> remapped_rows{loaded, {"nvmlDeviceGetRemappedRows"}};
  symbol<nvml_abi::count_of_errors> ecc_errors{loaded, {"nvmlDeviceGetTotalEccErrors"}};
  symbol<nvml_abi::enum_of_device> page_retirement{loaded,
                                                   {"nvmlDeviceGetRetiredPagesPendingStatus"}};
  symbol<nvml_abi::repair_of_device> repair{loaded, {"nvmlDeviceGetRepairStatus"}};
  symbol<nvml_abi::memory_v2_of_device> memory{loaded, {"nvmlDeviceGetMemoryInfo_v2"}};
  symbol<nvml_abi::memory_v1_of_device> memory_v1{loaded, {"nvmlDeviceGetMemoryInfo"}};

  symbol<nvml_abi::state_of_link> link_state{loaded, {"nvmlDeviceGetNvLinkState"}};
  symbol<nvml_abi::errors_of_link> link_errors{loaded, {"nvmlDeviceGetNvLinkErrorCounter"}};
  symbol<nvml_abi::fabric_of_device> fabric{loaded, {"nvmlDeviceGetGpuFabricInfoV"}};
  symbol<nvml_abi::fabric_v1_of_device> fabric_v1{loaded, {"nvmlDeviceGetGpuFabricInfo"}};

  symbol<nvml_abi::number_of_device> most_instances{loaded, {"nvmlDeviceGetMaxMigDeviceCount"}};
  symbol<nvml_abi::device_of_device_by_index> instance{loaded,
                                                       {"nvmlDeviceGetMigDeviceHandleByIndex"}};
  symbol<nvml_abi::attributes_of_device> attributes{
      loaded, {"nvmlDeviceGetAttributes_v2", "nvmlDeviceGetAttributes"}};

  symbol<nvml_abi::processes_of_device> processes{
      loaded,
      {"nvmlDeviceGetComputeRunningProcesses_v3", "nvmlDeviceGetComputeRunningProcesses_v2"}};
  symbol<nvml_abi::processes_of_device> processes_v1{loaded,
                                                     {"nvmlDeviceGetComputeRunningProcesses"}};
  symbol<nvml_abi::processes_of_device> mps_processes{
      loaded,
      {"nvmlDeviceGetMPSComputeRunningProcesses_v3", "nvmlDeviceGetMPSComputeRunningProcesses_v2"}};
  symbol<nvml_abi::processes_of_device> mps_processes_v1{
      loaded, {"nvmlDeviceGetMPSComputeRunningProcesses"}};
  symbol<nvml_abi::samples_of_device> process_samples{loaded, {"nvmlDeviceGetProcessUtilization"}};
};

/// One answer of NVML: a value, or who refused it and why.
template <class T>
struct answer {
  nvml_abi::code code{};
  T value{};
  char const* from{};  ///< the function asked
  explicit operator bool() const { return code == nvml_abi::success; }
};

/// Calls `asked(arguments…, &value)`.
template <class T, class Function, class... Arguments>
answer<T> ask(symbol<Function> const& asked, Arguments... arguments) {
  answer<T> got{nvml_abi::function_not_found, {}, asked.name};
  if (asked.call != nullptr) got.code = asked.call(arguments..., &got.value);
  return got;
}

/// Calls `asked(arguments…, &question)`, whose version says which layout is to be filled.
template <class T, class Function, class... Arguments>
answer<T> ask_version(unsigned number, symbol<Function> const& asked, Arguments... arguments) {
  answer<T> got{nvml_abi::function_not_found, {}, asked.name};
  got.value.version = nvml_abi::version_of<T>(number);
  if (asked.call != nullptr) got.code = asked.call(arguments..., &got.value);
  return got;
}

/// What a mode is, and what it becomes with the next restart.
template <class T>
struct current_and_pending {
  T current, pending;
};

/// Calls `asked(arguments…, &current, &pending)`.
template <class T, class Function, class... Arguments>
answer<current_and_pending<T>> ask_two(symbol<Function> const& asked, Arguments... arguments) {
  answer<current_and_pending<T>> got{nvml_abi::function_not_found, {}, asked.name};
  if (asked.call != nullptr)
    got.code = asked.call(arguments..., &got.value.current, &got.value.pending);
  return got;
}

/// Calls `asked(arguments…, text, length)`.
template <class Function, class... Arguments>
answer<std::string> ask_text(symbol<Function> const& asked, Arguments... arguments) {
  answer<std::string> got{nvml_abi::function_not_found, {}, asked.name};
  char text[256] = {};
  if (asked.call != nullptr) got.code = asked.call(arguments..., text, sizeof text - 1);
  if (got) got.value = printable(text, sizeof text);
  return got;
}

/// "nvmlDeviceGetPowerUsage: the GPU is lost (15)".
std::string explain(char const* function, nvml_abi::code code);

}  // namespace bandgate
